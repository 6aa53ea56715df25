"""The variables of a running app."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit, outer_kind
from pytest_clawperator.simulator.screen.app_files.language.values import (
    MAX_TEXT,
    Complain,
    Lookup,
    Scope,
    Value,
    as_text,
    complain,
)

_MAX_ENTRIES = 1000


class AppState:
    """What an app remembers: some of it until it is stopped, the rest until its data is cleared.

    ``complain`` gets what its file asks for and what cannot be done, each thing once until a
    variable changes: a screen is built again and again.
    """

    def __init__(self, app: App, complain: Complain = lambda message: None) -> None:
        self.app = app
        self.lookup = Scope(self._value_of, self.complain)
        self._complain = complain
        self._told: set[str] = set()
        self._memory: dict[str, Any] = {}
        self._saved: dict[str, Any] = {}
        self.clear()

    def complain(self, message: str) -> None:
        """Tell what the app's file asks for and what cannot be done."""
        if message not in self._told:
            self._told.add(message)
            self._complain(message)

    def forget(self) -> None:
        """Reset what lives in memory only, as when the process dies."""
        self._told.clear()
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

    def _value_of(self, name: str) -> Value:
        for values in (self._memory, self._saved):
            if name in values:
                value: Value = values[name]
                return value
        expression = self.app.computed.get(name)
        return "" if expression is None else expression(self.lookup)

    def assign(self, name: str, value: Value) -> None:
        """Set a variable, in the type that it was declared with; Misfit where that cannot be."""
        self._told.clear()
        home = self._memory if name in self._memory else self._saved
        if name in home:
            home[name] = coerced(value, home[name])

    def append(self, name: str, value: Value) -> None:
        """Add an entry to a list; Misfit where it is full."""
        self._told.clear()
        entries = self.lookup(name)
        if not isinstance(entries, list) or len(entries) >= _MAX_ENTRIES:
            raise Misfit(f"`{name}` takes no more: a list holds up to {_MAX_ENTRIES} entries")
        entries.append(value)

    def remove(self, name: str, index: Value) -> None:
        """Take an entry out of a list; Misfit where there is none at that index."""
        self._told.clear()
        entries = self.lookup(name)
        count = len(entries) if isinstance(entries, list) else 0
        if not isinstance(entries, list) or not isinstance(index, int) or not 0 <= index < count:
            held = f"0 to {count - 1}" if count else "none, as it is empty"
            raise Misfit(f"`{name}` has no entry {index!r}; its entries: {held}")
        del entries[index]


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


def with_locals(lookup: Lookup, values: Mapping[str, Value]) -> Lookup:
    """Return a lookup that knows ``values`` too, and asks them first."""
    if not values:
        return lookup

    def find(name: str) -> Value:
        return values[name] if name in values else lookup(name)

    return Scope(find, lambda message: complain(lookup, message))
