"""``sed`` for the plain cases: substitute, delete, print, transliterate and quit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.escapes import decode, encode
from pytest_clawperator.simulator.shell.io import Collected, Output, Source
from pytest_clawperator.simulator.shell.regex import Match, Regex, RegexError
from pytest_clawperator.simulator.shell.signals import CommandFailure
from pytest_clawperator.simulator.shell.tool_options import (
    Inputs,
    absolute,
    line_batches,
    parse_options,
)

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_ADDRESS = re.compile(r"\s*(?:(\d+)|(\$)|/((?:[^/\\]|\\.)*)/(I?)|\\(.)(.*?)\5(I?))", re.DOTALL)
_FLAGS = re.compile(r"[gpIi0-9]*")
_REFERENCE = re.compile(r"\\(.)|(&)", re.DOTALL)


@dataclass(frozen=True)
class _Address:
    """Which lines are meant: a number, the last one, or those that match."""

    number: int | None = None
    last: bool = False
    pattern: Regex | None = None

    def fits(self, line: str, number: int, *, last: bool) -> bool:
        if self.number is not None:
            return number == self.number
        if self.last:
            return last
        assert self.pattern is not None
        return self.pattern.is_in(line)


@dataclass
class _Command:
    """One command of the script; ``active`` while its range of lines lasts."""

    letter: str
    first: _Address | None
    second: _Address | None
    negated: bool
    pattern: Regex | None = None
    replacement: str = ""
    flags: str = ""
    table: dict[int, str] = field(default_factory=dict)
    active: bool = False

    def applies(self, line: str, number: int, *, last: bool) -> bool:
        return self._selected(line, number, last=last) != self.negated

    def _selected(self, line: str, number: int, *, last: bool) -> bool:
        if self.first is None:
            return True
        if self.second is None:
            return self.first.fits(line, number, last=last)
        if self.active:
            ended = self.second.number is not None and number >= self.second.number
            self.active = not (ended or self.second.fits(line, number, last=last))
            return self.second.number is None or number <= self.second.number
        if not self.first.fits(line, number, last=last):
            return False
        self.active = self.second.number is None or self.second.number > number
        return True


async def sed(invocation: Invocation) -> int:
    """Edit text line by line."""
    options = parse_options(
        invocation.args, flags="nEri", values="e", long={"regexp-extended": "E"}
    )
    operands = list(options.operands)
    scripts = options.values.get("e", [])
    if not scripts:
        if not operands:
            raise CommandFailure("no pattern")
        scripts = [operands.pop(0)]
    try:
        commands = _Script("\n".join(scripts), extended="E" in options or "r" in options).read()
        editor = _Editor(commands, silent="n" in options)
        if "i" in options:
            return await _in_place(invocation, editor, operands)
        inputs = Inputs(invocation, operands)
        async for _, source in inputs:
            await editor.edit(source, invocation.stdout)
        await editor.finish(invocation.stdout)
        return inputs.status
    except RegexError as error:
        raise CommandFailure(f"bad regex '{scripts[0]}': {error}") from None


async def _in_place(invocation: Invocation, editor: _Editor, paths: list[str]) -> int:
    inputs = Inputs(invocation, paths)
    async for name, source in inputs:
        output = Collected()
        editor.restart()
        await editor.edit(source, output)
        await editor.finish(output)
        path = absolute(invocation, name)
        mode = invocation.shell.files.stat(path).mode
        invocation.shell.files.write(path, output.data, mode=mode & 0o7777)
    return inputs.status


class _Editor:
    """Runs the commands over lines; one line is held back, because only then the last is known."""

    def __init__(self, commands: list[_Command], *, silent: bool) -> None:
        self._commands = commands
        self._silent = silent
        self._held: bytes | None = None
        self._number = 0
        self._done = False
        self._printed: list[str] = []
        self._needs_last = any(
            address is not None and address.last
            for command in commands
            for address in (command.first, command.second)
        )

    def restart(self) -> None:
        """Begin a new file."""
        self._held, self._number, self._done = None, 0, False

    async def edit(self, source: Source, output: Output) -> None:
        """Edit what a source gives."""
        async for lines in line_batches(source):
            for line in lines:
                if self._held is not None:
                    self._line(self._held, last=False)
                    self._held = None
                if self._done:
                    break
                if self._needs_last or not line.endswith(b"\n"):
                    self._held = line
                else:
                    self._line(line, last=False)
            await self._flush(output)
            if self._done:
                return

    async def finish(self, output: Output) -> None:
        """Edit the last line."""
        if self._held is not None and not self._done:
            self._line(self._held, last=True)
        await self._flush(output)

    async def _flush(self, output: Output) -> None:
        if self._printed:
            await output.write(encode("".join(self._printed)))
            self._printed.clear()

    def _line(self, raw: bytes, *, last: bool) -> None:
        self._number += 1
        end = "\n" if raw.endswith(b"\n") else ""
        line = decode(raw[: len(raw) - len(end)])
        for command in self._commands:
            if not command.applies(line, self._number, last=last):
                continue
            if command.letter == "d":
                return
            if command.letter == "p":
                self._printed.append(line + "\n")
            elif command.letter == "=":
                self._printed.append(f"{self._number}\n")
            elif command.letter == "y":
                line = line.translate(command.table)
            elif command.letter == "s":
                line, replaced = _substituted(line, command)
                if replaced and "p" in command.flags:
                    self._printed.append(line + end)
            elif command.letter == "q":
                self._done = True
                break
        if not self._silent:
            self._printed.append(line + end)


def _substituted(line: str, command: _Command) -> tuple[str, bool]:
    assert command.pattern is not None
    count = int(re.sub(r"\D", "", command.flags)[:6] or "1")
    pieces: list[str] = []
    position = 0
    for number, match in enumerate(command.pattern.matches(line), 1):
        if number < count:
            continue
        pieces += line[position : match.start], _filled(command.replacement, match)
        position = match.end
        if "g" not in command.flags:
            break
    return "".join([*pieces, line[position:]]), bool(pieces)


def _filled(replacement: str, match: Match) -> str:
    def fill(reference: re.Match[str]) -> str:
        letter = reference[1]
        if letter is None:
            return match.text
        if letter.isdecimal():
            groups = match.groups()
            return groups[int(letter)] if int(letter) < len(groups) else ""
        return {"n": "\n", "t": "\t"}.get(letter, letter)

    return _REFERENCE.sub(fill, replacement)


class _Script:
    """Reads the text of a script."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._position = 0
        self._extended = extended
        self._previous: Regex | None = None

    def read(self) -> list[_Command]:
        """Give the commands."""
        commands = []
        while self._skip(" \t\n;"):
            if self._text[self._position] == "#":
                end = self._text.find("\n", self._position)
                self._position = len(self._text) if end < 0 else end
                continue
            commands.append(self._command())
        return commands

    def _skip(self, characters: str) -> bool:
        while self._position < len(self._text) and self._text[self._position] in characters:
            self._position += 1
        return self._position < len(self._text)

    def _bad(self) -> CommandFailure:
        position = min(self._position, max(0, len(self._text) - 1))
        return CommandFailure(
            f"bad pattern '{self._text}'@{position} ({self._text[position : position + 1]})"
        )

    def _command(self) -> _Command:
        first = self._address()
        second = None
        if first is not None and self._skip(" \t") and self._text[self._position] == ",":
            self._position += 1
            second = self._address()
            if second is None:
                raise self._bad()
        negated = False
        while self._skip(" \t") and self._text[self._position] == "!":
            self._position += 1
            negated = True
        letter = self._text[self._position : self._position + 1]
        if not letter or letter not in "sdpqy=":
            raise self._bad()
        self._position += 1
        command = _Command(letter, first, second, negated)
        if letter == "s":
            self._substitution(command)
        elif letter == "y":
            source, target = self._delimited(2)
            if len(source) != len(target):
                raise self._bad()
            command.table = dict(zip(map(ord, source), target, strict=True))
        if self._skip(" \t") and self._text[self._position] not in ";\n}#":
            raise self._bad()
        return command

    def _address(self) -> _Address | None:
        match = _ADDRESS.match(self._text, self._position)
        if match is None:
            return None
        self._position = match.end()
        if match[1]:
            return _Address(number=int(match[1][:9]))
        if match[2]:
            return _Address(last=True)
        text, flag = (match[3], match[4]) if match[3] is not None else (match[6], match[7])
        return _Address(pattern=self._regex(text.replace("\\/", "/"), ignore_case=flag == "I"))

    def _regex(self, text: str, *, ignore_case: bool) -> Regex:
        """Compile an expression; the empty one means the one before."""
        if not text and self._previous is not None:
            return self._previous
        self._previous = Regex(text, extended=self._extended, ignore_case=ignore_case)
        return self._previous

    def _delimited(self, count: int) -> list[str]:
        """Read so many texts between delimiters of any kind."""
        delimiter = self._text[self._position : self._position + 1]
        if not delimiter or delimiter in "\\\n":
            raise self._bad()
        self._position += 1
        found = []
        text = re.compile(rf"((?:[^\\{re.escape(delimiter)}]|\\.)*){re.escape(delimiter)}", re.S)
        for _ in range(count):
            match = text.match(self._text, self._position)
            if match is None:
                raise self._bad()
            self._position = match.end()
            plain = match[1].replace("\\" + delimiter, delimiter) if delimiter != "&" else match[1]
            found.append(plain)
        return found

    def _substitution(self, command: _Command) -> None:
        expression, command.replacement = self._delimited(2)
        flags = _FLAGS.match(self._text, self._position)
        assert flags
        self._position = flags.end()
        command.flags = flags.group()
        ignore_case = "i" in command.flags.lower()
        command.pattern = self._regex(expression, ignore_case=ignore_case)
