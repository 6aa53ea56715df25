"""The Operator's validators: whether a text has the wanted form, by Android's rules.

Patterns are written for Android's regular expressions. The few spellings that Python writes
otherwise are translated; what Python cannot express is refused like a malformed pattern.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping

_DOUBLE = re.compile(
    r"[\x00-\x20]*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)[\x00-\x20]*",
    re.ASCII,
)
_UNIT = re.compile(r"(°[CF]|[CF])\Z", re.IGNORECASE)
_VERSION = re.compile(r"\d+(\.\d+)*")

_LETTERS = "a-zA-ZªµºÀ-ÖØ-öø-ˁͰ-ϿЀ-῿Ⰰ-퟿"
_PROPERTIES: Mapping[str, str] = {
    "L": _LETTERS,
    "IsL": _LETTERS,
    "IsAlphabetic": _LETTERS,
    "Alpha": "a-zA-Z",
    "Lower": "a-z",
    "Ll": "a-zß-öø-ÿ",
    "Upper": "A-Z",
    "Lu": "A-ZÀ-ÖØ-Þ",
    "N": r"\d",
    "Nd": r"\d",
    "IsDigit": r"\d",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "XDigit": "0-9a-fA-F",
    "Punct": r"!-/:-@\[-`{-~",
    "Space": r"\s",
    "Sc": "$¢-¥֏₠-⃀",
}
_ESCAPES: Mapping[str, str] = {
    "h": r"[ \t\xa0]",
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "R": r"(?:\r\n|\s)",
}


def parse_double(text: str) -> float | None:
    """Parse a number as Java's ``toDouble`` does; None where it throws."""
    if not _DOUBLE.fullmatch(text):
        return None
    return float(text.strip("".join(map(chr, range(33)))).rstrip("fFdD"))


def is_temperature(text: str) -> bool:
    """Whether a text is a number, with or without a unit."""
    return parse_double(_UNIT.sub("", text.strip()).strip()) is not None


def is_version(text: str) -> bool:
    """Whether a text is numbers with dots in between."""
    return _VERSION.fullmatch(text) is not None


def matches(text: str, pattern: str) -> bool:
    """Whether the whole text fits the pattern."""
    return compile_pattern(pattern).fullmatch(text) is not None


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern written for Android; a malformed one is a ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about nested sets, which Android has and Python has not
        try:
            return re.compile(_translated(pattern))
        except (re.error, OverflowError, RecursionError) as problem:
            raise ValueError(f"{problem} near index 0\n{pattern}") from problem


def _translated(pattern: str) -> str:
    out: list[str] = []
    at, in_set = 0, False
    while at < len(pattern):
        piece, at = _next_piece(pattern, at, in_set)
        if piece == "[":
            in_set = True
        elif piece == "]":
            in_set = False
        out.append(piece)
    return "".join(out)


def _next_piece(pattern: str, at: int, in_set: bool) -> tuple[str, int]:
    if pattern.startswith("\\Q", at):
        end = pattern.find("\\E", at)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[at + 2 : end]), end + 2
    named = re.compile(r"\(\?<([a-zA-Z]\w*)>").match(pattern, at)
    if named and not in_set:
        return f"(?P<{named[1]}>", named.end()
    if pattern[at] != "\\":
        return pattern[at], at + 1
    back = re.compile(r"\\k<(\w+)>").match(pattern, at)
    if back:
        return f"(?P={back[1]})", back.end()
    known = re.compile(r"\\([pP])(?:\{(\w+)\}|([A-Z]))").match(pattern, at)
    if known:
        return _property(known, in_set), known.end()
    escape = pattern[at : at + 2]
    if len(escape) == 2 and not in_set:
        escape = _ESCAPES.get(escape[1], escape)
    return escape, at + 2


def _property(known: re.Match[str], in_set: bool) -> str:
    name = known[2] or known[3]
    members = _PROPERTIES.get(name)
    negated = known[1] == "P"
    if members is None or (negated and in_set):
        raise re.error(f"the property {name!r} is not supported here")
    return members if in_set else f"[{'^' if negated else ''}{members}]"
