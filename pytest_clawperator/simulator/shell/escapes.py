"""Backslash escapes as the device's shell, its ``echo`` and ``printf`` read them."""

from __future__ import annotations

import re

_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_UNICODE = r"u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})"
_ANSI = re.compile(
    rf"\\(?:(?P<octal>[0-7]{{1,3}})|x(?P<hex>[0-9a-fA-F]+)|{_UNICODE}"
    r"|c(?P<control>.)|(?P<other>.))",
    re.DOTALL,
)
_ECHO = re.compile(
    rf"\\(?:0(?P<octal>[0-7]{{0,3}})|x(?P<hex>[0-9a-fA-F]{{1,2}})|{_UNICODE}|(?P<other>.))",
    re.DOTALL,
)
_PRINTF = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|(?P<other>.))", re.DOTALL
)
_PRINTF_ARGUMENT = re.compile(
    r"\\(?:0?(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|(?P<other>.))", re.DOTALL
)


def decode_ansi(text: str) -> str:
    """Decode the inside of ``$'…'``; as in a C string, NUL ends it."""
    return normalised(_ANSI.sub(_ansi, text)).partition("\0")[0]


def decode_echo(text: str) -> tuple[str, bool]:
    r"""Decode an argument of ``echo``; the second value tells that ``\c`` forbids the newline."""
    stopped = False

    def replace(match: re.Match[str]) -> str:
        nonlocal stopped
        if match["other"] == "c":
            stopped = True
            return ""
        return _plain(match, unknown="\\")

    return normalised(_ECHO.sub(replace, text)), stopped


def decode_printf(text: str, *, argument: bool = False) -> tuple[str, bool]:
    r"""Decode a format of ``printf``, or its ``%b`` argument; ``\c`` ends all output."""
    before, end, _ = _split_at_stop(text)
    pattern = _PRINTF_ARGUMENT if argument else _PRINTF
    return normalised(pattern.sub(lambda match: _plain(match, unknown="\\"), before)), bool(end)


def quoted(text: str) -> str:
    """Write a text so that the shell reads it back as one word."""
    if text and _SAFE.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def normalised(text: str) -> str:
    """Join escaped bytes that together are a character."""
    if text.isascii():
        return text
    return encode(text).decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Give the bytes of a text; bytes that are no UTF-8 come back as they came."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, say from JSON
        return text.encode("utf-8", "replace")


def decode(data: bytes) -> str:
    """Give the text of some bytes; what is no UTF-8 survives the way back."""
    return data.decode("utf-8", "surrogateescape")


def _split_at_stop(text: str) -> tuple[str, str, str]:
    match = re.search(r"(?<!\\)(?:\\\\)*(\\c)", text)
    if match is None:
        return text, "", ""
    return text[: match.start(1)], match[1], text[match.end(1) :]


def _ansi(match: re.Match[str]) -> str:
    if match["control"]:
        return chr(0x7F if match["control"] == "?" else ord(match["control"]) & 0x1F)
    return _plain(match, unknown="")


def _plain(match: re.Match[str], *, unknown: str) -> str:
    groups = match.groupdict()
    if groups["octal"] is not None:
        return _byte(int(groups["octal"] or "0", 8) & 0xFF)
    if groups["hex"]:
        value = int(groups["hex"][-8:], 16)
        return _byte(value) if value <= 0xFF else _character(value)
    digits = groups.get("short") or groups.get("long")
    if digits:
        return _character(int(digits, 16))
    letter = match["other"]
    return _LETTERS.get(letter) or ("\\" if letter == "\\" else unknown + letter)


def _byte(value: int) -> str:
    return chr(value) if value < 0x80 else chr(0xDC00 + value)


def _character(value: int) -> str:
    if value > 0xFFFF:  # the shell knows no characters beyond
        return "\ufffd"
    return decode(chr(value).encode("utf-8", "surrogatepass"))
