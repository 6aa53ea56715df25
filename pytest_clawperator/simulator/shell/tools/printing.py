"""``echo`` and ``printf``, and the backslash escapes they decode."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode, encode
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation

_LETTERS = {
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_END = re.compile(r"(?<!\\)((?:\\\\)*)\\c")
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|(?P<other>.))", re.DOTALL
)
_ECHO_ESCAPE = re.compile(
    r"\\(?:0(?P<octal>[0-7]{0,3})|x(?P<hex>[0-9a-fA-F]{1,2})|(?P<other>.))", re.DOTALL
)
_ECHO_OPTION = re.compile(r"-[neE]+\Z")
_CONVERSION = re.compile(r"%(-?0?[0-9]{0,3}(?:\.[0-9]{0,3})?)(.?)", re.DOTALL)
_NUMBER = re.compile(r"\s*([+-]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}))\s*\Z", re.ASCII)


async def echo(invocation: Invocation) -> int:
    """Print the arguments; like Android's, it decodes backslash escapes by default."""
    arguments = invocation.args[1:]
    newline, escapes = True, True
    while arguments and _ECHO_OPTION.match(arguments[0]):
        option = arguments.pop(0)
        newline = newline and "n" not in option
        escapes = option.rfind("e") >= option.rfind("E") if option.strip("-n") else escapes
    text = " ".join(arguments)
    if escapes:
        text, ends = decode_escapes(text, zero_octal=True)
        newline = newline and not ends
    try:
        await invocation.out(text + "\n" if newline else text)
    except FileSystemError:  # it fails without a message
        return 1
    return 0


async def printf(invocation: Invocation) -> int:
    """Print arguments in a format, as often as there are arguments for it."""
    if len(invocation.args) < 2:
        raise CommandFailure('Needs 1 argument (see "printf --help")')
    _, form, *arguments = invocation.args
    text, ends = decode_escapes(form)
    while True:
        count = len(arguments)
        printed = _CONVERSION.sub(lambda match: _converted(match, arguments), text)
        await invocation.out(printed)
        if ends or not arguments or len(arguments) == count:
            return 0


def _converted(match: re.Match[str], arguments: list[str]) -> str:
    """Return one conversion of a format; it takes the next argument."""
    form, letter = match.groups()
    if letter == "%":
        return "%"
    if letter not in tuple("bcdiosuxX"):
        raise CommandFailure(f"bad %{letter}")
    argument = arguments.pop(0) if arguments else ""
    if letter == "b":
        argument, _ = decode_escapes(argument)
    if letter in "bcs":
        return f"%{form}s" % (argument[:1] if letter == "c" else argument)
    number = _NUMBER.match(argument)
    if number is None and argument:
        raise CommandFailure(f"bad %{letter} {argument}")
    value = int(number[1], 16 if "x" in argument.lower() else 10) if number else 0
    return f"%{form}{'d' if letter in 'iu' else letter}" % value


def decode_escapes(text: str, *, zero_octal: bool = False) -> tuple[str, bool]:
    r"""Decode escapes; return the text and whether ``\c`` ends the output there.

    Octal digits follow the backslash, or with ``zero_octal`` a zero, as in ``echo``.
    """
    end = _END.search(text)
    if end:
        text = text[: end.end(1)]
    decoded = (_ECHO_ESCAPE if zero_octal else _ESCAPE).sub(_replaced, text)
    # Escaped bytes that together are a character are joined.
    return decode(encode(decoded)), end is not None


def _replaced(match: re.Match[str]) -> str:
    if match["other"]:
        return _LETTERS.get(match["other"], match[0])
    value = int(match["hex"], 16) if match["hex"] else int(match["octal"] or "0", 8) & 0xFF
    return chr(value) if value < 0x80 else chr(0xDC00 + value)
