"""The parts of a parsed expression: each has a value, and a kind that is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.app_files.language.kinds import (
    ANYTHING,
    TRUTH,
    Kind,
    Kinds,
    Misfit,
    kind_of,
    merged,
    part_of,
)
from pytest_clawperator.simulator.screen.app_files.language.signs import Sign
from pytest_clawperator.simulator.screen.app_files.language.values import (
    Lookup,
    Value,
    complain,
)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an expression; ``kind`` raises a Misfit for what can never work."""

    value: Callable[[Lookup], Value]
    kind: Callable[[Kinds], Kind]


def constant(value: Value) -> Part:
    """Return a number, text or boolean that is written out."""
    kind = kind_of(value)
    return Part(lambda lookup: value, lambda kinds: kind)


def variable(name: str, parts: Sequence[str]) -> Part:
    """Return a name, or a part of what has that name."""
    if not parts:
        return Part(lambda lookup: lookup(name), lambda kinds: kinds.get(name, ANYTHING))

    def kind(kinds: Kinds) -> Kind:
        found = kinds.get(name, ANYTHING)
        for part in parts:
            found = part_of(found, part)
        return found

    return Part(lambda lookup: _part(lookup(name), parts), kind)


def _part(value: Value, parts: Sequence[str]) -> Value:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part, "")
        elif isinstance(value, (list, tuple)) and part == "count":
            value = len(value)
        else:
            return ""
    return value


def negation(inner: Part) -> Part:
    """Return ``not …``."""

    def kind(kinds: Kinds) -> Kind:
        inner.kind(kinds)
        return TRUTH

    return Part(lambda lookup: not inner.value(lookup), kind)


def either(left: Part, right: Part) -> Part:
    """Return ``… or …``."""
    return Part(
        lambda lookup: left.value(lookup) or right.value(lookup),
        lambda kinds: merged([left.kind(kinds), right.kind(kinds)]),
    )


def both(left: Part, right: Part) -> Part:
    """Return ``… and …``."""
    return Part(
        lambda lookup: left.value(lookup) and right.value(lookup),
        lambda kinds: merged([left.kind(kinds), right.kind(kinds)]),
    )


def combined(sign: Sign, left: Part, right: Part, *, told: Callable[[str], str]) -> Part:
    """Return two parts with a sign between; ``told`` words a complaint about their values."""

    def value(lookup: Lookup) -> Value:
        first, second = left.value(lookup), right.value(lookup)
        try:
            return sign.run(first, second)
        except Misfit as misfit:
            complain(lookup, told(f"{misfit} ({first!r} {sign.symbol} {second!r})"))
            return sign.instead

    return Part(value, lambda kinds: sign.result(left.kind(kinds), right.kind(kinds)))
