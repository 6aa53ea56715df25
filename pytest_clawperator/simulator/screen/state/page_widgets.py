"""The widgets of an open page: how they are named, and what those that hold a value hold."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.expression_values import Lookup, as_text
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page


def path_step(widget: Widget, number: int) -> str:
    """Return a widget's name among its siblings: its id, or its kind and position."""
    label = widget.id.constant if widget.id is not None else None
    return label or f"{widget.kind}{number}"


def path_of_field(body: Screen | Dialog, name: str) -> str | None:
    """Find the path of a field by its id; None for a repeated field, which has many paths."""
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


def field_text(page: Page, path: str, widget: Widget, lookup: Lookup) -> str:
    """Return the text of a field."""
    return page.texts.get(path, "") if widget.bind is None else str(lookup(widget.bind))


def is_chosen(widget: Widget, lookup: Lookup) -> bool:
    """Whether a radio button or tab is the one that its variable names."""
    if widget.bind is None or widget.value is None:
        return False
    return as_text(lookup(widget.bind)) == widget.value.render(lookup)


def is_checked(page: Page, path: str, widget: Widget, lookup: Lookup) -> bool:
    """Whether a switch, checkbox, radio button or chip is on."""
    if widget.kind == "radio":
        return is_chosen(widget, lookup)
    expression = widget.checked or widget.switch or widget.checkbox
    return page.checks.get(path, False) if expression is None else bool(expression(lookup))
