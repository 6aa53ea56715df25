"""Regular expressions of ``grep``, basic and extended, as Python's.

Python tries choices one after the other, which can take for ever. So repeated groups are
refused, and so is a long line whose characters many repetitions could share in too many ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import comb

_MAX_PATTERN = 1000
_MAX_TRIES = 30_000_000
_TOKEN = re.compile(r"\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]|\\?.", re.DOTALL)
_CLASSES = {"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "space": r"\s"}
_LITERAL = re.compile(r"\[.|\\[^1-9<>]", re.DOTALL)
_UNSUPPORTED = re.compile(r"\(\?|\)[*+{]|[*+?}][*+?{]|\\[1-9<>]")


class RegexError(Exception):
    """The expression is malformed, or too complex."""


def compile_regex(
    text: str, *, extended: bool = False, fixed: bool = False, ignore_case: bool = False
) -> Callable[[str], bool]:
    """Return a function that says whether an expression matches in a line."""
    if len(text) > _MAX_PATTERN and not fixed:
        raise RegexError("regular expression too big")
    python, loops = (re.escape(text), 0) if fixed else _translated(text, extended=extended)
    try:
        flags = re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0)
        pattern = re.compile(python, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise RegexError(str(error)) from None

    def matches(line: str) -> bool:
        # The start and the end of each repetition can be chosen in so many ways.
        if loops and comb(len(line) + 1, loops + 1) > _MAX_TRIES:
            raise RegexError(f"too complex for a line of {len(line)} characters")
        return pattern.search(line) is not None

    return matches


def _translated(text: str, *, extended: bool) -> tuple[str, int]:
    """Return the expression for Python, and how many repetitions it has."""
    tokens = _TOKEN.findall(text)
    if not extended:
        tokens = [_from_basic(token) for token in tokens]
        tokens[1:] = [{"^": "\\^"}.get(token, token) for token in tokens[1:]]
        tokens[:-1] = [{"$": "\\$"}.get(token, token) for token in tokens[:-1]]
    # A set or an escaped character is one character like any other.
    shape = "".join("x" if _LITERAL.match(token) else token for token in tokens)
    if "[" in tokens:
        raise RegexError("Unmatched [")
    if _UNSUPPORTED.search(shape):
        raise RegexError("not supported by the simulated grep")
    python = "".join(_set(token) if len(token) > 2 else token for token in tokens)
    return python, sum(shape.count(sign) for sign in "*+}")


def _from_basic(token: str) -> str:
    """Translate a token of a basic expression, where the operators are the escaped ones."""
    if token[-1] not in "(){}|+?" or token.startswith("["):
        return token
    return token[1] if len(token) == 2 else f"\\{token}"


def _set(text: str) -> str:
    """Translate a set in brackets."""
    negated = "^" if text.startswith("[^") else ""
    parts = re.split(r"\[:([a-z]+):\]", text[1 + len(negated) : -1])
    members = [
        _CLASSES.get(part, "") if number % 2 else re.sub(r"([\\\[\]&~|^]|-(?=-))", r"\\\1", part)
        for number, part in enumerate(parts)
    ]
    return f"[{negated}{''.join(members)}]"
