"""The connections of a phone: the cable to its hosts, and HTTP servers behind its loopback."""

from __future__ import annotations

import asyncio
import http.client
import io
from collections.abc import Callable
from typing import Literal
from urllib.parse import quote, urlsplit

from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.screen.phone_state import WebAnswer
from pytest_clawperator.simulator.wire.forwarding import Sockets
from pytest_clawperator.simulator.wire.stream import StreamClosed

Admission = Literal["device", "offline", "unauthorized"]
# So that what was just answered leaves before the cable is pulled.
_ANSWER_SECONDS = 0.05
# So that an execution has begun, and its broadcast is acknowledged.
_EXECUTION_SECONDS = 0.002


class Cable:
    """Connects a phone to its hosts; ``disconnect`` is to be set to what drops them all."""

    def __init__(self, faults: Faults) -> None:
        self.disconnect: Callable[[], object] = lambda: None
        self.is_down: Callable[[], bool] = lambda: False
        self._faults = faults

    def admission(self) -> Admission:
        """Return how a host that connects now is received."""
        if self.is_down() or self._faults.active("offline"):
            return "offline"
        return "unauthorized" if self._faults.active("unauthorized") else "device"

    def pull_soon(self, seconds: float = _ANSWER_SECONDS) -> None:
        """Drop every host in a moment; they may connect again."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # not running yet, so no host is connected
            return
        loop.call_later(seconds, self.disconnect)

    def execution_started(self) -> None:
        """Drop every host in the middle of an execution, if that fault is on."""
        fault = self._faults.active("disconnect")
        if fault is not None and fault.options["after"] == "execution":
            self._faults.take("disconnect")
            self.pull_soon(_EXECUTION_SECONDS)


_HOSTS = ("localhost", "127.0.0.1")
_SECONDS = 10.0
_LARGEST = 1024 * 1024
# Characters that have a meaning in a URL, and the mark of what is quoted already.
_SAFE = "/%:=&?~#+!$,;'@()*[]"


class Web:
    """Fetches what is behind the phone's sockets, as ``adb reverse`` makes them."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._tasks: set[asyncio.Task[None]] = set()

    def fetch(self, url: str, answered: Callable[[WebAnswer], None]) -> None:
        """Ask for an address, and call back with the answer."""

        async def ask() -> None:
            answered(await self._answer(url))

        task = asyncio.get_running_loop().create_task(ask())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, url: str) -> WebAnswer:
        try:
            port, request = _request(url)
            received = await asyncio.wait_for(self._exchange(port, request), _SECONDS)
            return _read(received)
        except asyncio.TimeoutError:
            problem = f"no whole answer in {_SECONDS:g} s"
        except (OSError, StreamClosed, ValueError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
        return WebAnswer(problem=f"{url[:200]}: {problem}")

    async def _exchange(self, port: int, request: bytes) -> bytes:
        line = await self._sockets.connect(f"tcp:{port}")
        try:
            await line.write(request)
            received = b""
            while data := await line.read():
                received += data
                if len(received) > _LARGEST:
                    raise ValueError(f"the answer has more than {_LARGEST} bytes")
            return received
        finally:
            line.finish()


def _request(url: str) -> tuple[int, bytes]:
    """Return the port to ask, and what; ValueError for what this phone cannot reach."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in _HOSTS:
        raise ValueError(
            "a simulated phone reaches nothing but http://localhost and http://127.0.0.1, "
            "where `adb reverse tcp:PORT tcp:PORT` puts a server of the host"
        )
    port = parts.port or 80
    target = quote(parts.path or "/", safe=_SAFE)
    if parts.query:
        target += "?" + quote(parts.query, safe=_SAFE)
    head = f"GET {target} HTTP/1.1\r\nHost: {parts.hostname}:{port}\r\nConnection: close\r\n\r\n"
    return port, head.encode("ascii")


class _Received:
    """Bytes as the socket that ``http.client`` reads them from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object, **__: object) -> io.BytesIO:
        return io.BytesIO(self._data)


def _read(received: bytes) -> WebAnswer:
    source = _Received(received)
    response = http.client.HTTPResponse(source)  # type: ignore[arg-type]  # makefile() is all it uses
    response.begin()
    if not 200 <= response.status < 300:
        raise ValueError(f"the server answered {response.status} {response.reason}")
    return WebAnswer(text=response.read().decode("utf-8", "replace"))
