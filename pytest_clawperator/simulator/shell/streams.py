"""Inputs and outputs of commands: memory, files, and pipes between commands."""

from __future__ import annotations

import asyncio
from typing import Protocol

from pytest_clawperator.simulator.files import FileSystem, FileSystemError

# As the kernel's: a writer further ahead of its reader than this waits.
_PIPE_CAPACITY = 64 * 1024
# Large data is read in pieces, with a turn for others between them.
_PIECE = 64 * 1024
# What the shell keeps as one text: a variable, an expansion, the output of a substitution.
MAX_TEXT = 4 * 1024 * 1024


class TextTooLong(Exception):
    """A script asks the shell to hold more text than there is room for."""


class BrokenPipe(Exception):
    """The reader of a command's output is gone."""


class Output(Protocol):
    """Where a command writes."""

    async def write(self, data: bytes) -> None:
        """Pass bytes on, waiting while the other side is busy."""


class Input(Protocol):
    """Where a command reads."""

    async def read(self) -> bytes:
        """Return the next bytes; none at the end."""


class Source:
    """An open input; what one command leaves unread is left for the next."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._buffer = b""
        self._start = 0  # what is in front of it in the buffer was read
        self._ended = False

    @classmethod
    def of(cls, source: Input) -> Source:
        """Wrap ``source``, unless it already is a Source."""
        return source if isinstance(source, Source) else cls(source)

    async def read(self) -> bytes:
        """Return the next bytes; none at the end."""
        await self._fill()
        data = self._buffer[self._start :]
        self._start = len(self._buffer)
        return data

    async def read_line(self) -> bytes:
        """Return the next line with its newline; empty at the end. Reads nothing beyond it."""
        pieces: list[bytes] = []
        size = 0
        while await self._fill():
            end = self._buffer.find(b"\n", self._start) + 1 or len(self._buffer)
            pieces.append(self._buffer[self._start : end])
            self._start = end
            size += len(pieces[-1])
            if size > MAX_TEXT:
                raise TextTooLong
            if pieces[-1].endswith(b"\n"):
                break
        return b"".join(pieces)

    async def _fill(self) -> bool:
        """Make sure that there is something to read; return False at the end."""
        if self._start == len(self._buffer) and not self._ended:
            self._buffer, self._start = await self._source.read(), 0
            self._ended = not self._buffer
        return not self._ended


class Bytes:
    """An input that holds these bytes and then ends."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        self._position = 0

    async def read(self) -> bytes:
        """Return the next piece; none at the end."""
        if self._position:
            await asyncio.sleep(0)
        piece = self._data[self._position : self._position + _PIECE]
        self._position += len(piece)
        return piece


class Pipe:
    """A pipe between two commands that run at the same time."""

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
        """Return bytes that were written; none once the writer is gone."""
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
        """Make the writer's next write fail, because the reader is gone."""
        self._unread = True
        self._data.clear()
        self._changed.set()

    def close_writing(self) -> None:
        """End the input after what was written, because the writer is gone."""
        self._written_all = True
        self._changed.set()

    @property
    def is_wanted(self) -> bool:
        """Whether a reader waits for more, or has not taken yet what was written."""
        return self._waiting or bool(self._data)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


class Collected:
    """An output that keeps what is written, up to what the shell can hold."""

    def __init__(self) -> None:
        self._data = bytearray()

    async def write(self, data: bytes) -> None:
        """Keep bytes."""
        self._data += data
        if len(self._data) > MAX_TEXT:
            raise TextTooLong

    @property
    def data(self) -> bytes:
        """Everything written so far."""
        return bytes(self._data)


class Discard:
    """``/dev/null`` as an output."""

    async def write(self, data: bytes) -> None:
        """Drop bytes."""


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
        """Raise the error of a closed descriptor."""
        raise FileSystemError("write", reason="Bad file descriptor")


def encode(text: str) -> bytes:
    """Return the bytes of a text; bytes that were not UTF-8 come back unchanged."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, for example from JSON
        return text.encode("utf-8", "replace")


def decode(data: bytes) -> str:
    """Return the text of some bytes; what is not UTF-8 survives the way back."""
    return data.decode("utf-8", "surrogateescape")
