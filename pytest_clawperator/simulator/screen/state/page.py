"""What is open on the screen: pages, which are an app's screens, its dialogs, or Android's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog, Screen, Widget
from pytest_clawperator.simulator.screen.app_files.expressions import Lookup, Value
from pytest_clawperator.simulator.screen.user_input.gestures import Drag


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
    # Android's own pages are told which widget was chosen, by its `value`.
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
        """Begin the widget paths of this page's nodes."""
        return f"{self.package}/{self.name}"

    @property
    def title(self) -> str | None:
        """Give the title with its values filled in."""
        return None if self.body.title is None else self.body.title.render(self.lookup)

    @property
    def top(self) -> Page:
        """Give the page's uppermost dialog, or the page itself."""
        return self.dialogs[-1].top if self.dialogs else self


@dataclass(frozen=True)
class Target:
    """What a node stands for: which widget of which page, and the names that are known there."""

    page: Page
    path: str
    widget: Widget
    lookup: Lookup
    enabled: bool


@dataclass(frozen=True)
class Scroller:
    """A container that can be scrolled, and how far it is and can go, in pixels."""

    target: Target
    horizontal: bool
    offset: int
    limit: int

    def can_move(self, drag: Drag) -> bool:
        """Tell whether a drag moves it: along its axis, and not yet at that end."""
        if drag.horizontal != self.horizontal:
            return False
        return self.offset < self.limit if drag.distance > 0 else self.offset > 0

    def after(self, drag: Drag) -> int:
        """Give the offset that a drag leaves it at."""
        return max(0, min(self.limit, self.offset + drag.reach))


def path_step(widget: Widget, number: int) -> str:
    """Name a widget among its siblings: by its id, or by its kind and place."""
    label = widget.id.constant if widget.id is not None else None
    return label or f"{widget.kind}{number}"


def path_of_field(body: Screen | Dialog, name: str) -> str | None:
    """Find the path of a field by its id; fields that are repeated have no single path."""
    for section in ("items", "menu", "bottom"):
        found = _path_among(getattr(body, section, ()), section, name)
        if found is not None:
            return found
    return None


def _path_among(widgets: Iterable[Widget], prefix: str, name: str) -> str | None:
    for number, widget in enumerate(widgets):
        path = f"{prefix}/{path_step(widget, number)}"
        if widget.repeat is not None:
            continue
        if widget.kind == "field" and widget.id is not None and widget.id.constant == name:
            return path
        found = _path_among(widget.items, path, name)
        if found is not None:
            return found
    return None
