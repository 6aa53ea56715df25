"""What commands read from and write to: streams of the host, files, and pipes between them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError

# As the kernel's: a writer further ahead of its reader than this waits.
_PIPE_CAPACITY = 64 * 1024
# Large data is read in pieces, with a turn for others between them.
_PIECE = 64 * 1024
# What the shell keeps as one text: a variable, an expansion, the output of a substitution.
MAX_TEXT = 4 * 1024 * 1024


class Output(Protocol):
    """Where a command writes."""

    async def write(self, data: bytes) -> None:
        """Pass bytes on, waiting while the other side is busy."""


class Input(Protocol):
    """Where a command reads."""

    async def read(self) -> bytes:
        """Give the next bytes; nothing at the end."""


class BrokenPipe(Exception):
    """Nobody reads any more what a command writes."""


class TextTooLong(Exception):
    """A script asks the shell to hold more text than there is room for."""


class Source:
    """An open input; what one command leaves unread is there for the next."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._left = b""
        self._ended = False

    @classmethod
    def of(cls, source: Input) -> Source:
        """Give ``source`` as one, unless it already is."""
        return source if isinstance(source, Source) else cls(source)

    async def read(self) -> bytes:
        """Give the next bytes; nothing at the end."""
        if self._left:
            data, self._left = self._left, b""
            return data
        if self._ended:
            return b""
        data = await self._source.read()
        self._ended = not data
        return data

    def put_back(self, data: bytes) -> None:
        """Leave bytes that were read for the next reader."""
        self._left = data + self._left

    async def read_line(self) -> bytes:
        """Give the next line with its newline; nothing at the end, and no more than the line."""
        pieces: list[bytes] = []
        size = 0
        while data := await self.read():
            end = data.find(b"\n") + 1
            if end:
                self.put_back(data[end:])
                return b"".join([*pieces, data[:end]])
            pieces.append(data)
            size += len(data)
            if size > MAX_TEXT:
                raise TextTooLong
        return b"".join(pieces)


class Bytes:
    """An input that gives these bytes, and then ends."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        self._position = 0

    async def read(self) -> bytes:
        """Give the next piece, then nothing."""
        if self._position:
            await asyncio.sleep(0)
        piece = self._data[self._position : self._position + _PIECE]
        self._position += len(piece)
        return piece


class Pipe:
    """Connects two commands that run at the same time."""

    def __init__(self, *, capacity: int = _PIPE_CAPACITY) -> None:
        self._data = bytearray()
        self._capacity = capacity
        self._waiting = False
        self._changed = asyncio.Event()
        self._written_all = False
        self._unread = False

    async def write(self, data: bytes) -> None:
        """Pass bytes to the reader; ``BrokenPipe`` once it is gone."""
        if self._unread:
            raise BrokenPipe
        self._data += data
        self._changed.set()
        while len(self._data) > self._capacity:
            await self._change()
            if self._unread:
                raise BrokenPipe

    async def read(self) -> bytes:
        """Give what was written since, or a piece of it; nothing once the writer is gone."""
        self._waiting = True
        while not self._data and not self._written_all:
            await self._change()
        self._waiting = False
        data = bytes(self._data[:_PIECE])
        del self._data[:_PIECE]
        self._changed.set()
        if self._data:
            await asyncio.sleep(0)
        return data

    def close_reading(self) -> None:
        """Let the writer's next word fail, because the reader is gone."""
        self._unread = True
        self._data.clear()
        self._changed.set()

    def close_writing(self) -> None:
        """Let the end come after what was written, because the writer is gone."""
        self._written_all = True
        self._changed.set()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for more, or has yet to take what was written."""
        return self._waiting or bool(self._data)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


class Collected:
    """An output that keeps what is written, up to what the shell can hold."""

    def __init__(self, *, limit: int = MAX_TEXT) -> None:
        self._data = bytearray()
        self._limit = limit

    async def write(self, data: bytes) -> None:
        """Keep bytes."""
        self._data += data
        if len(self._data) > self._limit:
            raise TextTooLong

    @property
    def data(self) -> bytes:
        """Everything written so far."""
        return bytes(self._data)


class Discard:
    """``/dev/null`` as an output."""

    async def write(self, data: bytes) -> None:
        """Forget bytes."""


class FileOutput:
    """A file of the device, open for writing."""

    def __init__(self, files: FileSystem, path: str) -> None:
        self._files = files
        self._path = path

    async def write(self, data: bytes) -> None:
        """Add bytes to the end of the file."""
        try:
            self._files.append(self._path, data)
        except FileSystemError as error:
            raise FileSystemError("write", reason=error.reason) from None


class ClosedOutput:
    """A descriptor that is not open for writing."""

    async def write(self, data: bytes) -> None:
        """Fail, as writing there does."""
        raise FileSystemError("write", reason="Bad file descriptor")


async def read_all(source: Input) -> bytes:
    """Read an input to its end."""
    pieces = []
    size = 0
    while data := await source.read():
        pieces.append(data)
        size += len(data)
        if size > 16 * MAX_TEXT:
            raise TextTooLong
    return b"".join(pieces)
