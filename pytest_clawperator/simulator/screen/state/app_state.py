"""The variables of a running app."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.app_files.expression_values import (
    MAX_TEXT,
    Lookup,
    Value,
    as_text,
)

_MAX_ENTRIES = 1000


class AppState:
    """What an app remembers: some of it until it is stopped, the rest until its data is cleared."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._memory: dict[str, Any] = {}
        self._saved: dict[str, Any] = {}
        self.clear()

    def forget(self) -> None:
        """Reset what lives in memory only, as when the process dies."""
        self._memory = copy.deepcopy(dict(self.app.state))

    def clear(self) -> None:
        """Reset everything, as when the app's data is cleared."""
        self._saved = copy.deepcopy(dict(self.app.saved))
        self.forget()

    def kept(self) -> dict[str, Any]:
        """Return the variables in a form that can be stored."""
        return {"memory": copy.deepcopy(self._memory), "saved": copy.deepcopy(self._saved)}

    def bring_back(self, kept: Mapping[str, Any], *, running: bool) -> None:
        """Take over variables that were kept; those in memory only of an app that was running."""
        self._saved.update(kept["saved"])
        if running:
            self._memory.update(kept["memory"])

    def adopt(self, other: AppState) -> None:
        """Take over what another version of the app had saved, where it still fits."""
        for name, value in other._saved.items():
            if name in self._saved and type(value) is type(self._saved[name]):
                self._saved[name] = value

    def lookup(self, name: str) -> Value:
        """Return the value of a variable or computed name; empty text where there is none."""
        for values in (self._memory, self._saved):
            if name in values:
                value: Value = values[name]
                return value
        expression = self.app.computed.get(name)
        return "" if expression is None else expression(self.lookup)

    def assign(self, name: str, value: Value) -> None:
        """Set a variable; the value takes the type that the variable was declared with."""
        home = self._memory if name in self._memory else self._saved
        if name in home:
            home[name] = coerced(value, home[name])

    def append(self, name: str, value: Value) -> None:
        """Add an entry to a list."""
        entries = self.lookup(name)
        if isinstance(entries, list) and len(entries) < _MAX_ENTRIES:
            entries.append(value)

    def remove(self, name: str, index: Value) -> None:
        """Take an entry out of a list; nothing happens where there is none at that index."""
        entries = self.lookup(name)
        if isinstance(entries, list) and isinstance(index, int) and 0 <= index < len(entries):
            del entries[index]


def coerced(value: Value, like: Any) -> Any:
    """Return a value converted to the type of another; the other itself where that cannot be."""
    if isinstance(like, bool):
        return bool(value) and value != "false"
    if isinstance(like, (int, float)):
        return _as_number(value, like)
    if isinstance(like, list):
        return list(value) if isinstance(value, (list, tuple)) else []
    return as_text(value)[:MAX_TEXT]


def _as_number(value: Value, like: float) -> float:
    if isinstance(value, (int, float)):
        return value
    try:
        return int(str(value)) if isinstance(like, int) else float(str(value))
    except ValueError:
        return like


def with_locals(lookup: Lookup, values: Mapping[str, Value]) -> Lookup:
    """Return a lookup that knows ``values`` too, and asks them first."""
    if not values:
        return lookup

    def find(name: str) -> Value:
        return values[name] if name in values else lookup(name)

    return find
