"""The shell's ``read``: one line of input into variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_clawperator.simulator.shell.escapes import decode
from pytest_clawperator.simulator.shell.expansion import ShellFailure
from pytest_clawperator.simulator.shell.io import Source

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_WHITESPACE = " \t\n"


async def read(invocation: Invocation) -> int:
    """Read a line and split it into variables; the status tells whether there was one."""
    arguments = invocation.args[1:]
    raw, count, names = False, None, ["REPLY"]
    while arguments and arguments[0].startswith("-") and len(arguments[0]) > 1:
        option = arguments.pop(0)
        if option == "--":
            break
        raw = raw or "r" in option
        if option[-1] in "nN" and arguments and arguments[0].isdecimal():
            count = int(arguments.pop(0)[:6])
        elif option.strip("-rn0123456789N"):
            raise ShellFailure(f"read: {option}: unknown option")
    names = arguments or names
    source = Source.of(invocation.stdin)
    if count is None:
        characters, complete = await _line(source, raw=raw)
    else:
        characters, complete = await _some(source, count)
    separators = invocation.shell.get("IFS")
    separators = _WHITESPACE if separators is None else separators
    if names == ["REPLY"]:
        values = [_text(characters)]
    else:
        values = _split(characters, separators, len(names))
    for name, value in zip(names, values, strict=True):
        invocation.shell.put(name.partition("?")[0], value)
    return int(not complete)


_Characters = list[tuple[str, bool]]
"""The characters of a line, and whether a backslash protects each from splitting."""


async def _line(source: Source, *, raw: bool) -> tuple[_Characters, bool]:
    characters: _Characters = []
    while True:
        line = decode((await source.read_line()).replace(b"\0", b""))
        complete = line.endswith("\n")
        line = line[:-1] if complete else line
        if raw:
            characters += ((character, False) for character in line)
            return characters, complete
        escaped = False
        for character in line:
            if character == "\\" and not escaped:
                escaped = True
                continue
            characters.append((character, escaped))
            escaped = False
        if not (escaped and complete):
            return characters, complete


async def _some(source: Source, count: int) -> tuple[_Characters, bool]:
    data = b""
    while len(data) < count and b"\n" not in data:
        more = await source.read()
        if not more:
            break
        data += more
    text = decode(data.partition(b"\n")[0])[:count]
    used = len(text.encode("utf-8", "surrogateescape"))
    ended = len(text) < count and b"\n" in data
    source.put_back(data[used + ended :])
    return [(character, False) for character in text], bool(data)


def _split(characters: _Characters, separators: str, count: int) -> list[str]:
    """Give so many fields; what is left over stays together in the last."""
    white = {separator for separator in separators if separator in _WHITESPACE}
    visible = set(separators) - white
    position = _past(characters, 0, white)
    values: list[str] = []
    while True:
        start = position
        while position < len(characters) and not _is_in(characters[position], white | visible):
            position += 1
        field = _text(characters[start:position])
        end = position
        position = _past(characters, position, white)
        if position < len(characters) and _is_in(characters[position], visible):
            position = _past(characters, position + 1, white)
        if len(values) < count - 1:
            values.append(field)
            continue
        if position < len(characters):
            end = len(characters)
            while end > start and _is_in(characters[end - 1], white):
                end -= 1
        return [*values, _text(characters[start:end])]


def _past(characters: _Characters, position: int, separators: set[str]) -> int:
    while position < len(characters) and _is_in(characters[position], separators):
        position += 1
    return position


def _text(characters: _Characters) -> str:
    return "".join(character for character, _ in characters)


def _is_in(character: tuple[str, bool], separators: set[str]) -> bool:
    return not character[1] and character[0] in separators
