"""What the published API lacks for testing, under ``/v1``: devices, leases, shell and files."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pytest_clawperator.client.device_settings import put_setting, read_setting
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import USABLE
from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.service.endpoints import (
    TEXT,
    Api,
    Refused,
    Schema,
    a_list,
    an_object,
    endpoint,
    error_object,
    number_field,
    read_object,
    read_optional,
    stream_bytes,
    succeeded,
    text_field,
)
from pytest_clawperator.service.leasing import LEAST_TTL, MOST_TTL, TTL, ServiceLease
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import PastRun, Station
from pytest_clawperator.service.tunnel import LEASE_HEADER, PATH
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.shell import properties, quote

#: The features of this service, which clients check when they connect.
FEATURES = ("adb", "leases", "log", "shell", "settings", "files", "screen")

_STATUSES = (400, 404, 423, 500, 504)

_DEVICE_PATH = "/v1/devices/{serial}"

_DEVICE: Schema = an_object(("serial", "state"), serial=TEXT, state=TEXT)

# How long a follower of the log waits for a line before it checks whether the client is there.
_LOOK_EVERY = 1.0

# How many lines of a log are sent at most to a client that does not follow it.
_MOST_LINES = 100_000


_ZERO_OR_ONE: Schema = {"type": "string", "enum": ["0", "1"]}

_PAST = f"{_DEVICE_PATH}/executions/{{command}}"

_PLAIN, _PNG = "text/plain", "image/png"


class DeviceApi(Api):
    """Describe devices, and show their screens, logs and past executions."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack

    @endpoint("GET", "/v1", answer={"service": TEXT})
    async def about(self, request: Request) -> Response:
        """Describe this service."""
        return succeeded(
            service="pytest-clawperator",
            version=package_version(),
            features=list(FEATURES),
            adb=PATH,
        )

    @endpoint("GET", "/v1/devices", answer={"devices": a_list(_DEVICE)}, statuses=_STATUSES)
    async def list_all(self, request: Request) -> Response:
        """Describe all devices."""
        found = await self._rack.devices()
        described = await asyncio.gather(*(self._about(serial, state) for serial, state in found))
        return succeeded(devices=described)

    @endpoint("GET", _DEVICE_PATH, answer={"device": _DEVICE}, statuses=_STATUSES)
    async def describe(self, request: Request) -> Response:
        """Describe a device."""
        station = await self._station(request)
        return succeeded(device=await self._about(station.serial, USABLE))

    @endpoint(
        "GET",
        f"{_DEVICE_PATH}/properties",
        answer={"properties": {"type": "object"}},
        statuses=_STATUSES,
    )
    async def properties(self, request: Request) -> Response:
        """Return the system properties."""
        return succeeded(properties=await self._look(request, properties))

    @endpoint("GET", f"{_DEVICE_PATH}/screen.png", content=_PNG, statuses=_STATUSES)
    async def screen(self, request: Request) -> Response:
        """Return a picture of the screen."""
        station = await self._station(request)
        picture = await self._rack.in_thread(station.picture)
        return Response(picture, media_type=_PNG, headers={"cache-control": "no-store"})

    @endpoint(
        "GET",
        f"{_DEVICE_PATH}/log",
        content=_PLAIN,
        query={"since": {"type": "integer", "minimum": 0}, "follow": _ZERO_OR_ONE},
        statuses=_STATUSES,
    )
    async def log(self, request: Request) -> Response:
        """Return the log from a position on, or follow it; clawperator-log-end is the next one."""
        given = request.query_params.get("since", "0")
        if not (given.isascii() and given.isdecimal() and len(given) < 16):
            raise Refused(
                400, "INVALID_FIELD", "?since= must be a position: 0, or one of an earlier answer"
            )
        end, lines = await self._look(request, lambda it: _read_log(it, int(given)))
        headers = {"clawperator-log-end": str(end)}
        if request.query_params.get("follow") != "1" or request.method == "HEAD":
            return Response(_joined(lines), media_type=_PLAIN, headers=headers)
        station = await self._station(request)
        return StreamingResponse(
            self._follow(station, lines, end), media_type=_PLAIN, headers=headers
        )

    @endpoint(
        "GET",
        f"{_DEVICE_PATH}/executions",
        answer={"executions": a_list({"type": "object"})},
        statuses=_STATUSES,
    )
    async def executions(self, request: Request) -> Response:
        """List the last executions."""
        station = await self._station(request)
        return succeeded(executions=[past.summary() for past in station.past])

    @endpoint("GET", _PAST, answer={"execution": {"type": "object"}}, statuses=_STATUSES)
    async def execution(self, request: Request) -> Response:
        """Return the envelope of an execution."""
        past = await self._past(request)
        return succeeded(execution={**past.summary(), "envelope": past.envelope})

    @endpoint("GET", f"{_PAST}/screenshot.png", content=_PNG, statuses=_STATUSES)
    async def screenshot(self, request: Request) -> Response:
        """Return the screenshot of an execution."""
        past = await self._past(request)
        if past.picture is None:
            raise Refused(404, "NO_SCREENSHOT", "this execution took none, or it is too long ago")
        return Response(past.picture, media_type=_PNG)

    @endpoint("GET", f"{_PAST}/log", content=_PLAIN, statuses=_STATUSES)
    async def execution_log(self, request: Request) -> Response:
        """Return the log of an execution."""
        past = await self._past(request)
        return Response(_hidden(str(past.log).encode("utf-8", "replace")), media_type=_PLAIN)

    async def _about(self, serial: str, state: str) -> dict[str, Any]:
        """Describe a device: its properties, its holder, its execution."""
        basic: dict[str, Any] = {"serial": serial, "state": state}
        if state != USABLE:
            return basic
        station, lease = self._rack.station_of(serial), self._rack.leasing.of(serial)

        def ask() -> tuple[DeviceInfo, Holder | None]:
            info = station.info
            return info, self._rack.leasing.holder(info.key)

        try:
            info, holder = await self._rack.in_thread(ask)
        except ClawperatorError as error:
            return {**basic, "problem": error_object(error)}
        problem = station.problem
        return {
            **basic,
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
        return await self._rack.in_thread(lambda: ask(station.for_reading()))

    async def _follow(self, station: Station, lines: list[bytes], end: int) -> AsyncIterator[bytes]:
        """Yield lines until the client disconnects or the service ends."""
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


_NUMBER: Schema = {"type": "number"}

_TTL: Schema = {"type": "number", "minimum": LEAST_TTL * 1000, "maximum": MOST_TTL * 1000}

_LEASE = {"serial": TEXT, "owner": TEXT, "since": _NUMBER, "expiresInMs": _NUMBER}

_GRANTED = {"lease": TEXT, **_LEASE}


class LeaseApi(Api):
    """Lease, renew and release devices for clients."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack

    @endpoint("GET", "/v1/leases", answer={"leases": a_list(an_object((), **_LEASE))})
    async def list(self, request: Request) -> Response:
        """List who has which device through this service."""
        return succeeded(leases=[lease.public() for lease in self._rack.leasing.all()])

    @endpoint(
        "POST",
        "/v1/leases",
        body=an_object(("serial", "owner"), serial=TEXT, owner=TEXT, ttlMs=_TTL),
        is_body_required=True,
        answer=_GRANTED,
        statuses=(400, 404, 413, 423, 500, 504),
    )
    async def take(self, request: Request) -> Response:
        """Lease a device; renew the lease before its time is over."""
        given = await read_object(request)
        serial = text_field(given, "serial", "INVALID_DEVICE_ID")
        owner = text_field(given, "owner", "INVALID_OWNER")
        if serial is None or owner is None:
            raise Refused(400, "MISSING_FIELD", "'serial' and 'owner' must be given")
        ttl = number_field(
            given, "ttlMs", least=LEAST_TTL * 1000, most=MOST_TTL * 1000, default=TTL * 1000
        )
        station = await self._rack.station(serial)
        info = await self._rack.in_thread(lambda: station.info)
        lease = await self._rack.leasing.take(serial, info.key, owner=owner, ttl=ttl / 1000)
        return _granted(lease)

    @endpoint(
        "POST",
        "/v1/leases/{lease}/renew",
        body=an_object(busyMs={"type": "number", "minimum": 0}),
        answer=_GRANTED,
        statuses=(400, 413, 423),
    )
    async def renew(self, request: Request) -> Response:
        """Renew a lease; announce how long the device may be busy from now."""
        given = await read_optional(request) or {}
        busy = number_field(given, "busyMs", least=0, most=1e9, default=0)
        token = request.path_params["lease"]
        if "busyMs" in given:
            return _granted(self._rack.leasing.note_flight(token, busy / 1000))
        return _granted(self._rack.leasing.renew(token))

    @endpoint(
        "DELETE",
        "/v1/leases/{lease}",
        query={"busy": _ZERO_OR_ONE},
        answer={"released": {"type": "boolean"}},
        statuses=(400, 423),
    )
    async def release(self, request: Request) -> Response:
        """Release a device; ?busy=1 if its last execution may still run."""
        is_busy = request.query_params.get("busy") == "1"
        self._rack.leasing.release(request.path_params["lease"], busy=is_busy)
        return succeeded(released=True)


def _granted(lease: ServiceLease) -> Response:
    return succeeded(lease.public(), lease=lease.token)


#: The commands that may be run; each word is quoted, so that no other command can follow.
ALLOWED_COMMANDS = (
    *("am", "cat", "cmd", "content", "date", "df", "dumpsys", "echo", "getprop", "ime", "input"),
    *("ip", "log", "logcat", "ls", "pidof", "ping", "pm", "ps", "settings", "stat", "svc"),
    *("true", "uptime", "wm"),
)

#: The largest file that is taken, in bytes.
LARGEST_FILE = 1024 * 1024 * 1024

NAMESPACES = ("system", "secure", "global")

_SHELL_STATUSES = (400, 404, 413, 423, 500, 504)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")

_T = TypeVar("_T")


_SETTING = f"{_DEVICE_PATH}/settings/{{namespace}}/{{name}}"

_BINARY = "application/octet-stream"


class ShellApi(Api):
    """Run allowed commands, read and change settings, and transfer files."""

    def __init__(self, rack: Rack, allowed: Collection[str]) -> None:
        self._rack = rack
        self._allowed = frozenset(allowed)

    @endpoint(
        "POST",
        f"{_DEVICE_PATH}/shell",
        body=an_object(
            ("command",), command=a_list(TEXT), timeoutMs={"type": "number", "minimum": 1}
        ),
        is_body_required=True,
        answer={"stdout": TEXT, "stderr": TEXT, "exitCode": _NUMBER},
        statuses=(*_SHELL_STATUSES, 403),
    )
    async def shell(self, request: Request) -> Response:
        """Run a command of the allow-list, given as its words."""
        given = await read_object(request)
        words = given.get("command")
        if not isinstance(words, list) or not words or not all(map(_is_word, words)):
            raise Refused(
                400, "INVALID_COMMAND", "'command' must be a list of words, each a text without NUL"
            )
        if words[0] not in self._allowed:
            raise Refused(
                403,
                "COMMAND_NOT_ALLOWED",
                f"{words[0][:50]!r} is not one of the commands that this service runs:"
                f" {', '.join(sorted(self._allowed))}",
                "Allow it with `serve --allow-command`, or lease the device and connect to it.",
            )
        seconds = number_field(given, "timeoutMs", least=1, most=600_000, default=30_000) / 1000
        command = " ".join(map(quote, words))
        result = await self._use(request, lambda it: it.shell(command, timeout=seconds))
        return succeeded(stdout=result.stdout, stderr=result.stderr, exitCode=result.exit_code)

    @endpoint(
        "GET",
        _SETTING,
        answer={"value": {"type": ["string", "null"]}},
        statuses=_SHELL_STATUSES,
    )
    async def read_setting(self, request: Request) -> Response:
        """Read a setting: system, secure or global."""
        space, name = _setting(request)
        value = await self._use(request, lambda it: read_setting(it, space, name))
        return succeeded(value=value)

    @endpoint(
        "PUT",
        _SETTING,
        body=an_object(("value",), value=TEXT),
        is_body_required=True,
        answer={"value": TEXT},
        statuses=_SHELL_STATUSES,
    )
    async def put_setting(self, request: Request) -> Response:
        """Change a setting."""
        space, name = _setting(request)
        value = text_field(await read_object(request), "value", "INVALID_FIELD", blank=True)
        if value is None or "\0" in value:
            raise Refused(400, "MISSING_FIELD", "'value' must be given, as text without NUL")
        await self._use(request, lambda it: put_setting(it, space, name, value))
        return succeeded(value=value)

    @endpoint(
        "GET",
        f"{_DEVICE_PATH}/file",
        query={"path": TEXT},
        content=_BINARY,
        statuses=_SHELL_STATUSES,
    )
    async def pull(self, request: Request) -> Response:
        """Return the content of a file of the device."""
        path = _path(request)
        content = await self._use(request, lambda it: it.pull(path))
        return Response(content, media_type=_BINARY)

    @endpoint(
        "PUT",
        f"{_DEVICE_PATH}/file",
        query={"path": TEXT},
        takes=_BINARY,
        answer={"path": TEXT, "bytes": _NUMBER},
        statuses=(*_SHELL_STATUSES, 408, 415),
    )
    async def push(self, request: Request) -> Response:
        """Write a file on the device."""
        path, size = _path(request), 0
        with tempfile.NamedTemporaryFile(prefix="clawperator-push-") as file:
            async for piece in stream_bytes(request, limit=LARGEST_FILE):
                file.write(piece)
                size += len(piece)
            file.flush()
            await self._use(request, lambda it: it.push(Path(file.name), path))
        return succeeded(path=path, bytes=size)

    async def _use(self, request: Request, use: Callable[[Transport], _T]) -> _T:
        """Use the device in a thread, with the client's lease if it has one."""
        station = await self._rack.station(request.path_params["serial"])
        token = request.headers.get(LEASE_HEADER)

        def used() -> _T:
            with station.used(token) as transport:
                return use(transport)

        return await self._rack.in_thread(used)


def _is_word(word: object) -> bool:
    return isinstance(word, str) and "\0" not in word


def _setting(request: Request) -> tuple[str, str]:
    space, name = request.path_params["namespace"], request.path_params["name"]
    if space not in NAMESPACES or not _NAME.fullmatch(name):
        raise Refused(
            400,
            "INVALID_SETTING",
            f"a setting is in {', '.join(NAMESPACES)}, and its name has letters, digits, '_', '.'",
        )
    return space, name


def _path(request: Request) -> str:
    path = request.query_params.get("path", "")
    if not path.startswith("/") or "\0" in path:
        raise Refused(400, "INVALID_PATH", "?path= must be an absolute path of the device")
    return path
