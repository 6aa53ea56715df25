"""The service's page with a rack that a test makes up, on a port of this machine."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import uvicorn
from PIL import Image, ImageDraw

from pytest_clawperator.service.events import Events
from pytest_clawperator.service.gate import Gate
from pytest_clawperator.service.page import RackApi, RackPage
from pytest_clawperator.service.server import ServiceOptions, make_app, open_listener
from pytest_clawperator.service.watch import CHANGED, Picture


def shown_device(serial: str, state: str = "ready", **fields: Any) -> dict[str, Any]:
    """Return a device as ``/v1/rack`` describes it."""
    return {
        "serial": serial,
        "name": "Google Pixel 9",
        "about": ["Android 16", "API 36"],
        "state": state,
        "adbState": "device",
        "running": None,
        "holder": None,
        "problem": None,
        "executions": [],
        "goneAt": None,
        **fields,
    }


def shown_run(command: str = "c-1", code: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an execution as ``/v1/rack`` describes it."""
    return {
        "commandId": command,
        "actions": ["click", "snapshot_ui"],
        "moreActions": 0,
        "at": time.time() - 5,
        "elapsedMs": 120,
        "ok": code is None,
        "code": code,
        "message": None if code is None else "it failed",
        **fields,
    }


class ShownRack:
    """Stands for ``RackWatch``: describes given devices, and records what is asked."""

    def __init__(self, *devices: dict[str, Any]) -> None:
        self.devices = {device["serial"]: device for device in devices}
        self.events = Events(heartbeat=0.2)
        self.pictures = self
        self.adb: dict[str, Any] | None = None
        self.asked: list[str] = []
        self.loop: asyncio.AbstractEventLoop | None = None
        self._revision = 1

    async def document(self) -> dict[str, Any]:
        """Return what there is to see."""
        devices = list(self.devices.values())
        return {"now": time.time(), "revision": self._revision, "adb": self.adb, "devices": devices}

    def follow(self) -> AsyncIterator[bytes]:
        """Return each change."""
        return self.events.stream(None)

    def station(self, serial: str) -> str:
        """Return what ``newest`` takes."""
        return serial

    async def newest(self, serial: str) -> Picture:
        """Return a picture, the same each time."""
        self.asked.append(serial)
        picture = Image.new("RGB", (288, 640), "#3d6ea8")
        draw = ImageDraw.Draw(picture)
        for row in range(8):
            draw.rounded_rectangle((20, 60 + row * 68, 268, 110 + row * 68), 10, "#dfe8f2")
        content = BytesIO()
        picture.save(content, "JPEG")
        return Picture(content.getvalue(), 1_700_000_000.0)

    def change(self, *devices: dict[str, Any]) -> None:
        """Publish devices that are new or changed; called by a test."""
        for device in devices:
            self.devices[device["serial"]] = device
        self._publish(list(devices))

    def remove(self, serial: str) -> None:
        """Publish that a device is not shown any longer."""
        del self.devices[serial]
        self._publish([])

    def _publish(self, devices: list[dict[str, Any]]) -> None:
        self._revision += 1
        news = {
            "now": time.time(),
            "revision": self._revision,
            "adb": self.adb,
            "serials": list(self.devices),
            "devices": devices,
        }
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.events.publish, CHANGED, news)


@contextmanager
def serving(rack: ShownRack, *, token: str | None = None, port: int = 0) -> Iterator[str]:
    """Serve the page with this rack; yield its url."""
    listener = open_listener(ServiceOptions(port=port))
    listener.listen()  # who comes before the server is ready waits
    api: Any = RackApi(rack)  # type: ignore[arg-type]  # it has what the API uses of a watch
    endpoints = [*RackPage().endpoints(), *api.endpoints()]
    app = make_app(endpoints, gate=Gate(token))
    server = uvicorn.Server(
        uvicorn.Config(app, http="h11", lifespan="off", log_config=None, timeout_keep_alive=1)
    )
    is_up = threading.Event()

    async def serve() -> None:
        rack.loop = asyncio.get_running_loop()
        is_up.set()
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    is_up.wait(10)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        assert rack.loop is not None
        rack.loop.call_soon_threadsafe(rack.events.close)
        server.should_exit = True
        thread.join()
        listener.close()
