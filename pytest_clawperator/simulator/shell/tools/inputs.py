"""The files that a tool reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import TextTooLong
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, Input, Source, open_file


def absolute(invocation: Invocation, path: str) -> str:
    """Return the path from the root, links not followed."""
    if not path:
        raise FileSystemError(path, reason="No such file or directory")
    return path if path.startswith("/") else f"{invocation.shell.cwd}/{path}"


async def report(invocation: Invocation, path: str, error: FileSystemError) -> None:
    """Write what is wrong with a file to standard error."""
    await invocation.err(f"{invocation.args[0]}: {path}: {error.reason}\n")


class Inputs:
    """The files a tool reads, or standard input; missing ones are reported and skipped."""

    def __init__(
        self,
        invocation: Invocation,
        paths: Sequence[str],
        *,
        quiet: bool = False,
        name: str | None = None,
    ) -> None:
        self._invocation = invocation
        self._paths = list(paths) or ["-"]
        self._quiet = quiet
        self._name = name or invocation.args[0]
        self.status = 0

    async def __aiter__(self) -> AsyncIterator[tuple[str, Source]]:
        for path in self._paths:
            if path == "-":
                yield path, Source.of(self._invocation.stdin)
                continue
            try:
                files = self._invocation.shell.files
                opened = open_file(files, absolute(self._invocation, path))
            except FileSystemError as error:
                self.status = 1
                if not self._quiet:
                    await self._invocation.err(f"{self._name}: {path}: {error.reason}\n")
                continue
            yield path, Source(opened)


async def line_batches(source: Input) -> AsyncIterator[list[bytes]]:
    """Yield complete lines as they come, as many at once as came together."""
    rest = b""
    while data := await source.read():
        rest += data
        if len(rest) > 16 * MAX_TEXT:
            raise TextTooLong
        lines = split_lines(rest)
        rest = b"" if rest.endswith(b"\n") else lines.pop()
        if lines:
            yield lines
    if rest:
        yield [rest]


def split_lines(data: bytes) -> list[bytes]:
    """Split after newlines, and only there."""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])
