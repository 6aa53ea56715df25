"""Installed apps: their variables, their open pages, and what the user entered there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.apps.kinds import (
    Complain,
    Lookup,
    Misfit,
    Scope,
    Value,
    as_text,
    coerced,
    complain,
)
from pytest_clawperator.simulator.apps.schema import App, Dialog, Screen, Widget

_MAX_ENTRIES = 1000


class AppState:
    """What an app remembers: some of it until it is stopped, the rest until its data is cleared.

    ``complain`` receives what its file asks for although it cannot be done; each message once
    until a variable changes, since a screen is built again and again.
    """

    def __init__(self, app: App, complain: Complain = lambda message: None) -> None:
        self.app = app
        self.lookup = Scope(self._value_of, self.complain)
        self._complain = complain
        self._complained: set[str] = set()
        self._memory: dict[str, Any] = {}
        self._saved: dict[str, Any] = {}
        self.clear()

    def complain(self, message: str) -> None:
        """Report something that the app's file asks for although it cannot be done."""
        if message not in self._complained:
            self._complained.add(message)
            self._complain(message)

    def forget(self) -> None:
        """Reset what lives in memory only, as when the process dies."""
        self._complained.clear()
        self._memory = copy.deepcopy(dict(self.app.state))

    def clear(self) -> None:
        """Reset everything, as when the app's data is cleared."""
        self._saved = copy.deepcopy(dict(self.app.saved))
        self.forget()

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
        self._complained.clear()
        home = self._memory if name in self._memory else self._saved
        if name in home:
            home[name] = coerced(value, home[name])

    def append(self, name: str, value: Value) -> None:
        """Add an entry to a list; Misfit where it is full."""
        self._complained.clear()
        entries = self.lookup(name)
        if not isinstance(entries, list) or len(entries) >= _MAX_ENTRIES:
            raise Misfit(f"`{name}` takes no more: a list holds up to {_MAX_ENTRIES} entries")
        entries.append(value)

    def remove(self, name: str, index: Value) -> None:
        """Take an entry out of a list; Misfit where there is none at that index."""
        self._complained.clear()
        entries = self.lookup(name)
        count = len(entries) if isinstance(entries, list) else 0
        if not isinstance(entries, list) or not isinstance(index, int) or not 0 <= index < count:
            held = f"0 to {count - 1}" if count else "none, as it is empty"
            raise Misfit(f"`{name}` has no entry {index!r}; its entries: {held}")
        del entries[index]


def with_locals(lookup: Lookup, values: Mapping[str, Value]) -> Lookup:
    """Return a lookup that knows ``values`` too, and asks them first."""
    if not values:
        return lookup

    def find(name: str) -> Value:
        return values[name] if name in values else lookup(name)

    return Scope(find, lambda message: complain(lookup, message))


@dataclass(eq=False)
class Page:
    """One open screen or dialog, with what the user did to it so far."""

    package: str
    name: str
    body: Screen | Dialog
    activity: str
    opened_at: float
    lookup: Lookup
    args: dict[str, Value] = field(default_factory=dict)
    # For Android's own pages: called with the `value` of the widget that was chosen.
    choose: Callable[[str], None] | None = None
    scroll: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    checks: dict[str, bool] = field(default_factory=dict)
    dialogs: list[Page] = field(default_factory=list)
    snackbar: str | None = None
    # Measured lists, kept while nothing but the scroll position changes.
    measured: dict[tuple[str, int], tuple[int, Any]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What the widget names of this page's nodes begin with."""
        return f"{self.package}/{self.name}"

    def widget_name(self, path: str) -> str:
        """Return what the node of the widget at a path names as its widget."""
        return f"{self.package}/{self.name}/{path}"

    @property
    def title(self) -> str | None:
        """The title with its values filled in."""
        return None if self.body.title is None else self.body.title.render(self.lookup)


def path_steps(widgets: Iterable[Widget]) -> list[str]:
    """Name widgets among their siblings: by id, or by kind and position; each name once."""
    steps: dict[str, None] = {}
    for number, widget in enumerate(widgets):
        label = widget.id.constant if widget.id is not None else None
        step = label or f"{widget.kind}{number}"
        steps[step if step not in steps else f"{step}~{number}"] = None
    return list(steps)


def path_of_field(body: Screen | Dialog, name: str) -> str | None:
    """Find the path of a field by its id; None for a repeated field, which has many paths."""
    for section in ("items", "menu", "bottom"):
        found = _path_among(getattr(body, section, ()), section, name)
        if found is not None:
            return found
    return None


def _path_among(widgets: Sequence[Widget], prefix: str, name: str) -> str | None:
    for step, widget in zip(path_steps(widgets), widgets, strict=True):
        path = f"{prefix}/{step}"
        if widget.repeat is not None:
            continue
        if widget.kind == "field" and widget.id is not None and widget.id.constant == name:
            return path
        found = _path_among(widget.items, path, name)
        if found is not None:
            return found
    return None


def field_text(page: Page, path: str, widget: Widget, lookup: Lookup) -> str:
    """Return the text of a field."""
    return page.texts.get(path, "") if widget.bind is None else str(lookup(widget.bind))


def is_chosen(widget: Widget, lookup: Lookup) -> bool:
    """Return whether a radio button or tab is the one that its variable names."""
    if widget.bind is None or widget.value is None:
        return False
    return as_text(lookup(widget.bind)) == widget.value.render(lookup)


def is_checked(page: Page, path: str, widget: Widget, lookup: Lookup) -> bool:
    """Return whether a switch, checkbox, radio button or chip is on."""
    if widget.kind == "radio":
        return is_chosen(widget, lookup)
    expression = widget.checked or widget.switch or widget.checkbox
    return page.checks.get(path, False) if expression is None else bool(expression(lookup))


_DEEPEST = 200


@dataclass(eq=False)
class Task:
    """One app and its back stack; the last page of the stack is the one that shows."""

    app: App
    state: AppState
    stack: list[Page] = field(default_factory=list)
    running: bool = False
    prompt: Page | None = None

    @property
    def page(self) -> Page | None:
        """The page that shows when the app is in front."""
        return self.stack[-1] if self.stack else None

    def screen(self, name: str, values: Mapping[str, Value], *, now: float) -> Page:
        """Make the page of a screen; it is not on the stack yet."""
        screen = self.app.screens[name]
        activity = self.app.full_activity(screen.activity)
        return self._page(name, screen, activity, values, now)

    def dialog(self, name: str, values: Mapping[str, Value], *, now: float) -> Page:
        """Make the page of a dialog; it does not show yet."""
        page = self.page
        activity = self.app.full_activity() if page is None else page.activity
        return self._page(f"dialog:{name}", self.app.dialogs[name], activity, values, now)

    def _page(
        self,
        name: str,
        body: Screen | Dialog,
        activity: str,
        values: Mapping[str, Value],
        now: float,
    ) -> Page:
        args = {
            arg: self._argument(f"{name}.{arg}", values.get(arg, default), default)
            for arg, default in body.args.items()
        }
        lookup = with_locals(self.state.lookup, args)
        return Page(self.app.package, name, body, activity, now, lookup, args)

    def _argument(self, name: str, value: Value, default: Value) -> Value:
        try:
            given: Value = coerced(value, default)
        except Misfit as misfit:
            self.state.complain(f"{self.app.name}: `{name}` stays {default!r}: {misfit}")
            return default
        return given

    def push(self, page: Page) -> Page | None:
        """Put a page on top; return the one that a full stack dropped at the bottom."""
        self.stack.append(page)
        return self.stack.pop(0) if len(self.stack) > _DEEPEST else None

    def kill(self) -> None:
        """End the process: pages and whatever was only in memory are gone."""
        self.stack.clear()
        self.running = False
        self.prompt = None
        self.state.forget()
