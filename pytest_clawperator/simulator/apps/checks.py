"""Checks beyond the schema: names must be declared, values must fit, keys must do something."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.kinds import (
    ANYTHING,
    LIST,
    NUMBER,
    RECORD,
    TEXT,
    TRUTH,
    Kind,
    Kinds,
    Misfit,
    check_fits,
    kind_of,
    merged,
)
from pytest_clawperator.simulator.apps.schema import (
    DROPPED,
    MAX_REPEAT,
    Action,
    App,
    Dialog,
    Fetch,
    Opening,
    Screen,
    Widget,
)


def declared_kinds(app: App) -> dict[str, Kind]:
    """Return the kind of each variable and computed name of an app."""
    kinds = {name: kind_of(value) for name, value in {**app.state, **app.saved}.items()}
    appended = list(_appended(app))
    for name, kind in kinds.items():
        if kind.name == LIST:
            more = [entry for where, entry in appended if where == name]
            held = [] if kind.entry is None or _is_empty(app, name) else [kind.entry]
            kinds[name] = Kind(LIST, entry=merged([*held, *more]))
    for name, expression in app.computed.items():
        try:
            kinds[name] = expression.kind(kinds)
        except Misfit:
            kinds[name] = ANYTHING  # what is wrong with it is told where it stands
    return kinds


def _is_empty(app: App, name: str) -> bool:
    return not (app.state.get(name) or app.saved.get(name))


def _appended(app: App) -> Iterator[tuple[str, Kind]]:
    """Yield what is appended to lists anywhere in the app; of a record its parts are known."""
    for action in _actions_in(app):
        for name, value in (action.append or {}).items():
            if isinstance(value, Mapping):
                yield name, Kind(RECORD, parts={str(part): ANYTHING for part in value})
            else:
                yield name, ANYTHING


def _actions_in(value: object) -> Iterator[Action]:
    if isinstance(value, Action):
        yield value
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _actions_in(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for entry in value:
            yield from _actions_in(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _actions_in(entry)


def check_assigned(value: Template, home: Any, kinds: Kinds) -> None:
    """Raise a Misfit if a value can never be assigned where ``home`` was declared."""
    wanted = kind_of(home)
    if value.constant is None:
        try:
            kind = value.kind(kinds)
        except Misfit:
            return  # told where the value itself is checked
        check_fits(kind, wanted)
    elif wanted == NUMBER:
        _check_number(value.constant, home)
    elif wanted == TRUTH and value.constant not in ("true", "false"):
        raise Misfit("`true` or `false` is wanted")
    elif wanted not in (TEXT, TRUTH):
        raise Misfit(f"it holds {wanted}, and a text does not fit")


def _check_number(text: str, home: float) -> None:
    try:
        int(text) if isinstance(home, int) else float(text)
    except ValueError:
        whole = "a whole number" if isinstance(home, int) else "a number"
        raise Misfit(f"{whole} is wanted, as it is declared as {home}") from None


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
