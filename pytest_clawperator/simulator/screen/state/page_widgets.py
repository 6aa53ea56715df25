"""The widgets of an open page: how they are named, and what those that hold a value hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.language.values import Lookup, as_text
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page


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
