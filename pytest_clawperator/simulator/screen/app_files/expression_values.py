"""The values of expressions, and how they are shown as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Value = bool | int | float | str | Sequence[Any] | Mapping[str, Any]
Lookup = Callable[[str], Value]

MAX_TEXT = 20_000
MAX_NUMBER = 2**63 - 1


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
