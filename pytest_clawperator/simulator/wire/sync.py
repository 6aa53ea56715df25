"""The ``sync:`` service: adb push, pull, stat and ls on the device's files."""

from __future__ import annotations

import stat
import struct

from pytest_clawperator.simulator import files as filesystem
from pytest_clawperator.simulator.files import FileSystem, FileSystemError, Stat
from pytest_clawperator.simulator.wire.stream import Stream

_REQUEST = struct.Struct("<4sI")
_STAT = struct.Struct("<4sIII")
_ENTRY = struct.Struct("<4sIIII")
_MAX_PATH = 1024
_MAX_CHUNK = 64 * 1024
_MAX_WRITE = 16 * _MAX_CHUNK


class _HostGone(Exception):
    """The host closed the stream in the middle of a request."""


class _Refused(Exception):
    """The request is not one of ours; the conversation ends with this text."""


async def serve_sync(stream: Stream, files: FileSystem) -> None:
    """Answer sync requests until the host is done."""
    await _Conversation(stream, files).run()


class _Conversation:
    def __init__(self, stream: Stream, files: FileSystem) -> None:
        self._stream = stream
        self._files = files
        self._received = bytearray()

    async def run(self) -> None:
        """Answer requests until QUIT, the end of the stream, or an invalid one."""
        try:
            while await self._answer():
                pass
        except _HostGone:
            return
        except _Refused as refusal:
            await self._fail(str(refusal))

    async def _answer(self) -> bool:
        name, length = _REQUEST.unpack(await self._take(_REQUEST.size))
        if name == b"QUIT":
            return False
        if length > _MAX_PATH:
            raise _Refused("path too long")
        path = (await self._take(length)).decode("utf-8", "surrogateescape")
        if name == b"STAT":
            await self._stream.write(self._stat(path))
        elif name == b"LIST":
            await self._stream.write(self._list(path))
        elif name == b"RECV":
            await self._receive(path)
        elif name == b"SEND":
            await self._send(path)
        else:
            raise _Refused(f"unknown command {name.decode('ascii', 'backslashreplace')}")
        return True

    def _stat(self, path: str) -> bytes:
        try:
            found = self._files.stat(path)
        except FileSystemError:
            found = Stat(0, 0, 0)
        return _STAT.pack(b"STAT", found.mode, found.size, _u32(found.mtime))

    def _list(self, path: str) -> bytes:
        answer = [
            _ENTRY.pack(b"DENT", found.mode, found.size, _u32(found.mtime), len(name)) + name
            for name, found in self._entries(path)
        ]
        return b"".join([*answer, _ENTRY.pack(b"DONE", 0, 0, 0, 0)])

    def _entries(self, path: str) -> list[tuple[bytes, Stat]]:
        try:
            names = [".", "..", *self._files.listdir(path)]
            return [
                (name.encode("utf-8", "surrogateescape"), self._files.stat(f"{path}/{name}"))
                for name in names
            ]
        except FileSystemError:
            # As on a phone: what cannot be listed looks empty.
            return []

    async def _receive(self, path: str) -> None:
        try:
            data = self._files.read(path)
        except FileSystemError as error:
            doing = "read" if error.reason == filesystem.IS_DIRECTORY else "open"
            await self._fail(f"{doing} failed: {error.reason}")
            return
        for start in range(0, len(data), _MAX_WRITE):
            await self._stream.write(_chunks(data[start : start + _MAX_WRITE]))
        await self._stream.write(_REQUEST.pack(b"DONE", 0))

    async def _send(self, request: str) -> None:
        path, _, mode_text = request.rpartition(",")
        if not path or not mode_text.isascii() or not mode_text.isdigit():
            raise _Refused(f"invalid mode {mode_text!r}")
        problem = self._prepare(path)
        if stat.S_ISLNK(int(mode_text) & 0xFFFF):
            # As in a phone's shared storage, there are no links.
            problem = "symlink failed: Operation not permitted"
        if problem:
            await self._fail(problem)
        content = bytearray()
        while True:
            name, number = _REQUEST.unpack(await self._take(_REQUEST.size))
            if name == b"DONE":
                break
            if name != b"DATA":
                raise _Refused("invalid data message")
            if number > _MAX_CHUNK:
                raise _Refused("oversize data message")
            chunk = await self._take(number)
            # The host goes on sending after a failure, because it reads answers late.
            if problem:
                continue
            content += chunk
            if len(content) > self._files.free_bytes:
                problem = f"write failed: {filesystem.FULL}"
                await self._fail(problem)
        if problem:
            return
        try:
            self._files.write(path, bytes(content), mtime=number)
        except FileSystemError as error:
            await self._fail(f"couldn't create file: {error.reason}")
        else:
            await self._stream.write(_REQUEST.pack(b"OKAY", 0))

    def _prepare(self, path: str) -> str | None:
        """Make the folders above a file to write, and return the problem if there is one."""
        folder = path.rstrip("/").rpartition("/")[0] or "/"
        try:
            if not self._files.is_dir(folder):
                self._files.mkdir(folder, parents=True)
        except FileSystemError as error:
            return f"secure_mkdirs failed: {error.reason}"
        try:
            self._files.check_writable(path)
        except FileSystemError as error:
            return f"couldn't create file: {error.reason}"
        return None

    async def _fail(self, reason: str) -> None:
        text = reason.encode("utf-8", "surrogateescape")
        await self._stream.write(_REQUEST.pack(b"FAIL", len(text)) + text)

    async def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            data = await self._stream.read()
            if not data:
                raise _HostGone
            self._received += data
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


def _u32(number: int) -> int:
    return min(max(number, 0), 0xFFFFFFFF)


def _chunks(data: bytes) -> bytes:
    pieces = []
    for start in range(0, len(data), _MAX_CHUNK):
        chunk = data[start : start + _MAX_CHUNK]
        pieces += [_REQUEST.pack(b"DATA", len(chunk)), chunk]
    return b"".join(pieces)
