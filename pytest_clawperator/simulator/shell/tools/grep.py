"""``grep``: the lines that match."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import Source
from pytest_clawperator.simulator.shell.tools.inputs import Inputs, line_batches
from pytest_clawperator.simulator.shell.tools.options import Options, parse_options
from pytest_clawperator.simulator.shell.tools.patterns.regex import RegexError, compile_regex

_IGNORED = ("--color", "--line-buffered")
_LINES_PER_TURN = 64


async def grep(invocation: Invocation) -> int:
    """Print the lines that match; return 0 if there were any, 1 if none, 2 after an error."""
    args = [word for word in invocation.args if word not in _IGNORED]
    options = parse_options(args, flags="EFGcinqv", values="eABC")
    operands = list(options.operands)
    if "e" not in options:
        if not operands:
            raise CommandFailure("no REGEX", status=2)
        options.values["e"] = [operands.pop(0)]
    count = 0
    inputs = Inputs(invocation, operands)
    matches = _matcher(options)
    async for name, source in inputs:
        prefix = f"{name}:" if len(operands) > 1 else ""
        found = await _search(invocation, source, prefix, options, matches)
        count += found
        if "c" in options:
            await invocation.out(f"{prefix}{found}\n")
    return 2 if inputs.status else int(not count)


def _matcher(options: Options) -> Callable[[str], bool]:
    """Return the function that chooses lines."""
    expressions = [
        _compiled(line, options) for text in options.values["e"] for line in text.split("\n")
    ]
    return lambda line: any(matches(line) for matches in expressions) != ("v" in options)


def _compiled(text: str, options: Options) -> Callable[[str], bool]:
    try:
        return compile_regex(
            text, extended="E" in options, fixed="F" in options, ignore_case="i" in options
        )
    except RegexError as error:
        raise CommandFailure(f"bad regex '{text[:100]}': {error}", status=2) from None


async def _search(
    invocation: Invocation,
    source: Source,
    prefix: str,
    options: Options,
    matches: Callable[[str], bool],
) -> int:
    """Search one file, print what is wanted of it, and return how many lines matched."""
    report = _Report(prefix, options)
    count = 0
    async for lines in line_batches(source):
        for number, raw in enumerate(lines):
            if number % _LINES_PER_TURN == 0:
                await asyncio.sleep(0)
            line = decode(raw.rstrip(b"\n"))
            found = matches(line)
            count += found
            report.add(line, found=found)
        if not options.flags & {"c", "q"}:
            await invocation.out("".join(report.lines))
        report.lines.clear()
        if count and "q" in options:
            break
    return count


class _Report:
    """The printed lines of one file, with those around them."""

    def __init__(self, prefix: str, options: Options) -> None:
        self.lines: list[str] = []
        self._prefix = prefix
        self._numbered = "n" in options
        around = options.number("C", 0)
        self._after = options.number("A", around)
        self._before: deque[tuple[int, str]] = deque(maxlen=max(0, options.number("B", around)))
        self._number = 0
        self._follow = 0
        self._last = 0

    def add(self, line: str, *, found: bool) -> None:
        """Take the next line, which matched or not."""
        self._number += 1
        if found:
            while self._before:
                self._print(*self._before.popleft(), "-")
            self._print(self._number, line, ":")
            self._follow = self._after
        elif self._follow:
            self._follow -= 1
            self._print(self._number, line, "-")
        else:
            self._before.append((self._number, line))

    def _print(self, number: int, text: str, mark: str) -> None:
        has_context = self._after or self._before.maxlen
        if has_context and self._last and number > self._last + 1:
            self.lines.append("--\n")
        self._last = number
        shown = f"{number}{mark}" if self._numbered else ""
        self.lines.append(f"{self._prefix[:-1]}{mark if self._prefix else ''}{shown}{text}\n")
