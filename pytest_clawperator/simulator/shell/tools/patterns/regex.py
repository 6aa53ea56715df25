"""Regular expressions of ``grep``, basic and extended."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_clawperator.simulator.shell.tools.patterns.automaton import (
    Automaton,
    Builder,
    Context,
    Part,
    TooManyNodes,
)
from pytest_clawperator.simulator.shell.tools.patterns.characters import CLASSES

_MAX_PATTERN = 1000
_MAX_COUNT = 255
_TOKEN = re.compile(r"\[\^?\]?(?:\[:[^\]]*:\]|(?!\[:)[^\]])*\]|\\?.", re.DOTALL)
_CLASS = re.compile(r"\[:([^\]]*):\]")
_COUNTS = re.compile(r"\{(?=,?[0-9])([0-9]{0,9})(,?)([0-9]{0,9})\}", re.ASCII)
_LONGEST_COUNTS = 24
_CONDITIONS: dict[str, Callable[[Context], bool]] = {
    "^": lambda context: context.is_start,
    "$": lambda context: context.is_end,
    "\\b": lambda context: context.after_word != context.before_word,
    "\\B": lambda context: context.after_word == context.before_word,
    "\\<": lambda context: context.before_word and not context.after_word,
    "\\>": lambda context: context.after_word and not context.before_word,
}


class RegexError(Exception):
    """The expression is malformed, too big, or not supported."""


def compile_regex(
    text: str, *, extended: bool = False, fixed: bool = False, ignore_case: bool = False
) -> Callable[[str], bool]:
    """Return a function that says whether an expression matches in a line."""
    if fixed:
        pattern = re.compile(re.escape(text), _flags(ignore_case=ignore_case))
        return lambda line: pattern.search(line) is not None
    if len(text) > _MAX_PATTERN:
        raise RegexError("too long")
    tokens = _TOKEN.findall(text)
    parser = _Parser(tokens, extended=extended, ignore_case=ignore_case)
    try:
        return Automaton(parser.whole()).matches
    except TooManyNodes:
        raise RegexError("too many repetitions") from None
    except RecursionError:
        raise RegexError("nested too deeply") from None


def _flags(*, ignore_case: bool) -> re.RegexFlag:
    return re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else re.RegexFlag(0))


def _from_basic(tokens: list[str]) -> list[str]:
    """Translate the tokens of a basic expression into those of an extended one."""
    translated: list[str] = []
    for number, sign in enumerate(tokens):
        before = tokens[max(0, number - 1) : number]
        begins = before in ([], ["\\("], ["\\|"])
        ends = tokens[number + 1 : number + 2] in ([], ["\\)"], ["\\|"])
        if sign in tuple("(){}|+?"):
            translated.append(f"\\{sign}")
        elif len(sign) == 2 and sign[1] in "(){}|+?":
            translated.append(sign[1])
        elif (
            (sign == "^" and not begins)
            or (sign == "$" and not ends)
            or (sign == "*" and (begins or translated[-1] == "^"))
        ):
            translated.append(f"\\{sign}")
        else:
            translated.append(sign)
    return translated


class _Parser:
    """Recursive descent over the tokens of an expression."""

    def __init__(self, tokens: list[str], *, extended: bool, ignore_case: bool) -> None:
        self._tokens = (tokens if extended else _from_basic(tokens))[::-1]  # the next one is last
        self._basic = not extended
        self._flags = _flags(ignore_case=ignore_case)
        self._build = Builder()

    def whole(self) -> Part:
        """Parse everything."""
        part = self._choice()
        if self._tokens:
            raise RegexError("unmatched )")
        return part

    def _choice(self) -> Part:
        parts = [self._sequence()]
        while self._next() == "|":
            self._tokens.pop()
            parts.append(self._sequence())
        return self._build.choice(parts)

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._next() not in ("", "|", ")"):
            first = self._next()
            if self._counts() is not None:
                raise RegexError(f"nothing to repeat before {first}")
            part = self._single(self._tokens.pop())
            while (counts := self._counts()) is not None:
                part = self._build.repetition(part, *counts)
            parts.append(part)
        return self._build.sequence(parts)

    def _next(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def _counts(self) -> tuple[int, int | None] | None:
        """Read a repetition, if one is next."""
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._next())
        if simple is not None:
            self._tokens.pop()
            return simple
        if self._next() != "{":
            return None
        match = _COUNTS.match("".join(self._tokens[:-_LONGEST_COUNTS:-1]))
        if match is None:
            if self._basic:
                raise RegexError("bad repetition count")
            return None  # a character like any other
        del self._tokens[-len(match[0]) :]
        low = int(match[1] or "0")
        high = (int(match[3]) if match[3] else None) if match[2] else low
        if not low <= (low if high is None else high) <= _MAX_COUNT:
            raise RegexError("bad repetition count")
        return low, high

    def _single(self, sign: str) -> Part:
        """Parse what one repetition can follow."""
        if sign == "(":
            part = self._choice()
            if not self._tokens:
                raise RegexError("unmatched (")
            self._tokens.pop()
            return part
        if sign in ("[", "\\"):
            raise RegexError("unmatched [" if sign == "[" else "backslash at the end")
        if sign in _CONDITIONS:
            return self._build.condition(_CONDITIONS[sign])
        if sign[0] == "\\" and sign[1] in "123456789":
            raise RegexError(f"{sign} is not supported by the simulated grep")
        if sign[0] == "[":
            python = _set(sign)
        elif sign == "." or (sign[0] == "\\" and sign[1] in "dDsSwW"):
            python = sign
        else:
            python = re.escape(sign[-1])
        try:
            return self._build.character(re.compile(python, self._flags).match)
        except re.error:
            raise RegexError(f"bad range in {sign}") from None


def _set(text: str) -> str:
    """Translate a set in brackets."""
    negated = "^" if text.startswith("[^") else ""
    members = ""
    for number, part in enumerate(_CLASS.split(text[1 + len(negated) : -1])):
        if number % 2 and part not in CLASSES:
            raise RegexError(f"unknown class [:{part}:]")
        members += (
            re.escape(CLASSES[part])
            if number % 2
            else re.sub(r"([\\\[\]&~|^]|-(?=-))", r"\\\1", part)
        )
    return f"[{negated}{members}]"
