"""Splitting of a line into words, as ``read`` does."""

from __future__ import annotations

import re
from collections.abc import Iterable

BLANKS = " \t\n"
_LONE_BACKSLASH = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")


def split_line(line: str, separators: str, *, count: int, raw: bool) -> list[str]:
    """Split a line into a number of words, of which the last is the rest of the line.

    Any blanks among the separators count as one. Unless ``raw``, a backslash takes the next
    character as it is.
    """
    blanks = "".join(key for key in BLANKS if key in separators)
    blank, mark = _any_of(blanks), _any_of(key for key in separators if key not in BLANKS)
    unit = "." if raw else r"(?:\\.|[^\\])"
    field = re.compile(rf"((?:(?!{blank}|{mark}){unit})*){blank}*(?:{mark}{blank}*)?", re.DOTALL)
    if not raw and _LONE_BACKSLASH.search(line):
        line = line[:-1]
    line = line.lstrip(blanks)
    words = []
    for _ in range(count - 1):
        match = field.match(line)
        assert match is not None  # everything in it is optional
        words.append(match[1])
        line = line[match.end() :]
    alone = field.fullmatch(line)
    words.append(alone[1] if alone else _without_blanks(line, blanks, raw=raw))
    return words if raw else [re.sub(r"(?s)\\(.)", r"\1", word) for word in words]


def _any_of(characters: Iterable[str]) -> str:
    """Return an expression for one of some characters, which can be none."""
    return f"(?:{'|'.join(map(re.escape, characters)) or '(?!)'})"


def _without_blanks(text: str, blanks: str, *, raw: bool) -> str:
    """Remove blanks from the end of a text, except an escaped one."""
    shorter = text.rstrip(blanks)
    is_escaped = not raw and _LONE_BACKSLASH.search(shorter)
    return text[: len(shorter) + 1] if is_escaped else shorter
