"""Open pages: an app's screens and dialogs, or Android's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.language.values import Lookup, Value


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
