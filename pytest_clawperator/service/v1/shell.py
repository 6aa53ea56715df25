"""Commands, settings and files of a device: ``/v1/devices/SERIAL/shell`` and others."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.client.device_settings import put_setting, read_setting
from pytest_clawperator.service.answers import Refused, succeeded
from pytest_clawperator.service.bodies import number_field, read_object, stream_bytes, text_field
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.tunnel import LEASE_HEADER
from pytest_clawperator.transport.interface import Transport
from pytest_clawperator.transport.shell import quote

#: The commands that may be run; each word is quoted, so that no other comes with them.
ALLOWED_COMMANDS = (
    *("am", "cat", "cmd", "content", "date", "df", "dumpsys", "echo", "getprop", "ime", "input"),
    *("ip", "log", "logcat", "ls", "pidof", "ping", "pm", "ps", "settings", "stat", "svc"),
    *("true", "uptime", "wm"),
)
#: The largest file that is taken, in bytes.
LARGEST_FILE = 1024 * 1024 * 1024
NAMESPACES = ("system", "secure", "global")

_DEVICE = "/v1/devices/{serial}"
_STATUSES = (400, 404, 413, 423, 500, 504)
_NUMBER: Schema = {"type": "number"}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")
_T = TypeVar("_T")


class ShellApi:
    """Runs allowed commands, reads and makes settings, and moves files."""

    def __init__(self, rack: Rack, allowed: Collection[str]) -> None:
        self._rack = rack
        self._allowed = frozenset(allowed)

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        shell = Endpoint(
            method="POST",
            path=f"{_DEVICE}/shell",
            handle=self.shell,
            summary="Run a command of the allow-list, given as its words.",
            body=an_object(
                ("command",), command=a_list(TEXT), timeoutMs={"type": "number", "minimum": 1}
            ),
            is_body_required=True,
            answer={"stdout": TEXT, "stderr": TEXT, "exitCode": _NUMBER},
            statuses=(*_STATUSES, 403),
        )
        return [shell, *self._of_settings(), *self._of_files()]

    def _of_settings(self) -> list[Endpoint]:
        path = f"{_DEVICE}/settings/{{namespace}}/{{name}}"
        return [
            Endpoint(
                method="GET",
                path=path,
                handle=self.read_setting,
                summary="Read a setting: system, secure or global.",
                answer={"value": {"type": ["string", "null"]}},
                statuses=_STATUSES,
            ),
            Endpoint(
                method="PUT",
                path=path,
                handle=self.put_setting,
                summary="Make a setting.",
                body=an_object(("value",), value=TEXT),
                is_body_required=True,
                answer={"value": TEXT},
                statuses=_STATUSES,
            ),
        ]

    def _of_files(self) -> list[Endpoint]:
        path = f"{_DEVICE}/file"
        return [
            Endpoint(
                method="GET",
                path=path,
                handle=self.pull,
                summary="Return the content of a file of the device.",
                query={"path": TEXT},
                content="application/octet-stream",
                statuses=_STATUSES,
            ),
            Endpoint(
                method="PUT",
                path=path,
                handle=self.push,
                summary="Write a file on the device.",
                query={"path": TEXT},
                takes="application/octet-stream",
                answer={"path": TEXT, "bytes": _NUMBER},
                statuses=(*_STATUSES, 408, 415),
            ),
        ]

    async def shell(self, request: Request) -> Response:
        """Run a command."""
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

    async def read_setting(self, request: Request) -> Response:
        """Read a setting."""
        space, name = _setting(request)
        value = await self._use(request, lambda it: read_setting(it, space, name))
        return succeeded(value=value)

    async def put_setting(self, request: Request) -> Response:
        """Make a setting."""
        space, name = _setting(request)
        value = text_field(await read_object(request), "value", "INVALID_FIELD", blank=True)
        if value is None or "\0" in value:
            raise Refused(400, "MISSING_FIELD", "'value' must be given, as text without NUL")
        await self._use(request, lambda it: put_setting(it, space, name, value))
        return succeeded(value=value)

    async def pull(self, request: Request) -> Response:
        """Return a file."""
        path = _path(request)
        content = await self._use(request, lambda it: it.pull(path))
        return Response(content, media_type="application/octet-stream")

    async def push(self, request: Request) -> Response:
        """Write a file; it is kept on the disk of this machine on its way."""
        path, size = _path(request), 0
        with tempfile.NamedTemporaryFile(prefix="clawperator-push-") as file:
            async for piece in stream_bytes(request, limit=LARGEST_FILE):
                file.write(piece)
                size += len(piece)
            file.flush()
            await self._use(request, lambda it: it.push(Path(file.name), path))
        return succeeded(path=path, bytes=size)

    async def _use(self, request: Request, use: Callable[[Transport], _T]) -> _T:
        """Have the device in a thread, with the client's lease if it has one."""
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
