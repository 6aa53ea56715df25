"""The signs between two values of an expression: what they do, and with which kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.simulator.screen.app_files.language.kinds import (
    ANYTHING,
    LIST,
    NUMBER,
    RECORD,
    TEXT,
    TRUTH,
    Kind,
    Misfit,
    outer_kind,
)
from pytest_clawperator.simulator.screen.app_files.language.values import (
    MAX_NUMBER,
    MAX_TEXT,
    Value,
    as_text,
)

_CONVERT = "`set` a variable that holds a number to the text first: that converts it"


@dataclass(frozen=True)
class Sign:
    """A sign: how it is computed, and the kind of its result, or a Misfit where there is none.

    ``instead`` is the value where the kinds do not fit; a strict one complains while it runs.
    """

    symbol: str
    compute: Callable[[Any, Any], Value]
    kind: Callable[[str, Kind, Kind], Kind]
    instead: Value = False
    strict: bool = True

    def result(self, left: Kind, right: Kind) -> Kind:
        """Return the kind of the result; Misfit where these kinds do not fit together."""
        return self.kind(self.symbol, left, right)

    def run(self, left: Value, right: Value) -> Value:
        """Return the value; Misfit where these values do not fit together."""
        if self.strict:
            self.result(outer_kind(left), outer_kind(right))
        return self.compute(left, right)


def _bounded(value: float) -> float:
    # Keeps `n * n` on a timer from eating the machine.
    return max(-MAX_NUMBER, min(MAX_NUMBER, value))


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _bounded(left + right)
    return (as_text(left) + as_text(right))[:MAX_TEXT]


def _remainder(left: float, right: float) -> Value:
    if not right:
        raise Misfit("the remainder of a division by 0")
    return left % right


def _is_in(left: Value, right: Value) -> Value:
    if isinstance(right, str):
        return as_text(left).casefold() in right.casefold()
    return isinstance(right, (list, tuple)) and left in right


# -- Kinds of results ----------------------------------------------------------------------------


def _sum(symbol: str, left: Kind, right: Kind) -> Kind:
    if ANYTHING in (left, right):
        return ANYTHING
    return NUMBER if all(kind in (NUMBER, TRUTH) for kind in (left, right)) else TEXT


def _number(symbol: str, left: Kind, right: Kind) -> Kind:
    for kind in (left, right):
        if kind not in (NUMBER, TRUTH, ANYTHING):
            hint = f"; {_CONVERT}" if kind == TEXT else ""
            raise Misfit(f"`{symbol}` needs numbers, found {kind}{hint}")
    return NUMBER


def _order(symbol: str, left: Kind, right: Kind) -> Kind:
    return _comparable(symbol, left, right, known=(NUMBER, TEXT))


def _equality(symbol: str, left: Kind, right: Kind) -> Kind:
    return _comparable(symbol, left, right, known=(NUMBER, TEXT, TRUTH))


def _comparable(symbol: str, left: Kind, right: Kind, *, known: tuple[Kind, ...]) -> Kind:
    if ANYTHING in (left, right):
        return TRUTH
    if left.name != right.name or left.name not in {kind.name for kind in known}:
        hint = (
            f"; {_CONVERT}" if sorted((left.name, right.name)) == [NUMBER.name, TEXT.name] else ""
        )
        raise Misfit(f"`{symbol}` compares two values of one kind, found {left} and {right}{hint}")
    return TRUTH


def _contained(symbol: str, left: Kind, right: Kind) -> Kind:
    if right.name not in (TEXT.name, LIST, ANYTHING.name) or left.name in (LIST, RECORD):
        raise Misfit(f"`in` looks for a value in a text or list, found {left} and {right}")
    return TRUTH


_ARITHMETIC = (
    Sign("+", _add, _sum),
    Sign("-", lambda left, right: _bounded(left - right), _number, instead=0),
    Sign("*", lambda left, right: _bounded(left * right), _number, instead=0),
    Sign("%", _remainder, _number, instead=0),
)
# Whether two values are equal may be asked of any two: an absent part is an empty text.
_COMPARISONS = (
    Sign("==", lambda left, right: left == right, _equality, strict=False),
    Sign("!=", lambda left, right: left != right, _equality, strict=False),
    Sign("<", lambda left, right: bool(left < right), _order),
    Sign("<=", lambda left, right: bool(left <= right), _order),
    Sign(">", lambda left, right: bool(left > right), _order),
    Sign(">=", lambda left, right: bool(left >= right), _order),
    Sign("in", _is_in, _contained),
)
SIGNS = {sign.symbol: sign for sign in (*_ARITHMETIC, *_COMPARISONS)}
