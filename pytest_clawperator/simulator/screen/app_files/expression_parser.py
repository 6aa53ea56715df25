"""Parsing and evaluating expressions: what their signs and words mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_clawperator.simulator.screen.app_files.expression_values import (
    MAX_NUMBER,
    MAX_TEXT,
    Lookup,
    Value,
    as_text,
)

Compiled = Callable[[Lookup], Value]

MAX_DEPTH = 40
KEYWORDS = frozenset({"and", "or", "not", "in", "true", "false"})

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?)
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<sign>==|!=|<=|>=|[-+*%<>()])
    )""",
    re.VERBOSE,
)


class ExpressionParser:
    """Turns the text of one expression into a function; ``names`` are the variables in it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.names: set[str] = set()
        self._tokens = self._tokenised(source)
        self._position = 0
        self._depth = 0

    def parse(self) -> Compiled:
        """Parse the whole text; a mistake is a ValueError."""
        run = self._disjunction()
        if self._position < len(self._tokens):
            raise ValueError(f"{self._next()!r} is not expected there, in {self.source!r}")
        return run

    @staticmethod
    def _tokenised(source: str) -> list[tuple[str, str]]:
        tokens: list[tuple[str, str]] = []
        position, end = 0, len(source.rstrip())
        while position < end:
            found = _TOKEN.match(source, position)
            if found is None:
                raise ValueError(
                    f"{source[position:].strip()[:20]!r} is not understood, in {source!r}; allowed:"
                    " names, numbers, 'texts', + - * %, == != < <= > >=, in, and, or, not, ( )"
                )
            kind = str(found.lastgroup)
            tokens.append((kind, found[kind]))
            position = found.end()
        return tokens

    def _next(self) -> str:
        return self._tokens[self._position][1] if self._position < len(self._tokens) else ""

    def _take(self, *words: str) -> str | None:
        if self._position < len(self._tokens):
            kind, word = self._tokens[self._position]
            if kind != "text" and word in words:
                self._position += 1
                return word
        return None

    def _disjunction(self) -> Compiled:
        left = self._conjunction()
        while self._take("or"):
            left = _either(left, self._conjunction())
        return left

    def _conjunction(self) -> Compiled:
        left = self._negation()
        while self._take("and"):
            left = _both(left, self._negation())
        return left

    def _negation(self) -> Compiled:
        if self._take("not"):
            self._descend()
            inner = self._negation()
            self._depth -= 1
            return lambda lookup: not inner(lookup)
        return self._comparison()

    def _comparison(self) -> Compiled:
        left = self._sum()
        sign = self._take("==", "!=", "<", "<=", ">", ">=", "in")
        if sign is None:
            return left
        return _combined(_COMPARISONS[sign], left, self._sum())

    def _sum(self) -> Compiled:
        left = self._product()
        while sign := self._take("+", "-"):
            left = _combined(_ARITHMETIC[sign], left, self._product())
        return left

    def _product(self) -> Compiled:
        left = self._atom()
        while sign := self._take("*", "%"):
            left = _combined(_ARITHMETIC[sign], left, self._atom())
        return left

    def _atom(self) -> Compiled:
        if self._take("-"):
            self._descend()
            inner = self._atom()
            self._depth -= 1
            return _combined(_ARITHMETIC["-"], lambda lookup: 0, inner)
        if self._take("("):
            self._descend()
            inside = self._disjunction()
            self._depth -= 1
            if not self._take(")"):
                raise ValueError(f"a parenthesis is not closed, in {self.source!r}")
            return inside
        if self._position >= len(self._tokens):
            raise ValueError(f"something is missing at the end of {self.source!r}")
        kind, word = self._tokens[self._position]
        self._position += 1
        return self._leaf(kind, word)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} deep: {self.source[:40]!r}")

    def _leaf(self, kind: str, word: str) -> Compiled:
        if kind == "number":
            number: float = float(word) if "." in word else min(int(word), MAX_NUMBER)
            return lambda lookup: number
        if kind == "text":
            text = word[1:-1]
            return lambda lookup: text
        if word in ("true", "false"):
            truth = word == "true"
            return lambda lookup: truth
        if kind != "name" or word in KEYWORDS:
            raise ValueError(f"{word!r} is not expected there, in {self.source!r}")
        name, *parts = word.split(".")
        self.names.add(name)
        if not parts:
            return lambda lookup: lookup(name)
        return lambda lookup: _part(lookup(name), parts)


def _either(left: Compiled, right: Compiled) -> Compiled:
    return lambda lookup: left(lookup) or right(lookup)


def _both(left: Compiled, right: Compiled) -> Compiled:
    return lambda lookup: left(lookup) and right(lookup)


def _combined(
    operation: Callable[[Value, Value], Value], left: Compiled, right: Compiled
) -> Compiled:
    return lambda lookup: operation(left(lookup), right(lookup))


def _part(value: Value, parts: list[str]) -> Value:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part, "")
        elif isinstance(value, (list, tuple)) and part == "count":
            value = len(value)
        else:
            return ""
    return value


def _number(value: Value) -> float:
    return value if isinstance(value, (int, float)) else 0


def _bounded(value: float) -> float:
    # Keeps `n * n` on a timer from eating the machine.
    return max(-MAX_NUMBER, min(MAX_NUMBER, value))


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _bounded(left + right)
    return (as_text(left) + as_text(right))[:MAX_TEXT]


def _remainder(left: Value, right: Value) -> Value:
    divisor = _number(right)
    return _number(left) % divisor if divisor else 0


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Value, Value], Value]:
    def compare(left: Value, right: Value) -> Value:
        alike = isinstance(left, str) == isinstance(right, str)
        plain = isinstance(left, (str, int, float)) and isinstance(right, (str, int, float))
        return alike and plain and test(left, right)

    return compare


def _is_in(left: Value, right: Value) -> Value:
    if isinstance(right, str):
        return as_text(left).casefold() in right.casefold()
    return isinstance(right, (list, tuple)) and left in right


_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _add,
    "-": lambda left, right: _bounded(_number(left) - _number(right)),
    "*": lambda left, right: _bounded(_number(left) * _number(right)),
    "%": _remainder,
}
_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": _ordered(lambda left, right: bool(left < right)),
    "<=": _ordered(lambda left, right: bool(left <= right)),
    ">": _ordered(lambda left, right: bool(left > right)),
    ">=": _ordered(lambda left, right: bool(left >= right)),
    "in": _is_in,
}
