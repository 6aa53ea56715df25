"""The kinds of values in app files, and which of them fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_clawperator.simulator.screen.app_files.language.values import Value


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
