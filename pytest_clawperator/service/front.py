"""The first bytes of a connection: a tunnel to adb, or HTTP; and those that never come.

uvicorn waits for a request for as long as it takes. Here the head of each must come whole,
soon, and be of a reasonable size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pytest_clawperator.service.answers import Refused, plain_answer

#: How long the head of the first request may take, in seconds, and how long it may be.
HEAD_WITHIN, LONGEST_HEAD = 10.0, 32 * 1024

#: Takes over a connection: its transport, the head of its request, and what came after it.
TakeOver = Callable[[asyncio.Transport, bytes, bytes], None]


class Front(asyncio.Protocol):
    """Reads the head of the first request, and hands the connection over."""

    def __init__(self, tunnel_path: bytes, open_tunnel: TakeOver, **of_uvicorn: Any) -> None:
        self._request_line = b"POST %b HTTP/1.1\r\n" % tunnel_path
        self._open_tunnel = open_tunnel
        self._of_uvicorn = of_uvicorn
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the head."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(HEAD_WITHIN, self._refuse, _SLOW)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()

    def data_received(self, data: bytes) -> None:
        """Hand the connection over once the head is there."""
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0 and len(self._received) < LONGEST_HEAD:
            return
        self._stop_timer()
        if end < 0 or end > LONGEST_HEAD:
            self._refuse(_LONG)
            return
        transport, received = self._transport, bytes(self._received)
        assert transport is not None
        if received.startswith(self._request_line):
            self._open_tunnel(transport, received[:end], received[end + 4 :])
            return
        http = _Http(**self._of_uvicorn)
        transport.set_protocol(http)
        http.connection_made(transport)
        http.data_received(received)

    def _refuse(self, refusal: Refused) -> None:
        assert self._transport is not None
        self._transport.write(plain_answer(refusal))
        self._transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Http(H11Protocol):
    """The requests of a connection; also the head of a later one must come soon."""

    _late: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        super().data_received(data)
        self._await_head()

    def on_response_complete(self) -> None:
        """Go on with what came meanwhile."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        """Wait for the rest of a head that has begun, but not forever."""
        is_partial = self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] != b""
        if is_partial and self._late is None:
            self._late = asyncio.get_running_loop().call_later(HEAD_WITHIN, self._refuse)
        elif not is_partial:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def _refuse(self) -> None:
        self.transport.write(plain_answer(_SLOW))
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


_SLOW = Refused(408, "REQUEST_TIMEOUT", f"no whole request came within {HEAD_WITHIN:g} s")
_LONG = Refused(431, "REQUEST_TOO_LARGE", f"the headers are longer than {LONGEST_HEAD} bytes")
