"""Find the adb server to use, start one if none runs, and reconnect devices."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.adb_program import find_user_adb
from pytest_clawperator.transport.wire import AdbServer

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 5037

_START_DEADLINE = 20.0
_NO_HOST = re.compile(r"[\s/\\@]")
_LOOPBACK = ("localhost", "::1", "0:0:0:0:0:0:0:1")


def locate_server(
    adb: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> AdbServer:
    """Find the adb server: the one named here, else of adb's own variables, else the usual one.

    ``adb`` is ``host:port``, a port, or what ``ADB_SERVER_SOCKET`` may be. If a named
    server does not answer, none is started unless it is the usual one: a new server would not
    have the devices that were meant.
    """
    if adb:
        if not isinstance(adb, str):
            raise _nonsense("adb", adb)
        return _parse(adb, source="adb", startable=False)
    socket = environment.get("ADB_SERVER_SOCKET")
    if socket:
        return _parse(socket, source="ADB_SERVER_SOCKET", startable=True)
    host = environment.get("ANDROID_ADB_SERVER_ADDRESS") or DEFAULT_HOST
    port = environment.get("ANDROID_ADB_SERVER_PORT") or str(DEFAULT_PORT)
    number = _port(port, source="ANDROID_ADB_SERVER_PORT", text=port)
    return AdbServer(host, number, startable=is_loopback(host))


def ensure_server(server: AdbServer, *, notify: Callable[[str], None]) -> None:
    """Ensure that the server answers; if allowed, start one, and report it with ``notify``."""
    try:
        server.version()
    except errors.TransportTimeoutError as error:
        raise errors.TransportTimeoutError(
            f"the adb server at {server} took the connection and did not answer",
            hint="Restart it: `adb kill-server`, then `adb start-server`.",
        ) from error
    except errors.AdbUnavailableError as error:
        # Only if nothing listens: an adb program that meets another version's server kills it.
        if not isinstance(error.__cause__, ConnectionRefusedError):
            raise
        if not server.startable:
            raise errors.AdbUnavailableError(
                f"no adb server answers at {server}, and none is started there, because it was "
                "named or is on another host",
                code=ErrorCode.ADB_SERVER_FAILED,
                hint="Start that server, or leave its address out to use the usual one "
                f"({DEFAULT_HOST}:{DEFAULT_PORT}).",
            ) from error
    else:
        return
    adb = find_user_adb()
    _start(adb, server)
    notify(
        f"no adb server answered at {server}, so {adb} was started as one; it keeps running, "
        f"as adb servers do, until `{adb} -P {server.port} kill-server`"
    )


def _start(adb: Path, server: AdbServer) -> None:
    with tempfile.TemporaryFile() as complaints:
        try:
            # A file, not a pipe: the server that stays behind may keep it open.
            done = subprocess.run(  # noqa: S603 - the user's own adb
                [adb, "-P", str(server.port), "start-server"],
                stdin=subprocess.DEVNULL,
                stdout=complaints,
                stderr=complaints,
                timeout=_START_DEADLINE,
                check=False,
            )
            why = f"exit code {done.returncode}" if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
        complaints.seek(0)
        said = complaints.read().decode("utf-8", "replace").strip()
    if not why:
        try:
            server.version()
        except errors.AdbUnavailableError as error:
            why = error.message
    if why:
        raise errors.AdbUnavailableError(
            f"no adb server answers at {server}, and {adb} did not start one: {why}; "
            f"it said: {said or 'nothing'}",
            code=ErrorCode.ADB_SERVER_FAILED,
            hint="Run `adb start-server` by hand, or set ADB_PATH to another adb program.",
        )


def _parse(text: str, *, source: str, startable: bool) -> AdbServer:
    kind, colon, path = text.partition(":")
    if kind == "localfilesystem" and path.startswith("/"):
        return AdbServer(path=path)
    address = path if kind == "tcp" and colon else text
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or DEFAULT_HOST
    number = _port(port, source=source, text=text)
    if _NO_HOST.search(host):
        raise _nonsense(source, text)
    usual = number == DEFAULT_PORT
    return AdbServer(host, number, startable=(startable or usual) and is_loopback(host))


def _port(port: str, *, source: str, text: str) -> int:
    if port.isascii() and port.isdecimal() and 0 < int(port) < 2**16:
        return int(port)
    raise _nonsense(source, text)


def _nonsense(source: str, given: object) -> errors.ConfigurationError:
    return errors.ConfigurationError(
        f"{source} names no adb server: {given!r}",
        hint="Allowed, as text: a port ('5037'), host:port ('127.0.0.1:5037'), tcp:host:port, "
        "or localfilesystem:/path/of/a/socket.",
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by an address that leads to no other."""
    return host.startswith("127.") or host in _LOOPBACK


# After this a network device counts as gone; adb itself would try for longer.
_CONNECT_WITHIN = 5.0
# An address, or the name by which a phone with wireless debugging announces itself.
_ON_NETWORK = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:]+\]):\d+|.+\._adb(?:-tls-connect)?\._tcp")


def reconnect(server: AdbServer, serial: str, *, notify: Callable[[str], None]) -> None:
    """Ask adb to connect to a device again; whether that works is seen at its next use."""
    if server.startable:
        ensure_server(server, notify=notify)
    # A new server does not know the devices of the network.
    question = (
        f"host:connect:{serial}" if _ON_NETWORK.fullmatch(serial) else "host:reconnect-offline"
    )
    with contextlib.suppress(errors.ClawperatorError):  # an older server may not support it
        server.ask(question, timeout=_CONNECT_WITHIN)
