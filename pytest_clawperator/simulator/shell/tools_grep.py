"""``grep``: the lines that match."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystem, FileSystemError
from pytest_clawperator.simulator.shell.escapes import decode, encode
from pytest_clawperator.simulator.shell.io import Source
from pytest_clawperator.simulator.shell.regex import Regex, RegexError
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import (
    Inputs,
    Options,
    absolute,
    line_batches,
    parse_options,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_LONG = {
    "color": "G",
    "count": "c",
    "extended-regexp": "E",
    "fixed-strings": "F",
    "ignore-case": "i",
    "invert-match": "v",
    "line-number": "n",
    "max-count": "m",
    "only-matching": "o",
    "quiet": "q",
    "recursive": "r",
    "regexp": "e",
    "word-regexp": "w",
}


async def grep(invocation: Invocation) -> int:
    """Print the lines that match: 0 if there were any, 1 if none, 2 after trouble."""
    options = parse_options(
        invocation.args, flags="EFGHLRachilnoqrsvwx", values="eABCm", long=_LONG
    )
    operands = list(options.operands)
    patterns = options.values.get("e", [])
    if not patterns:
        if not operands:
            raise CommandFailure("no REGEX", status=2)
        patterns = [operands.pop(0)]
    search = _Search(invocation, options, _compiled(invocation, options, patterns))
    recursive = "r" in options or "R" in options
    if recursive:
        operands = list(_below(invocation, operands or ["."]))
    search.names = (len(operands) > 1 or recursive or "H" in options) and "h" not in options
    inputs = Inputs(invocation, operands, quiet="s" in options)
    try:
        async for name, source in inputs:
            if await search.file("(standard input)" if name == "-" else name, source):
                return 0
    except RegexError as error:
        raise CommandFailure(f"bad regex '{patterns[0]}': {error}", status=2) from None
    return 2 if inputs.status else int(not search.found)


def _compiled(invocation: Invocation, options: Options, patterns: list[str]) -> list[Regex]:
    name = invocation.args[0]
    expressions = []
    for pattern in patterns:
        for line in pattern.split("\n"):
            try:
                expressions.append(
                    Regex(
                        line,
                        extended="E" in options or name == "egrep",
                        fixed="F" in options or name == "fgrep",
                        ignore_case="i" in options,
                        words="w" in options,
                        whole_lines="x" in options,
                    )
                )
            except RegexError as error:
                raise CommandFailure(f"bad regex '{line}': {error}", status=2) from None
    return expressions


def _below(invocation: Invocation, paths: list[str]) -> Iterator[str]:
    """Give the files under folders, in order."""
    files: FileSystem = invocation.shell.files
    waiting = [(path, 0) for path in reversed(paths)]
    while waiting:
        path, depth = waiting.pop()
        try:
            names = files.listdir(absolute(invocation, path)) if depth < 40 else []
        except FileSystemError:
            yield path
            continue
        waiting += [(f"{path.rstrip('/')}/{name}", depth + 1) for name in reversed(names)]


class _Search:
    """One run over any number of files."""

    def __init__(self, invocation: Invocation, options: Options, patterns: list[Regex]) -> None:
        self.found = False
        self.names = False
        self._invocation = invocation
        self._options = options
        self._patterns = patterns
        around = options.number("C", 0)
        self._after = options.number("A", around)
        self._before = options.number("B", around)

    async def file(self, name: str, source: Source) -> bool:
        """Search one file; True if the answer is known and nothing more need be read."""
        options = self._options
        most = options.number("m", -1)
        listing = "l" in options or "L" in options
        report = _Report(f"{name}:" if self.names else "", options, self._before, self._after)
        count = 0
        async for lines in line_batches(source):
            for position, raw in enumerate(lines):
                if count == most:
                    for unread in reversed(lines[position:]):
                        source.put_back(unread)
                    break
                line = decode(raw.rstrip(b"\n"))
                matched = any(pattern.is_in(line) for pattern in self._patterns)
                matched = matched != ("v" in options)
                count += matched
                if matched and "q" in options:
                    return True
                if not ("c" in options or listing):
                    report.add(line, self._shown(line) if matched else None)
            await self._flush(report)
            if count == most or (count and listing):
                break
        self.found = self.found or bool(count) != ("L" in options)
        if "c" in options:
            await self._invocation.out(f"{report.name}{count}\n")
        elif listing and bool(count) == ("l" in options):
            await self._invocation.out(f"{name}\n")
        return False

    async def _flush(self, report: _Report) -> None:
        if report.lines and "q" not in self._options:
            await self._invocation.stdout.write(encode("".join(report.lines)))
        report.lines.clear()

    def _shown(self, line: str) -> list[str]:
        if "o" not in self._options or "v" in self._options:
            return [line]
        spans = sorted(
            (match.start, -match.end, match.text)
            for pattern in self._patterns
            for match in pattern.matches(line)
            if match.end > match.start
        )
        shown, position = [], 0
        for start, end, text in spans:
            if start >= position:
                shown.append(text)
                position = -end
        return shown


class _Report:
    """The printed lines of one file, with those around them."""

    def __init__(self, name: str, options: Options, before: int, after: int) -> None:
        self.lines: list[str] = []
        self.name = name
        self._numbered = "n" in options
        self._number = 0
        self._recent: deque[tuple[int, str]] = deque(maxlen=max(0, before))
        self._after = after
        self._follow = 0
        self._last = 0
        self._separated = before > 0 or after > 0

    def add(self, line: str, shown: list[str] | None) -> None:
        """Take the next line; ``shown`` is what to print of it if it matched."""
        self._number += 1
        if shown is not None:
            for number, text in self._recent:
                self._print(number, text, "-")
            self._recent.clear()
            for text in shown:
                self._print(self._number, text, ":")
            self._follow = self._after
        elif self._follow:
            self._follow -= 1
            self._print(self._number, line, "-")
        else:
            self._recent.append((self._number, line))

    def _print(self, number: int, text: str, mark: str) -> None:
        if self._separated and self._last and number > self._last + 1:
            self.lines.append("--\n")
        self._last = number
        name = self.name[:-1] + mark if self.name else ""
        self.lines.append(f"{name}{f'{number}{mark}' if self._numbered else ''}{text}\n")
