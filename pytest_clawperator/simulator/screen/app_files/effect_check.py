"""Checks for keys of app files that can never have an effect where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.app_schema import App, Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.language.expressions import Expression
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget

Place = tuple[str | int, ...]
Problem = tuple[Place, str]

_FILLED = ("set", "add", "append", "remove")
_PARTS = ("items", "menu", "bottom")


def idle_screen(screen: Screen, place: Place) -> Iterator[Problem]:
    """Yield the keys of a screen that never have an effect."""
    if not screen.toolbar:
        for key in ("menu", "up"):
            if getattr(screen, key):
                yield (*place, key), f"`{key}` never shows: `toolbar` is false"


def idle_dialog(dialog: Dialog, place: Place) -> Iterator[Problem]:
    """Yield the keys of a dialog that never have an effect."""
    if dialog.on_cancel and not dialog.cancelable:
        yield (*place, "on_cancel"), "`on_cancel` never happens: `cancelable` is false"
    if not dialog.buttons and not dialog.cancelable and not dialog.items:
        yield (*place, "cancelable"), "nobody can ever close this dialog: it has no button"


def idle_links(app: App) -> Iterator[Problem]:
    """Yield the links that never open, because an earlier one takes the same addresses."""
    seen: dict[str, int] = {}
    for number, link in enumerate(app.links):
        pattern = link.pattern.pattern
        if pattern in seen:
            yield ("links", number, "uri"), f"link {seen[pattern] + 1} has the same `uri`"
        seen.setdefault(pattern, number)


def idle_action(action: Action, place: Place) -> Iterator[Problem]:
    """Yield why an action never does anything."""
    if action.verb == "if" and not action.then and not action.otherwise:
        yield (*place, "if"), "`if` does nothing without `then` or `else`"
    if action.verb == "after" and not action.do:
        yield (*place, "after"), "`after` does nothing without `do`"
    if action.verb in _FILLED and not getattr(action, action.verb):
        yield (*place, action.verb), f"`{action.verb}` names no variable"


def idle_widget(widget: Widget, place: Place, *, variables: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the keys of a widget that never have an effect."""
    given = widget.model_fields_set
    if widget.clickable is False:
        for key in ("on_tap", "on_double_tap"):
            if getattr(widget, key):
                yield (*place, key), f"`{key}` never happens: `clickable` is false"
    if "summary_id" in given and widget.summary is None:
        yield (*place, "summary_id"), "`summary_id` is for a row with a `summary`"
    if widget.multiline and widget.on_submit:
        message = "`on_submit` never happens: in a `multiline` field enter begins a new line"
        yield (*place, "on_submit"), message
    if widget.kind == "tab" and widget.bind is None:
        yield place, "a tab stands among the items of `tabs`, which name the variable in `bind`"
    if widget.direction == "horizontal" and "columns" in given:
        yield (*place, "columns"), "`columns` has no effect: `direction` is horizontal"
    yield from _never_shown(widget, place)
    yield from _unchangeable(widget, place, variables=variables)


def dragging(app: App) -> frozenset[str]:
    """Return which of the two keys about dragging an app uses."""
    pages = [*app.screens.values(), *app.dialogs.values()]
    widgets = [w for page in pages for part in _PARTS for w in _all(getattr(page, part, ()))]
    return frozenset(key for key in ("drag", "on_drop") if any(getattr(w, key) for w in widgets))


def _all(widgets: Iterable[Widget]) -> Iterator[Widget]:
    for widget in widgets:
        yield widget
        yield from _all(widget.items)


def idle_drag(widget: Widget, place: Place, used: frozenset[str]) -> Iterator[Problem]:
    """Yield why a widget is dragged, or waits for one that is, in vain."""
    if widget.drag is not None and "on_drop" not in used:
        yield (*place, "drag"), "`drag` leads nowhere: no widget has `on_drop`"
    if widget.on_drop and "drag" not in used:
        yield (*place, "on_drop"), "`on_drop` never happens: no widget has `drag`"


def _never_shown(widget: Widget, place: Place) -> Iterator[Problem]:
    first, last = widget.appears_after, widget.disappears_after
    if last is not None and last <= (first or 0.0):
        yield (*place, "disappears_after"), "it never shows: it disappears before it appears"


def _unchangeable(
    widget: Widget, place: Place, *, variables: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what is wrong with a switch that no tap changes, and with what waits for that."""
    states = {key: getattr(widget, key) for key in ("checked", "switch", "checkbox")}
    named = {key: state for key, state in states.items() if state is not None}
    if len(named) > 1:
        first, second, *_ = named
        yield (*place, second), f"`{first}` and `{second}` say the same thing; keep one"
    if widget.kind == "row" and widget.on_change and not named:
        yield (*place, "on_change"), "`on_change` is for a row with a `switch` or `checkbox`"
    for key, state in named.items():
        if widget.on_change and not _is_variable(state, variables):
            message = f"`on_change` never happens: `{key}` is no variable that a tap could change"
            yield (*place, "on_change"), message


def _is_variable(state: Expression, variables: Mapping[str, Any]) -> bool:
    return state.is_name and state.source.strip() in variables


def field_ids(page: Screen | Dialog) -> Counter[str]:
    """Count the fields of a page by id; a repeated field cannot be told from its copies."""
    found: Counter[str] = Counter()
    for section in _PARTS:
        found.update(_field_ids(getattr(page, section, ())))
    return found


def _field_ids(widgets: Iterable[Widget]) -> Iterator[str]:
    for widget in widgets:
        if widget.repeat is not None:
            continue
        if widget.kind == "field" and widget.id is not None and widget.id.constant is not None:
            yield widget.id.constant
        yield from _field_ids(widget.items)


def idle_focus(action: Action, fields: Mapping[str, int], place: Place) -> Iterator[Problem]:
    """Yield why `focus` finds no field, or several."""
    if action.focus is None:
        return
    count = fields.get(action.focus, 0)
    if not count:
        known = ", ".join(sorted(fields)) or "none"
        yield place, f"there is no field with the id `{action.focus}`; known: {known}"
    elif count > 1:
        yield place, f"{count} fields have the id `{action.focus}`; give each its own"
