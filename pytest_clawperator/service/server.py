"""Runs the service: sockets, limits, and an end that lets executions end."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from pytest_clawperator.emulators import EmulatorProfile, Emulators
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.remedies import Wording, for_scripts
from pytest_clawperator.service.app import make_app
from pytest_clawperator.service.endpoint import Endpoint
from pytest_clawperator.service.events import Events
from pytest_clawperator.service.front import Front
from pytest_clawperator.service.gate import Gate, is_loopback, new_token
from pytest_clawperator.service.leasing import Leasing
from pytest_clawperator.service.openapi import describing
from pytest_clawperator.service.page.api import RackApi
from pytest_clawperator.service.page.page import RackPage
from pytest_clawperator.service.page.watch import RackWatch
from pytest_clawperator.service.published.emulators import EmulatorApi, Factory
from pytest_clawperator.service.published.event_stream import EventStream
from pytest_clawperator.service.published.executions import Executions
from pytest_clawperator.service.published.skills import SkillApi
from pytest_clawperator.service.rack import AdbConnector, Rack
from pytest_clawperator.service.station import Connector
from pytest_clawperator.service.tunnel import PATH, Tunnels
from pytest_clawperator.service.v1.devices import DeviceApi
from pytest_clawperator.service.v1.leases import LeaseApi
from pytest_clawperator.service.v1.shell import ALLOWED_COMMANDS, ShellApi
from pytest_clawperator.transport.server import locate_server
from pytest_clawperator.transport.wire import AdbServer

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 3000
# More connections than this are answered with 503.
_MOST_CONNECTIONS = 5000
_KEEP_ALIVE = 30
# An execution takes 120 s at most, and a little to be judged.
_END_WITHIN = 150


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """How the service runs.

    ``operator_package`` is the Operator of requests that name none. ``insecure`` does without
    a token though other machines reach it. ``lease`` is where leases are kept, as for
    ``--claw-lease``; ``folder`` where clients may write screenshots, if they may not write
    anywhere. ``more_commands`` are allowed besides the usual ones.
    ``wording`` chooses the words of hints, for clients and for people who look at the page.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
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
    """Return the token that clients must know, if any, and whether it was made now."""
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
    """The service: made of its options, run until it is told to end."""

    def __init__(
        self,
        options: ServiceOptions,
        *,
        token: str | None,
        connector: Connector | None = None,
        emulators: Factory | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.adb: AdbServer = locate_server(options.adb)
        self.gate = Gate(token, frozenset(name.lower() for name in options.allow_hosts))
        leasing = Leasing(options.lease)
        package = options.operator_package
        connector = connector or AdbConnector(self.adb, package=package, say=say)
        self.rack = Rack(connector, leasing=leasing, events=Events(), wording=options.wording)
        self.watch = RackWatch(self.rack, wording=options.wording)
        self.tunnels = Tunnels(self.adb, gate=self.gate, leasing=leasing)
        self.options = options
        folder = options.folder
        if folder is None and not is_loopback(options.host):
            folder = Path("clawperator-screenshots").resolve()
        self.endpoints = make_endpoints(
            self.rack,
            watch=self.watch,
            emulators=emulators or _emulators,
            folder=folder,
            allow_commands=(*ALLOWED_COMMANDS, *options.more_commands),
            needs_token=token is not None,
        )
        self.app = make_app(self.endpoints, gate=self.gate)

    async def serve(self, listener: socket.socket, *, started: Callable[[], None]) -> None:
        """Answer until a signal comes, or ``server.should_exit``; then end in order."""
        config = uvicorn.Config(
            self.app,
            http=self._front(),  # a class is meant, and a function that makes one will do
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,  # what they say of a client anybody can write
            timeout_keep_alive=_KEEP_ALIVE,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_END_WITHIN,
            backlog=1024,
        )
        self.server = _Server(config, self, started)
        await self.server.serve(sockets=[listener])

    def _front(self) -> Any:
        def front(**of_uvicorn: Any) -> Front:
            return Front(PATH.encode(), self.tunnels.take_over, **of_uvicorn)

        return front


class _Server(uvicorn.Server):
    """uvicorn's server; it ends the streams first, which never end by themselves."""

    def __init__(
        self, config: uvicorn.Config, service: Service, started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and tell."""
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams and tunnels, let executions end, close the devices."""
        self._service.rack.events.close()
        self._service.watch.close()
        self._service.tunnels.close()
        await super().shutdown(sockets)
        await self._service.rack.close()


def make_endpoints(
    rack: Rack,
    *,
    watch: RackWatch | None = None,
    emulators: Factory,
    folder: Path | None = None,
    allow_commands: tuple[str, ...] = ALLOWED_COMMANDS,
    needs_token: bool = False,
) -> list[Endpoint]:
    """Return all endpoints of the service."""
    return describing(
        [
            *RackPage().endpoints(),
            *RackApi(watch or RackWatch(rack)).endpoints(),
            *Executions(rack, folder=folder).endpoints(),
            *EmulatorApi(rack, emulators).endpoints(),
            *SkillApi(rack).endpoints(),
            *EventStream(rack.events).endpoints(),
            *DeviceApi(rack).endpoints(),
            *ShellApi(rack, allow_commands).endpoints(),
            *LeaseApi(rack).endpoints(),
        ],
        needs_token=needs_token,
    )


def open_listener(options: ServiceOptions) -> socket.socket:
    """Listen at the address of the options; port 0 is one that the system picks."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio sends small pieces at once only where the protocol is named.
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
    emulators: Factory | None = None,
    say: Callable[[str], None] = lambda _: None,
    started: Callable[[str, str | None], None] = lambda url, token: None,
) -> None:
    """Run the service until SIGINT or SIGTERM; tell its url, and a token that was made now."""
    token, is_new = chosen_token(options)
    listener = open_listener(options)
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    service = Service(options, token=token, emulators=emulators, say=say)
    with listener:
        asyncio.run(
            service.serve(listener, started=lambda: started(url, token if is_new else None))
        )


def _emulators(profile: EmulatorProfile | None) -> Emulators:
    return Emulators(profile=profile)
