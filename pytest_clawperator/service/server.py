"""Run the service: connections, limits, the application, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pytest_clawperator.emulators import Emulators
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.remedies import Wording, for_scripts
from pytest_clawperator.service.endpoints import (
    Endpoint,
    Refused,
    describing,
    failed,
    json_answer,
    plain_answer,
)
from pytest_clawperator.service.events import EventStream
from pytest_clawperator.service.gate import Gate, is_loopback, new_token
from pytest_clawperator.service.leasing import Leasing
from pytest_clawperator.service.page import RackApi, RackPage
from pytest_clawperator.service.published import EmulatorApi, Executions, SkillApi
from pytest_clawperator.service.rack import AdbConnector, Rack
from pytest_clawperator.service.tunnel import PATH, Tunnels
from pytest_clawperator.service.v1 import ALLOWED_COMMANDS, DeviceApi, LeaseApi, ShellApi
from pytest_clawperator.service.watch import RackWatch
from pytest_clawperator.transport.server import locate_server

# More connections than this are answered with 503.
_MOST_CONNECTIONS = 5000

_KEEP_ALIVE = 30

# An execution takes 120 s at most, and a little to be judged.
_END_WITHIN = 150


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How the service runs.

    ``operator_package`` is the Operator of requests that name none. ``insecure`` allows other
    machines without a token. ``lease`` is the lease store, as for ``--claw-lease``; ``folder`` is
    where clients may have screenshots written. ``more_commands`` are allowed in addition to the
    default ones. ``wording`` words the hints for clients and readers of the page.
    """

    host: str = "127.0.0.1"
    port: int = 3000
    adb: str | None = None
    token: str | None = field(default=None, repr=False)
    insecure: bool = False
    allow_hosts: tuple[str, ...] = ()
    more_commands: tuple[str, ...] = ()
    lease: str | None = None
    operator_package: str | None = None
    folder: Path | None = None
    wording: Wording = for_scripts


def chosen_token(options: ServiceOptions) -> tuple[str | None, bool]:
    """Return the token that clients need, if any, and whether it was generated now."""
    if options.token is not None:
        if len(options.token.strip()) < 8 or not options.token.isascii():
            raise ConfigurationError(
                "the token is too short, or not ASCII",
                hint="Give at least 8 characters, or leave it out to have one made.",
            )
        return options.token.strip(), False
    if is_loopback(options.host) or options.insecure:
        return None, False
    return new_token(), True


class Service:
    """The service: built from its options, run until it is stopped."""

    def __init__(
        self,
        options: ServiceOptions,
        *,
        token: str | None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        adb = locate_server(options.adb)
        self.options = options
        self.gate = Gate(token, frozenset(name.lower() for name in options.allow_hosts))
        connector = AdbConnector(adb, package=options.operator_package, notify=notify)
        self.rack = Rack(connector, leasing=Leasing(options.lease), wording=options.wording)
        self.watch = RackWatch(self.rack, wording=options.wording)
        self.tunnels = Tunnels(adb, gate=self.gate, leasing=self.rack.leasing)
        folder = options.folder
        if folder is None and not is_loopback(options.host):
            folder = Path("clawperator-screenshots").resolve()
        apis = (
            RackPage(),
            RackApi(self.watch),
            Executions(self.rack, folder=folder),
            EmulatorApi(self.rack, lambda profile: Emulators(profile=profile)),
            SkillApi(self.rack),
            EventStream(self.rack.events),
            DeviceApi(self.rack),
            ShellApi(self.rack, (*ALLOWED_COMMANDS, *options.more_commands)),
            LeaseApi(self.rack),
        )
        every = [endpoint for api in apis for endpoint in api.endpoints()]
        self.endpoints = describing(every, needs_token=token is not None)
        self.app = make_app(self.endpoints, gate=self.gate)

    async def serve(self, listener: socket.socket, *, started: Callable[[], None]) -> None:
        """Serve until a signal or ``server.should_exit``, then shut down in order."""
        config = uvicorn.Config(
            self.app,
            # uvicorn calls what it is given, though its annotation asks for a class.
            http=partial(Front, PATH.encode(), self.tunnels.take_over),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,  # anyone can forge these headers
            timeout_keep_alive=_KEEP_ALIVE,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_END_WITHIN,
            backlog=1024,
        )
        self.server = _Server(config, self, started)
        await self.server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn's server, which ends streams first, because they never end by themselves."""

    def __init__(
        self, config: uvicorn.Config, service: Service, started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report it."""
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams and tunnels, wait for executions, close the devices."""
        self._service.rack.events.close()
        self._service.watch.close()
        self._service.tunnels.close()
        await super().shutdown(sockets)
        await self._service.rack.close()


def open_listener(options: ServiceOptions) -> socket.socket:
    """Listen at the address of the options; with port 0 the system picks one."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio sends small pieces without delay only if the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        is_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        raise ConfigurationError(
            f"cannot listen at {options.host}:{options.port}: {error.strerror or error}",
            hint="Choose another port with --port, or end what listens there."
            if is_port
            else "Give an address of this machine with --host; 0.0.0.0 is all of them.",
        ) from error
    return listener


def run_service(
    options: ServiceOptions,
    *,
    notify: Callable[[str], None],
    started: Callable[[str, str | None], None],
) -> None:
    """Run the service until SIGINT or SIGTERM; report its url, and a generated token."""
    token, is_new = chosen_token(options)
    listener = open_listener(options)
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    service = Service(options, token=token, notify=notify)
    with listener:
        asyncio.run(
            service.serve(listener, started=lambda: started(url, token if is_new else None))
        )


#: How long the head of the first request may take, in seconds, and how long it may be.
HEAD_WITHIN, LONGEST_HEAD = 10.0, 32 * 1024

#: Takes over a connection: its transport, the head of its request, and what came after it.
TakeOver = Callable[[asyncio.Transport, bytes, bytes], None]


class Front(asyncio.Protocol):
    """Read the head of the first request, and hand the connection to a tunnel or to HTTP.

    uvicorn waits for a request without limit; here its head must arrive soon and be small.
    """

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
    """Every request's head, not only the first, must arrive within the limit."""

    _late: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes."""
        super().data_received(data)
        self._await_head()

    def on_response_complete(self) -> None:
        """Continue with bytes that arrived during the response."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        """Limit the time for the rest of a head that has begun."""
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


# No framing, no content sniffing, no use by pages of other sites.
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}


# With these the rest of the body is not read, so nothing can follow it.
_UNREAD = (408, 413, 415)


def make_app(endpoints: Iterable[Endpoint], *, gate: Gate) -> Starlette:
    """Return the application of these endpoints."""
    app = Starlette(
        routes=[Route(one.path, one.handle, methods=[one.method]) for one in endpoints],
        middleware=[Middleware(Guarded, gate=gate)],
        exception_handlers={
            Refused: _refused,
            ClawperatorError: _failed,
            HTTPException: _not_found,
            Exception: _defect,
        },
    )
    app.router.redirect_slashes = False
    return app


class Guarded:
    """Check each request at the gate, and add security headers to each answer."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        path = scope["path"].rstrip("/") or "/"  # one at the end changes nothing
        scope = {**scope, "path": path}
        try:
            self._gate.check(scope["method"], path, Headers(scope=scope))
        except Refused as refusal:
            await json_answer(refusal.body, status=refusal.status)(scope, receive, marked)
        else:
            await self._app(scope, receive, marked)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    answer = json_answer(error.body, status=error.status)
    if error.status in _UNREAD:
        answer.headers["connection"] = "close"
    return answer


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, ClawperatorError)
    return failed(error)


async def _not_found(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path or method."""
    refusal = Refused(
        404,
        "ROUTE_NOT_FOUND",
        f"there is no {request.method} {request.url.path[:200]}",
        "GET /openapi.json describes what there is.",
    )
    return json_answer(refusal.body, status=refusal.status)


async def _defect(request: Request, error: Exception) -> Response:
    # The server that runs the application logs where it failed.
    problem = {"code": "INTERNAL_SERVER_ERROR", "message": f"the service failed: {error!r:.200}"}
    return json_answer({"ok": False, "error": problem}, status=500)
