"""Secrets in values that hold texts, such as reports."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pytest_clawperator.redaction.redaction import SECRETS, hide


def hide_in(value: Any, *, packages: Collection[str] = (), kept: Collection[str] = ()) -> Any:
    """Return the value with hidden secrets: lists, tuples and dicts are made anew.

    Objects are changed in place if their class is one of these packages; their attributes with
    names in ``kept`` are left alone.
    """
    if SECRETS.is_empty:
        return value
    return _Walk(frozenset(packages), frozenset(kept)).hidden(value)


class _Walk:
    def __init__(self, packages: frozenset[str], kept: frozenset[str]) -> None:
        self._packages = packages
        self._kept = kept
        self._changed: set[int] = set()

    def hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, list):
            return [self.hidden(one) for one in value]
        if type(value) is tuple:
            return tuple(self.hidden(one) for one in value)
        if isinstance(value, dict):
            return {self.hidden(key): self.hidden(one) for key, one in value.items()}
        if type(value).__module__.partition(".")[0] in self._packages:
            self._change(value)
        return value

    def _change(self, thing: Any) -> None:
        fields = getattr(thing, "__dict__", None)
        if fields is None or id(thing) in self._changed:
            return
        self._changed.add(id(thing))
        for name, value in list(fields.items()):
            if name not in self._kept:
                fields[name] = self.hidden(value)
