"""The values of expressions, how they are found by name, and how they are shown as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """Tell whoever owns the names that something could not be done with their values."""
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
