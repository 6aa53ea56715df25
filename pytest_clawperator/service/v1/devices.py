"""What the devices are and do: ``/v1/devices``, screens, logs and past executions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.service.answers import Refused, error_object, succeeded
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.openapi import package_version
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import PastRun, Station
from pytest_clawperator.service.tunnel import PATH
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.shell import properties

#: What a client can do with this service; connections of clients look here.
FEATURES = ("adb", "leases", "log", "shell", "settings", "files", "screen")

_STATUSES = (400, 404, 423, 500, 504)
_DEVICE: Schema = an_object(("serial", "state"), serial=TEXT, state=TEXT)
# How long a follower of the log waits for a line before it looks whether the client is there.
_LOOK_EVERY = 1.0
# How many lines of a log are sent at most to one who does not follow it.
_MOST_LINES = 100_000


class DeviceApi:
    """Describes devices, and shows their screens, logs and past executions."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        device = "/v1/devices/{serial}"
        past = f"{device}/executions/{{command}}"
        text, png = "text/plain", "image/png"
        rows: list[tuple[str, Any, str, dict[str, Schema], str | None, dict[str, Schema]]] = [
            ("/v1", self.about, "Say what this service is.", {"service": TEXT}, None, {}),
            ("/v1/devices", self.list_all, "Describe all devices.", {"devices": a_list(_DEVICE)},
             None, {}),
            (device, self.describe, "Describe a device.", {"device": _DEVICE}, None, {}),
            (f"{device}/properties", self.properties, "Return the system properties.",
             {"properties": {"type": "object"}}, None, {}),
            (f"{device}/screen.png", self.screen, "Return a picture of the screen.", {}, png, {}),
            (f"{device}/log", self.log, "Return the log from a position on, or follow it.", {},
             text, {"since": {"type": "integer", "minimum": 0},
                    "follow": {"type": "string", "enum": ["0", "1"]}}),
            (f"{device}/executions", self.executions, "List the last executions.",
             {"executions": a_list({"type": "object"})}, None, {}),
            (past, self.execution, "Return the envelope of an execution.",
             {"execution": {"type": "object"}}, None, {}),
            (f"{past}/screenshot.png", self.screenshot, "Return the screenshot of an execution.",
             {}, png, {}),
            (f"{past}/log", self.execution_log, "Return the log of an execution.", {}, text, {}),
        ]  # fmt: skip
        return [
            Endpoint(
                method="GET",
                path=path,
                handle=handle,
                summary=summary,
                answer=answer,
                content=content,
                query=query,
                statuses=() if path == "/v1" else _STATUSES,
            )
            for path, handle, summary, answer, content, query in rows
        ]

    async def about(self, request: Request) -> Response:
        """Say what this service is."""
        return succeeded(
            service="pytest-clawperator",
            version=package_version(),
            features=list(FEATURES),
            adb=PATH,
        )

    async def list_all(self, request: Request) -> Response:
        """Describe all devices, side by side."""
        found = await self._rack.devices()
        told = await asyncio.gather(*(self._about(serial, state) for serial, state in found))
        return succeeded(devices=told)

    async def describe(self, request: Request) -> Response:
        """Describe a device."""
        station = await self._station(request)
        return succeeded(device=await self._about(station.serial, USABLE))

    async def properties(self, request: Request) -> Response:
        """Return the properties of a device."""
        return succeeded(properties=await self._look(request, properties))

    async def screen(self, request: Request) -> Response:
        """Return a picture of the screen."""
        station = await self._station(request)
        picture = await self._rack.in_thread(station.picture)
        return Response(picture, media_type="image/png", headers={"cache-control": "no-store"})

    async def log(self, request: Request) -> Response:
        """Return the log since a position; the header ``clawperator-log-end`` is the next one."""
        given = request.query_params.get("since", "0")
        if not (given.isascii() and given.isdecimal() and len(given) < 16):
            raise Refused(400, "INVALID_FIELD", "?since= must be a position: 0, or one told before")
        end, lines = await self._look(request, lambda it: _read_log(it, int(given)))
        headers = {"clawperator-log-end": str(end)}
        if request.query_params.get("follow") != "1" or request.method == "HEAD":
            return Response(_joined(lines), media_type="text/plain", headers=headers)
        station = await self._station(request)
        return StreamingResponse(
            self._follow(station, lines, end), media_type="text/plain", headers=headers
        )

    async def executions(self, request: Request) -> Response:
        """List the last executions of a device."""
        station = await self._station(request)
        return succeeded(executions=[past.summary() for past in station.past])

    async def execution(self, request: Request) -> Response:
        """Return the envelope of an execution."""
        past = await self._past(request)
        return succeeded(execution={**past.summary(), "envelope": past.envelope})

    async def screenshot(self, request: Request) -> Response:
        """Return the screenshot of an execution."""
        past = await self._past(request)
        if past.picture is None:
            raise Refused(404, "NO_SCREENSHOT", "this execution took none, or it is too long ago")
        return Response(past.picture, media_type="image/png")

    async def execution_log(self, request: Request) -> Response:
        """Return what the device logged during an execution."""
        past = await self._past(request)
        return Response(_hidden(str(past.log).encode("utf-8", "replace")), media_type="text/plain")

    async def _about(self, serial: str, state: str) -> dict[str, Any]:
        """Describe a device: what it is, who has it, what it does."""
        told: dict[str, Any] = {"serial": serial, "state": state}
        if state != USABLE:
            return told
        station, lease = self._rack.station_of(serial), self._rack.leasing.of(serial)

        def ask() -> tuple[DeviceInfo, Holder | None]:
            info = station.info
            return info, self._rack.leasing.holder(info.key)

        try:
            info, holder = await self._rack.in_thread(ask)
        except ClawperatorError as error:
            return {**told, "problem": error_object(error)}
        problem = station.problem
        return {
            **told,
            "info": asdict(info),
            "running": station.running,
            "lease": None if lease is None else lease.public(),
            "holder": None if holder is None else str(holder),
            "heldBy": None if holder is None else asdict(holder),
            "executions": [past.summary() for past in station.past],
            "problem": None if problem is None else error_object(problem),
        }

    async def _station(self, request: Request) -> Station:
        return await self._rack.station(request.path_params["serial"])

    async def _past(self, request: Request) -> PastRun:
        station, wanted = await self._station(request), request.path_params["command"]
        for past in station.past:
            if past.execution.command_id == wanted:
                return past
        raise Refused(404, "EXECUTION_NOT_FOUND", "no such execution is remembered")

    async def _look(self, request: Request, ask: Any) -> Any:
        station = await self._station(request)
        return await self._rack.in_thread(lambda: ask(station.looked_at()))

    async def _follow(self, station: Station, lines: list[bytes], end: int) -> AsyncIterator[bytes]:
        """Yield lines until the client goes, or the service ends."""
        log = station.transport.log
        while True:
            yield _joined(lines)
            position = end
            deadline = time.monotonic() + _LOOK_EVERY
            end = await self._rack.in_thread(log.wait, position, deadline)
            if self._rack.events.is_closed:
                return
            lines = list(log.read(position, end))


def _read_log(transport: Transport, since: int) -> tuple[int, list[bytes]]:
    end = transport.log.mark()
    return end, list(transport.log.read(since, end))[-_MOST_LINES:]


def _joined(lines: list[bytes]) -> bytes:
    return _hidden(b"".join(line + b"\n" for line in lines))


def _hidden(text: bytes) -> bytes:
    return SECRETS.hide_bytes(text)
