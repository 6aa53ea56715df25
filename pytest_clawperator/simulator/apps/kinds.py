"""The values in app files: their kinds, their operators, and how they are shown as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = bool | int | float | str | Sequence[Any] | Mapping[str, Any]
Lookup = Callable[[str], Value]
Complain = Callable[[str], None]
MAX_TEXT = 20_000
MAX_NUMBER = 2**63 - 1


class Scope:
    """A lookup that also takes complaints about what expressions could not do."""

    __slots__ = ("_find", "complain")

    def __init__(self, find: Lookup, complain: Complain) -> None:
        self._find = find
        self.complain = complain

    def __call__(self, name: str) -> Value:
        """Return the value of a name; empty text where there is none."""
        return self._find(name)


def complain(lookup: Lookup, message: str) -> None:
    """Report that something could not be done with the values, to the owner of the names."""
    if isinstance(lookup, Scope):
        lookup.complain(message)


def as_text(value: Value) -> str:
    """Return the text that an app shows for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_NUMBER:
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(entry) for entry in value)
    if isinstance(value, Mapping):
        return ", ".join(as_text(entry) for entry in value.values())
    return str(value)


class Misfit(ValueError):
    """A value of a kind with which something cannot be done."""


@dataclass(frozen=True)
class Kind:
    """What is known of a value before an app runs.

    ``parts`` are the kinds of a record's parts, ``entry`` that of each entry of a list.
    """

    name: str
    parts: Mapping[str, Kind] = field(default_factory=dict)
    entry: Kind | None = None

    def __str__(self) -> str:
        return self.name


NUMBER = Kind("a number")
TEXT = Kind("a text")
TRUTH = Kind("a boolean")
ANYTHING = Kind("anything")
LIST = "a list"
RECORD = "a record"
Kinds = Mapping[str, Kind]


def outer_kind(value: Value) -> Kind:
    """Return the kind of a value, without a look into it."""
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, str):
        return TEXT
    return Kind(RECORD) if isinstance(value, Mapping) else Kind(LIST)


def kind_of(value: Value) -> Kind:
    """Return the kind of a value and of everything in it."""
    if isinstance(value, Mapping):
        return Kind(RECORD, parts={str(part): kind_of(entry) for part, entry in value.items()})
    if isinstance(value, (list, tuple)):
        return Kind(LIST, entry=merged([kind_of(entry) for entry in value]))
    return outer_kind(value)


def merged(kinds: Iterable[Kind]) -> Kind:
    """Return what is known of a value that is of one of these kinds."""
    found = list(kinds)
    names = {kind.name for kind in found}
    if names == {RECORD}:
        parts = {part for kind in found for part in kind.parts}
        return Kind(
            RECORD,
            parts={
                part: merged([kind.parts[part] for kind in found if part in kind.parts])
                for part in parts
            },
        )
    if names == {LIST}:
        return Kind(LIST, entry=merged([kind.entry or ANYTHING for kind in found]))
    return found[0] if len(names) == 1 else ANYTHING


def part_of(kind: Kind, part: str) -> Kind:
    """Return the kind of a part, as in ``item.price``; Misfit where there is no such part."""
    if kind.name == RECORD:
        if part in kind.parts:
            return kind.parts[part]
        raise Misfit(f"there is no part `{part}`; its parts: {', '.join(sorted(kind.parts))}")
    if kind.name == LIST:
        if part == "count":
            return NUMBER
        raise Misfit(f"a list has no part `{part}`, only `count`")
    if kind == ANYTHING:
        return ANYTHING
    raise Misfit(f"{kind} has no parts, and `.{part}` is one")


def check_fits(kind: Kind, home: Kind) -> None:
    """Raise a Misfit if a value of a kind can never be assigned to a variable of another.

    Texts become numbers where they look like one, which is known only when the app runs.
    """
    if ANYTHING in (kind, home) or home == TEXT or kind.name == home.name:
        return
    if home == NUMBER and kind in (TEXT, TRUTH):
        return
    if home == TRUTH and kind in (TEXT, NUMBER):
        return
    raise Misfit(f"it holds {home}, and {kind} does not fit")


def coerced(value: Value, like: Any) -> Any:
    """Return a value converted to the type of another; Misfit where that cannot be."""
    if isinstance(like, bool):
        return bool(value) and value != "false"
    if isinstance(like, (int, float)):
        return _as_number(value, like)
    if isinstance(like, list):
        if not isinstance(value, (list, tuple)):
            raise Misfit(f"a list is wanted, found {outer_kind(value)}: {value!r}")
        return list(value)
    return as_text(value)[:MAX_TEXT]


def _as_number(value: Value, like: float) -> float:
    if isinstance(value, (int, float)):
        return value
    try:
        return int(str(value)) if isinstance(like, int) else float(str(value))
    except ValueError:
        whole = "a whole number" if isinstance(like, int) else "a number"
        raise Misfit(f"{whole} is wanted, found {outer_kind(value)}: {value!r}") from None


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
