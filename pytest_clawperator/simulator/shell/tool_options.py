"""Options of the device's small tools, and the files they are given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.io import MAX_TEXT, Bytes, Input, Source, TextTooLong
from pytest_clawperator.simulator.shell.signals import CommandFailure

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation


@dataclass(frozen=True)
class Options:
    """What a tool was told: one-letter flags, options with values, and the operands."""

    flags: frozenset[str]
    values: Mapping[str, list[str]]
    operands: list[str]

    def __contains__(self, letter: str) -> bool:
        return letter in self.flags or letter in self.values

    def text(self, letter: str, default: str = "") -> str:
        """Give the last value of an option."""
        return self.values[letter][-1] if letter in self.values else default

    def number(self, letter: str, default: int) -> int:
        """Give the last value of an option as a number."""
        return whole_number(self.text(letter)) if letter in self.values else default


def whole_number(text: str) -> int:
    """Read a number as the tools do, or fail as they do."""
    try:
        if len(text) > 18:
            raise ValueError
        return int(text)
    except ValueError:
        raise CommandFailure(f"not integer: {text}") from None


def parse_options(
    args: Sequence[str],
    *,
    flags: str = "",
    values: str = "",
    long: Mapping[str, str] | None = None,
    least: int = 0,
    stops: bool = False,
) -> Options:
    """Take apart the arguments of a tool; ``stops`` if the first operand ends its options."""
    found: set[str] = set()
    given: dict[str, list[str]] = {}
    operands: list[str] = []
    waiting = list(args[1:])
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            operands += waiting
            break
        if word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
            letter = (long or {}).get(name)
            if letter is None:
                raise _unknown(args[0], name)
            if letter in values:
                given.setdefault(letter, []).append(
                    value if has_value else _value(args[0], letter, waiting)
                )
            else:
                found.add(letter)
        elif word.startswith("-") and len(word) > 1:
            _letters(args[0], word[1:], waiting, flags, values, found, given)
        else:
            operands.append(word)
            if stops:
                operands += waiting
                break
    if len(operands) < least:
        plural = "s" if least > 1 else ""
        raise CommandFailure(f'Needs {least} argument{plural} (see "{args[0]} --help")')
    return Options(frozenset(found), given, operands)


def _letters(
    name: str,
    letters: str,
    waiting: list[str],
    flags: str,
    values: str,
    found: set[str],
    given: dict[str, list[str]],
) -> None:
    for number, letter in enumerate(letters):
        if letter in values:
            rest = letters[number + 1 :]
            given.setdefault(letter, []).append(rest or _value(name, letter, waiting))
            return
        if letter not in flags:
            raise _unknown(name, letter)
        found.add(letter)


def _value(name: str, letter: str, waiting: list[str]) -> str:
    if not waiting:
        raise CommandFailure(f'Missing argument to -{letter} (see "{name} --help")')
    return waiting.pop(0)


def _unknown(name: str, option: str) -> CommandFailure:
    return CommandFailure(f"Unknown option '{option}' (see \"{name} --help\")")


def absolute(invocation: Invocation, path: str) -> str:
    """Give the path from the root, links and all."""
    if not path:
        raise FileSystemError(path, reason="No such file or directory")
    return path if path.startswith("/") else f"{invocation.shell.cwd}/{path}"


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
                data = self._invocation.shell.files.read(absolute(self._invocation, path))
            except FileSystemError as error:
                self.status = 1
                if not self._quiet:
                    await self._invocation.err(f"{self._name}: {path}: {error.reason}\n")
                continue
            yield path, Source(Bytes(data))


async def report(invocation: Invocation, path: str, error: FileSystemError) -> None:
    """Say what is wrong with a file."""
    await invocation.err(f"{invocation.args[0]}: {path}: {error.reason}\n")


async def line_batches(source: Input) -> AsyncIterator[list[bytes]]:
    """Give complete lines as they come, as many at once as came together."""
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
    if b"\r" not in data:
        return data.splitlines(keepends=True)
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])
