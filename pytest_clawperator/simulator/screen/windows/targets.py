"""What nodes stand for: the widget behind a node, and how far a container is scrolled."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.simulator.screen.app_files.language.values import Lookup
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page


@dataclass(frozen=True, eq=False)
class Target:
    """The widget behind a node: which one of which page, and the names known to it."""

    page: Page
    path: str
    widget: Widget
    lookup: Lookup
    enabled: bool


@dataclass(frozen=True, eq=False)
class Scroller:
    """A container that can be scrolled: how far it is scrolled and can be, in pixels."""

    target: Target
    horizontal: bool
    offset: int
    limit: int
