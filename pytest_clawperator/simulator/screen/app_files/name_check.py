"""Checks beyond the schema: names must be declared, values must fit, keys must do something."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.simulator.screen.app_files.action_schema import Action, Fetch, Opening
from pytest_clawperator.simulator.screen.app_files.app_schema import App, Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.declared_kinds import (
    check_assigned,
    declared_kinds,
)
from pytest_clawperator.simulator.screen.app_files.effect_check import (
    dragging,
    field_ids,
    idle_action,
    idle_dialog,
    idle_drag,
    idle_focus,
    idle_links,
    idle_screen,
    idle_widget,
)
from pytest_clawperator.simulator.screen.app_files.language.expressions import Expression, Template
from pytest_clawperator.simulator.screen.app_files.language.kinds import (
    ANYTHING,
    NUMBER,
    Kind,
    Kinds,
    Misfit,
    kind_of,
)
from pytest_clawperator.simulator.screen.app_files.widget_schema import DROPPED, MAX_REPEAT, Widget

Place = tuple[str | int, ...]
Problem = tuple[Place, str]

_EXPRESSIONS = (
    "visible_if", "enabled_if", "selected_if", "checked", "switch", "checkbox", "repeat", "filter",
)  # fmt: skip
_TEMPLATES = ("text", "id", "desc", "summary", "value", "title_id", "summary_id", "drag")
_WIDGET_ACTIONS = (
    "on_tap", "on_long_press", "on_double_tap", "on_swipe_left", "on_swipe_right", "on_change",
    "on_submit", "on_scroll", "on_end",
)  # fmt: skip
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}


def problems_of(app: App) -> list[Problem]:
    """List every name that is not declared, every value that cannot fit, every idle key."""
    return list(_Check(app).whole())


@dataclass
class _Check:
    app: App
    variables: dict[str, Any] = field(init=False)
    kinds: dict[str, Kind] = field(init=False)
    # Which of the keys about dragging the app uses.
    dragging: frozenset[str] = field(init=False)
    # The fields of the page that is looked at, by id, and its args.
    fields: Mapping[str, int] = field(init=False, default_factory=dict)
    args: Mapping[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.variables = {**self.app.state, **self.app.saved}
        self.kinds = declared_kinds(self.app)
        self.dragging = dragging(self.app)

    def whole(self) -> Iterator[Problem]:
        app = self.app
        yield from self._declarations()
        yield from self._screen_named(app.start, ("start",))
        for action, name in app.intents.items():
            yield from self._screen_named(name, ("intents", action))
        for number, link in enumerate(app.links):
            place: Place = ("links", number)
            yield from self._screen_named(link.screen, (*place, "screen"))
            kinds = {**self.kinds, **dict.fromkeys(link.parameters, ANYTHING)}
            yield from self._values(link.values, kinds, (*place, "with"))
            given = dict.fromkeys(link.parameters, None) | dict(link.values)
            yield from self._args(app.screens.get(link.screen), given, kinds, place)
        yield from idle_links(app)
        for name, screen in app.screens.items():
            yield from self._screen(screen, ("screens", name))
        for name, dialog in app.dialogs.items():
            yield from self._dialog(dialog, ("dialogs", name))

    def _declarations(self) -> Iterator[Problem]:
        for section, declared in (("state", self.app.state), ("saved", self.app.saved)):
            for name, value in declared.items():
                if type(value) not in _TYPES:
                    allowed = "true or false, a number, a text or a list"
                    yield (section, name), f"`{name}` cannot hold {value!r}; allowed: {allowed}"
        for name in sorted(set(self.app.state) & set(self.app.saved)):
            yield ("saved", name), f"`{name}` is declared in `state` too; keep one of them"
        earlier = {name: self.kinds[name] for name in self.variables}
        for name, expression in self.app.computed.items():
            if name in self.variables:
                yield ("computed", name), f"`{name}` is a variable too; keep one of them"
            # Only what stands above, so that two of them cannot ask each other for ever.
            yield from _misuse(expression, earlier, ("computed", name))
            earlier[name] = self.kinds[name]

    def _screen(self, screen: Screen, place: Place) -> Iterator[Problem]:
        yield from idle_screen(screen, place)
        self.fields, self.args = field_ids(screen), screen.args
        names = {**self.kinds, **{name: kind_of(value) for name, value in screen.args.items()}}
        if screen.title is not None:
            yield from _misuse(screen.title, names, (*place, "title"))
        for part in ("menu", "items", "bottom"):
            yield from self._widgets(getattr(screen, part), names, (*place, part))
        for part in ("on_open", "on_back"):
            yield from self._actions(getattr(screen, part), names, (*place, part))
        for number, timer in enumerate(screen.timers):
            at = (*place, "timers", number)
            if timer.condition is not None:
                yield from _misuse(timer.condition, names, (*at, "if"))
            yield from self._actions(timer.do, names, (*at, "do"))

    def _dialog(self, dialog: Dialog, place: Place) -> Iterator[Problem]:
        yield from idle_dialog(dialog, place)
        # What a dialog does later may happen on any screen.
        elsewhere = [field_ids(screen) for screen in self.app.screens.values()]
        self.fields = {name: 1 for found in elsewhere for name in found} | field_ids(dialog)
        self.args = dialog.args
        names = {**self.kinds, **{name: kind_of(value) for name, value in dialog.args.items()}}
        for part in ("title", "text"):
            template = getattr(dialog, part)
            if template is not None:
                yield from _misuse(template, names, (*place, part))
        yield from self._widgets(dialog.items, names, (*place, "items"))
        yield from self._actions(dialog.on_cancel, names, (*place, "on_cancel"))
        for number, button in enumerate(dialog.buttons):
            at = (*place, "buttons", number)
            yield from _misuse(button.button, names, (*at, "button"))
            yield from self._actions(button.do, names, (*at, "do"))

    def _widgets(
        self, widgets: Iterable[Widget], names: Kinds, place: Place, *, scrolled: bool = False
    ) -> Iterator[Problem]:
        for number, widget in enumerate(widgets):
            yield from self._widget(widget, names, (*place, number), scrolled=scrolled)

    def _widget(
        self, widget: Widget, names: Kinds, place: Place, *, scrolled: bool
    ) -> Iterator[Problem]:
        if widget.repeat is not None:
            yield from _misuse(widget.repeat, names, (*place, "repeat"))
            yield from _times(widget.repeat, names, (*place, "repeat"))
            names = {**names, **_repeated(widget.repeat, names)}
        for part in (*_EXPRESSIONS, *_TEMPLATES):
            value: Expression | Template | None = getattr(widget, part)
            if value is not None and part != "repeat":
                yield from _misuse(value, names, (*place, part))
        yield from self._binding(widget, names, place)
        yield from idle_widget(widget, place, variables=self.variables)
        yield from idle_drag(widget, place, self.dragging)
        scrolls = widget.kind in ("list", "scroll")
        if scrolls and scrolled and widget.direction == "vertical" and widget.height is None:
            yield place, f"a {widget.kind} inside something that scrolls needs a `height`"
        for part in _WIDGET_ACTIONS:
            yield from self._actions(getattr(widget, part), names, (*place, part))
        yield from self._actions(widget.on_drop, {**names, DROPPED: ANYTHING}, (*place, "on_drop"))
        inside = scrolled or (scrolls and widget.direction == "vertical")
        yield from self._widgets(widget.items, names, (*place, "items"), scrolled=inside)

    def _binding(self, widget: Widget, names: Kinds, place: Place) -> Iterator[Problem]:
        needed = {"radio": ("bind", "value"), "tabs": ("bind",), "tab": ("value",)}
        for part in needed.get(widget.kind, ()):
            if getattr(widget, part) is None:
                yield place, f"a {widget.kind} needs `{part}`"
        if widget.kind == "tabs" and any(item.kind != "tab" for item in widget.items):
            yield (*place, "items"), "the items of `tabs` are all of the kind `tab`"
        if widget.bind is not None:
            kinds = (str,) if widget.kind == "field" else (str, int, float, bool)
            yield from self._variable(widget.bind, kinds, (*place, "bind"))
            if widget.value is not None and widget.bind in self.variables:
                home = self.variables[widget.bind]
                yield from _unfit(widget.value, home, names, (*place, "value"))
        for part in ("switch", "checkbox", "checked"):
            expression: Expression | None = getattr(widget, part)
            if expression is not None and expression.is_name:
                name = expression.source.strip()
                if name in self.variables:
                    yield from self._variable(name, (bool,), (*place, part))

    def _actions(self, actions: Iterable[Action], names: Kinds, place: Place) -> Iterator[Problem]:
        for number, action in enumerate(actions):
            yield from self._action(action, names, (*place, number))

    def _action(self, action: Action, names: Kinds, place: Place) -> Iterator[Problem]:
        at = (*place, action.verb)
        yield from idle_action(action, place)
        yield from idle_focus(action, self.fields, at)
        yield from self._changes(action, names, at)
        for opening in (action.navigate, action.replace, action.root):
            if opening is not None:
                yield from self._opening(opening, self.app.screens, "screen", names, at)
        if action.dialog is not None:
            yield from self._opening(action.dialog, self.app.dialogs, "dialog", names, at)
        for template in (action.toast, action.snackbar, action.open_uri, action.crash):
            if template is not None:
                yield from _misuse(template, names, at)
        if action.condition is not None:
            yield from _misuse(action.condition, names, at)
        if action.request_permission is not None:
            yield from self._request(action, names, at)
        if action.fetch is not None:
            yield from self._fetch(action.fetch, names, at)
        yield from self._actions(action.do, names, (*place, "do"))
        yield from self._actions(action.then, names, (*place, "then"))
        yield from self._actions(action.otherwise, names, (*place, "else"))

    def _request(self, action: Action, names: Kinds, at: Place) -> Iterator[Problem]:
        request = action.request_permission
        assert request is not None
        if request.permission not in self.app.permissions:
            listed = ", ".join(self.app.permissions) or "none"
            yield at, f"`{request.permission}` is not among the app's `permissions`: {listed}"
        yield from self._actions(request.on_granted, names, (*at, "on_granted"))
        yield from self._actions(request.on_denied, names, (*at, "on_denied"))

    def _fetch(self, fetch: Fetch, names: Kinds, at: Place) -> Iterator[Problem]:
        yield from _misuse(fetch.url, names, (*at, "url"))
        if fetch.into is not None:
            yield from self._variable(fetch.into, (str, int, float, bool), (*at, "into"))
        yield from self._actions(fetch.on_answer, names, (*at, "on_answer"))
        yield from self._actions(fetch.on_failure, names, (*at, "on_failure"))

    def _changes(self, action: Action, names: Kinds, at: Place) -> Iterator[Problem]:
        for name, value in (action.set or {}).items():
            yield from self._variable(name, (object,), (*at, name))
            if isinstance(value, (list, dict)) and value != []:
                yield (*at, name), "a list can be set to `[]` only; use `append` to fill it"
        for name, value in (action.append or {}).items():
            yield from self._variable(name, (list,), (*at, name))
            if value == []:
                yield (*at, name), "an entry is a text, a number or a mapping, not a list"
        try:
            values = action.values
        except ValueError as error:
            yield at, str(error)
        else:
            yield from self._values(values, names, at)
            # Of lists only `[]`, which is checked above.
            for name in (name for name, given in (action.set or {}).items() if given != []):
                value = values[name]
                if name in self.variables and isinstance(value, Template):
                    yield from _unfit(value, self.variables[name], names, (*at, name))
        for changed, kinds in ((action.add, (int, float)), (action.remove, (list,))):
            for name, expression in (changed or {}).items():
                yield from self._variable(name, kinds, (*at, name))
                yield from _misuse(expression, names, (*at, name))
                yield from _no_number(expression, names, (*at, name))
        if action.toggle is not None:
            yield from self._variable(action.toggle, (bool,), at)

    def _values(self, values: Mapping[str, Any], names: Kinds, place: Place) -> Iterator[Problem]:
        for name, value in values.items():
            for template in value.values() if isinstance(value, Mapping) else (value,):
                yield from _misuse(template, names, (*place, name))

    def _opening(
        self,
        opening: Opening,
        targets: Mapping[str, Screen] | Mapping[str, Dialog],
        what: str,
        names: Kinds,
        place: Place,
    ) -> Iterator[Problem]:
        if opening.to not in targets:
            yield place, _no_such(what, opening.to, targets)
        yield from self._values(opening.values, names, (*place, "with"))
        yield from self._args(targets.get(opening.to), opening.values, names, place)

    def _args(
        self,
        target: Screen | Dialog | None,
        given: Mapping[str, Template | None],
        names: Kinds,
        place: Place,
    ) -> Iterator[Problem]:
        for name, value in sorted(given.items()) if target is not None else ():
            assert target is not None
            if name not in target.args:
                yield place, f"`{name}` is not among the `args` there: {_listed(target.args)}"
            elif value is not None:
                yield from _unfit(value, target.args[name], names, (*place, "with", name))

    def _screen_named(self, name: str, place: Place) -> Iterator[Problem]:
        if name not in self.app.screens:
            yield place, _no_such("screen", name, self.app.screens)

    def _variable(self, name: str, kinds: tuple[type, ...], place: Place) -> Iterator[Problem]:
        if name in self.args:
            message = f"`{name}` is one of the `args` here, which cannot be changed"
            yield place, f"{message}; rename it or the variable"
        elif name not in self.variables:
            yield place, _no_such("variable", name, self.variables)
        elif kinds != (object,) and type(self.variables[name]) not in kinds:
            wanted = " or ".join(dict.fromkeys(_TYPES[kind] for kind in kinds))
            found = _TYPES.get(type(self.variables[name]), "something else")
            yield place, f"`{name}` must hold {wanted} for this, but holds {found}"


def _repeated(repeat: Expression, names: Kinds) -> dict[str, Kind]:
    """Return what a repeated widget knows besides: its number, and its entry of a list."""
    try:
        entry = repeat.kind(names).entry or ANYTHING
    except Misfit:
        entry = ANYTHING
    return {"index": NUMBER, "number": NUMBER, "item": entry}


def _times(repeat: Expression, names: Kinds, place: Place) -> Iterator[Problem]:
    """Check how often a widget is repeated: by a list, or by a number within bounds."""
    try:
        kind = repeat.kind(names).name
    except Misfit:
        return  # told already
    if kind in ("a text", "a boolean", "a record"):
        yield place, f"`repeat` needs a list or a number, found {kind}"
    elif not repeat.names:
        times = repeat(lambda name: "")
        if not isinstance(times, int) or not 0 <= times <= MAX_REPEAT:
            yield place, f"`repeat` is {times}; allowed: 0 to {MAX_REPEAT}, or a variable's name"


def _misuse(value: Expression | Template, known: Kinds, place: Place) -> Iterator[Problem]:
    """Yield the names that are not declared, and what can never be computed with the others."""
    unknown = sorted(value.names - set(known))
    for name in unknown:
        yield place, _no_such("name", name, known)
    if not unknown:
        try:
            value.kind(known)
        except Misfit as misfit:
            yield place, f"`{value.source}`: {misfit}"


def _unfit(value: Template, home: Any, names: Kinds, place: Place) -> Iterator[Problem]:
    """Yield why a value can never be assigned where ``home`` was declared."""
    try:
        check_assigned(value, home, names)
    except Misfit as misfit:
        yield place, f"`{value.source}`: {misfit}"


def _no_number(expression: Expression, names: Kinds, place: Place) -> Iterator[Problem]:
    """Yield why `add` or `remove` can never do anything with a value."""
    try:
        kind = expression.kind(names)
    except Misfit:
        return  # told already
    if kind not in (NUMBER, ANYTHING):
        hint = "; `set` a variable that holds a number to it first" if kind.name == "a text" else ""
        yield place, f"`{expression.source}`: a number is needed, found {kind}{hint}"


def _no_such(what: str, name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean `{close[0]}`?" if close else ""
    return f"there is no {what} `{name}`;{hint} known: {_listed(known)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
