"""Checks beyond the schema: names must be declared, values must fit, keys must do something."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
    Request,
    Screen,
    Widget,
)

Place = tuple[str | int, ...]
Problem = tuple[Place, str]
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
_NEEDED = {"radio": ("bind", "value"), "tabs": ("bind",), "tab": ("value",)}
_STATES = ("checked", "switch", "checkbox")


def problems_of(app: App) -> list[Problem]:
    """List every name that is not declared, every value that cannot fit, every idle key."""
    check = _Check(app)
    check.run()
    return check.problems


class _Check:
    def __init__(self, app: App) -> None:
        self.problems: list[Problem] = []
        self._app = app
        self._variables = {**app.state, **app.saved}
        self._kinds = _declared_kinds(app)
        widgets = [part for part in _parts_in(app) if isinstance(part, Widget)]
        self._drags = any(widget.drag is not None for widget in widgets)
        self._drops = any(widget.on_drop for widget in widgets)
        # The fields of the current page, by id, and its args.
        self._fields: Mapping[str, int] = {}
        self._args: Mapping[str, Any] = {}

    def run(self) -> None:
        app = self._app
        self._check_declarations()
        self._check_target("screen", app.start, ("start",))
        for action, name in app.intents.items():
            self._check_target("screen", name, ("intents", action))
        self._check_links()
        for name, screen in app.screens.items():
            self._check_page(screen, ("screens", name), _field_ids(screen))
        # What a dialog does later may happen on any screen.
        elsewhere = {each: 1 for screen in app.screens.values() for each in _field_ids(screen)}
        for name, dialog in app.dialogs.items():
            self._check_page(dialog, ("dialogs", name), elsewhere | _field_ids(dialog))

    def _report(self, place: Place, message: str) -> None:
        self.problems.append((place, message))

    # -- Declarations and links --------------------------------------------------------------

    def _check_declarations(self) -> None:
        app = self._app
        for section, declared in (("state", app.state), ("saved", app.saved)):
            for name, value in declared.items():
                if type(value) not in _TYPES:
                    allowed = "true or false, a number, a text or a list"
                    message = f"`{name}` cannot hold {value!r}; allowed: {allowed}"
                    self._report((section, name), message)
        for name in sorted(set(app.state) & set(app.saved)):
            self._report(("saved", name), f"`{name}` is declared in `state` too; keep one of them")
        earlier = {name: self._kinds[name] for name in self._variables}
        for name, expression in app.computed.items():
            if name in self._variables:
                self._report(("computed", name), f"`{name}` is a variable too; keep one of them")
            # Only names above it, so that two of them cannot ask each other forever.
            self._check_value(expression, earlier, ("computed", name))
            earlier[name] = self._kinds[name]

    def _check_links(self) -> None:
        seen: dict[str, int] = {}
        for number, link in enumerate(self._app.links):
            place: Place = ("links", number)
            names = {**self._kinds, **dict.fromkeys(link.parameters, ANYTHING)}
            self._check_value(link.values, names, (*place, "with"))
            given = {**dict.fromkeys(link.parameters), **link.values}
            self._check_target("screen", link.screen, (*place, "screen"), given, names)
            first = seen.setdefault(link.pattern.pattern, number)
            if first != number:
                self._report((*place, "uri"), f"link {first + 1} has the same `uri`")

    def _check_target(
        self,
        what: str,
        name: str,
        place: Place,
        given: Mapping[str, Template | None] | None = None,
        names: Kinds | None = None,
    ) -> None:
        """Check that a screen or dialog exists and has the args that it is ``given``."""
        targets: Mapping[str, Screen | Dialog] = (
            self._app.screens if what == "screen" else self._app.dialogs
        )
        if name not in targets:
            self._report(place, _no_such(what, name, targets))
            return
        args = targets[name].args
        for arg, value in sorted((given or {}).items()):
            if arg not in args:
                known = ", ".join(args) or "none"
                self._report(place, f"`{arg}` is not among the `args` there: {known}")
            elif value is not None:
                self._check_fits(value, args[arg], names or {}, (*place, "with", arg))

    # -- Pages, widgets and actions ----------------------------------------------------------

    def _check_page(self, page: Screen | Dialog, place: Place, fields: Mapping[str, int]) -> None:
        for key, message in _idle_keys_of_page(page):
            self._report((*place, key), message)
        self._fields, self._args = fields, page.args
        names = {**self._kinds, **{name: kind_of(value) for name, value in page.args.items()}}
        self._check_part(page, names, place)

    def _check_part(
        self, part: BaseModel, names: Kinds, place: Place, *, scrolled: bool = False
    ) -> None:
        """Check a part of the file, and every part in it."""
        outer = names
        if isinstance(part, Widget):
            names = {**names, **_names_of_repeated(part, names)}
            self._check_widget(part, names, place, scrolled=scrolled)
            scrolled = scrolled or (_scrolls(part) and part.direction == "vertical")
        elif isinstance(part, Action):
            self._check_action(part, names, place)
        elif isinstance(part, Request) and part.permission not in self._app.permissions:
            listed = ", ".join(self._app.permissions) or "none"
            message = f"`{part.permission}` is not among the app's `permissions`: {listed}"
            self._report(place, message)
        elif isinstance(part, Fetch) and part.into is not None:
            self._check_variable(part.into, (str, int, float, bool), (*place, "into"))
        for name, field in type(part).model_fields.items():
            if name not in part.model_fields_set:
                continue
            known = outer if name == "repeat" else names
            if name == "on_drop":
                known = {**names, DROPPED: ANYTHING}
            at = (*place, field.alias or name)
            self._check_value(getattr(part, name), known, at, scrolled=scrolled)

    def _check_value(
        self, value: object, names: Kinds, place: Place, *, scrolled: bool = False
    ) -> None:
        if isinstance(value, BaseModel):
            self._check_part(value, names, place, scrolled=scrolled)
        elif isinstance(value, tuple):
            for number, entry in enumerate(value):
                self._check_value(entry, names, (*place, number), scrolled=scrolled)
        elif isinstance(value, Mapping):
            for name, entry in value.items():
                self._check_value(entry, names, (*place, name))
        elif isinstance(value, (Expression, Template)):
            unknown = sorted(value.names - set(names))
            for name in unknown:
                self._report(place, _no_such("name", name, names))
            if not unknown:
                try:
                    value.kind(names)
                except Misfit as misfit:
                    self._report(place, f"`{value.source}`: {misfit}")

    def _check_widget(self, widget: Widget, names: Kinds, place: Place, *, scrolled: bool) -> None:
        for key in _NEEDED.get(widget.kind, ()):
            if getattr(widget, key) is None:
                self._report(place, f"a {widget.kind} needs `{key}`")
        if widget.kind == "tabs" and any(item.kind != "tab" for item in widget.items):
            self._report((*place, "items"), "the items of `tabs` are all of the kind `tab`")
        if widget.repeat is not None:
            self._check_repeat(widget.repeat, names, (*place, "repeat"))
        if widget.bind is not None:
            kinds = (str,) if widget.kind == "field" else (str, int, float, bool)
            self._check_variable(widget.bind, kinds, (*place, "bind"))
            if widget.value is not None and widget.bind in self._variables:
                home = self._variables[widget.bind]
                self._check_fits(widget.value, home, names, (*place, "value"))
        for key in _STATES:
            state: Expression | None = getattr(widget, key)
            if state is not None and _is_variable(state, self._variables):
                self._check_variable(state.source.strip(), (bool,), (*place, key))
        for key, message in _idle_keys_of_widget(widget, self._variables):
            self._report((*place, key) if key else place, message)
        if widget.drag is not None and not self._drops:
            self._report((*place, "drag"), "`drag` leads nowhere: no widget has `on_drop`")
        if widget.on_drop and not self._drags:
            self._report((*place, "on_drop"), "`on_drop` never happens: no widget has `drag`")
        if scrolled and _scrolls(widget) and widget.direction == "vertical" and not widget.height:
            message = f"a {widget.kind} inside something that scrolls needs a `height`"
            self._report(place, message)

    def _check_repeat(self, repeat: Expression, names: Kinds, place: Place) -> None:
        """Check how often a widget is repeated: by a list, or by a number within bounds."""
        kind = _kind_or_anything(repeat, names)
        if kind in (TEXT, TRUTH) or kind.name == RECORD:
            self._report(place, f"`repeat` needs a list or a number, found {kind}")
        elif not repeat.names and kind == NUMBER:
            times = repeat(lambda name: "")
            if not isinstance(times, int) or not 0 <= times <= MAX_REPEAT:
                allowed = f"0 to {MAX_REPEAT}, or a variable's name"
                self._report(place, f"`repeat` is {times}; allowed: {allowed}")

    def _check_action(self, action: Action, names: Kinds, place: Place) -> None:
        at = (*place, action.verb)
        idle = _idle_reason(action)
        if idle is not None:
            self._report(at, idle)
        if action.focus is not None:
            self._check_focus(action.focus, at)
        if action.toggle is not None:
            self._check_variable(action.toggle, (bool,), at)
        opening = action.navigate or action.replace or action.root or action.dialog
        if opening is not None:
            what = "screen" if action.dialog is None else "dialog"
            self._check_target(what, opening.to, at, opening.values, names)
        for changed, kinds in ((action.add, (int, float)), (action.remove, (list,))):
            for name, expression in (changed or {}).items():
                self._check_variable(name, kinds, (*at, name))
                kind = _kind_or_anything(expression, names)
                if kind not in (NUMBER, ANYTHING):
                    hint = "; `set` a variable that holds a number to it first"
                    found = f"a number is needed, found {kind}{hint if kind == TEXT else ''}"
                    self._report((*at, name), f"`{expression.source}`: {found}")
        if action.set is not None or action.append is not None:
            self._check_assignments(action, names, at)

    def _check_assignments(self, action: Action, names: Kinds, at: Place) -> None:
        for name, value in (action.set or {}).items():
            self._check_variable(name, (), (*at, name))
            if isinstance(value, (list, dict)) and value != []:
                message = "a list can be set to `[]` only; use `append` to fill it"
                self._report((*at, name), message)
        for name, value in (action.append or {}).items():
            self._check_variable(name, (list,), (*at, name))
            if value == []:
                message = "an entry is a text, a number or a mapping, not a list"
                self._report((*at, name), message)
        try:
            values = action.values
        except ValueError as error:
            self._report(at, str(error))
            return
        self._check_value(values, names, at)
        for name, given in (action.set or {}).items():
            template = values[name]
            if given != [] and name in self._variables and isinstance(template, Template):
                self._check_fits(template, self._variables[name], names, (*at, name))

    def _check_focus(self, id: str, place: Place) -> None:
        count = self._fields.get(id, 0)
        if not count:
            known = ", ".join(sorted(self._fields)) or "none"
            self._report(place, f"there is no field with the id `{id}`; known: {known}")
        elif count > 1:
            self._report(place, f"{count} fields have the id `{id}`; give each its own")

    def _check_variable(self, name: str, kinds: tuple[type, ...], place: Place) -> None:
        """Check that a name is a variable of one of these types; of any, where none is given."""
        if name in self._args:
            message = f"`{name}` is one of the `args` here, which cannot be changed"
            self._report(place, f"{message}; rename it or the variable")
        elif name not in self._variables:
            self._report(place, _no_such("variable", name, self._variables))
        elif kinds and type(self._variables[name]) not in kinds:
            wanted = " or ".join(dict.fromkeys(_TYPES[kind] for kind in kinds))
            found = _TYPES.get(type(self._variables[name]), "something else")
            self._report(place, f"`{name}` must hold {wanted} for this, but holds {found}")

    def _check_fits(self, value: Template, home: Any, names: Kinds, place: Place) -> None:
        """Check that a value can be assigned where ``home`` was declared."""
        try:
            if value.constant is None:
                check_fits(_kind_or_anything(value, names), kind_of(home))
            else:
                _check_constant(value.constant, home)
        except Misfit as misfit:
            self._report(place, f"`{value.source}`: {misfit}")


def _check_constant(text: str, home: Any) -> None:
    wanted = kind_of(home)
    if wanted == NUMBER:
        try:
            int(text) if isinstance(home, int) else float(text)
        except ValueError:
            whole = "a whole number" if isinstance(home, int) else "a number"
            raise Misfit(f"{whole} is wanted, as it is declared as {home}") from None
    elif wanted == TRUTH and text not in ("true", "false"):
        raise Misfit("`true` or `false` is wanted")
    elif wanted not in (TEXT, TRUTH):
        raise Misfit(f"it holds {wanted}, and a text does not fit")


# -- Kinds ---------------------------------------------------------------------------------------


def _declared_kinds(app: App) -> dict[str, Kind]:
    """Return the kind of each variable and computed name of an app."""
    values = {**app.state, **app.saved}
    kinds = {name: kind_of(value) for name, value in values.items()}
    appended = [part.append for part in _parts_in(app) if isinstance(part, Action) and part.append]
    for name, kind in kinds.items():
        if kind.name == LIST:
            entries = [_kind_of_entry(each[name]) for each in appended if name in each]
            held = [kind.entry] if kind.entry is not None and values[name] else []
            kinds[name] = Kind(LIST, entry=merged([*held, *entries]))
    for name, expression in app.computed.items():
        kinds[name] = _kind_or_anything(expression, kinds)
    return kinds


def _kind_of_entry(value: object) -> Kind:
    """Return the kind of what is appended; of a record its parts are known."""
    if isinstance(value, Mapping):
        return Kind(RECORD, parts={str(part): ANYTHING for part in value})
    return ANYTHING


def _kind_or_anything(value: Expression | Template, names: Kinds) -> Kind:
    """Return the kind of a value; a misfit is reported where the value itself is checked."""
    try:
        return value.kind(names)
    except Misfit:
        return ANYTHING


def _names_of_repeated(widget: Widget, names: Kinds) -> dict[str, Kind]:
    """Return the names that a repeated widget has besides: its number, and its entry of a list."""
    if widget.repeat is None:
        return {}
    entry = _kind_or_anything(widget.repeat, names).entry or ANYTHING
    return {"index": NUMBER, "number": NUMBER, "item": entry}


# -- Keys without effect -------------------------------------------------------------------------


def _idle_keys_of_page(page: Screen | Dialog) -> Iterator[tuple[str, str]]:
    if isinstance(page, Screen):
        for key in ("menu", "up"):
            if getattr(page, key) and not page.toolbar:
                yield key, f"`{key}` never shows: `toolbar` is false"
    elif not page.cancelable:
        if page.on_cancel:
            yield "on_cancel", "`on_cancel` never happens: `cancelable` is false"
        if not page.buttons and not page.items:
            yield "cancelable", "this dialog can never be closed: it has no button"


def _idle_keys_of_widget(widget: Widget, variables: Kinds) -> Iterator[tuple[str, str]]:
    """Yield the keys of a widget that never have an effect, each with the reason."""
    given = widget.model_fields_set
    if widget.clickable is False:
        for key in ("on_tap", "on_double_tap"):
            if getattr(widget, key):
                yield key, f"`{key}` never happens: `clickable` is false"
    if "summary_id" in given and widget.summary is None:
        yield "summary_id", "`summary_id` is for a row with a `summary`"
    if widget.multiline and widget.on_submit:
        yield "on_submit", "`on_submit` never happens: in a `multiline` field enter starts a line"
    if widget.kind == "tab" and widget.bind is None:
        yield "", "a tab stands among the items of `tabs`, which name the variable in `bind`"
    if widget.direction == "horizontal" and "columns" in given:
        yield "columns", "`columns` has no effect: `direction` is horizontal"
    last = widget.disappears_after
    if last is not None and last <= (widget.appears_after or 0.0):
        yield "disappears_after", "it never shows: it disappears before it appears"
    states = {key: state for key in _STATES if (state := getattr(widget, key)) is not None}
    if len(states) > 1:
        first, second, *_ = states
        yield second, f"`{first}` and `{second}` mean the same thing; keep one"
    if widget.on_change and widget.kind == "row" and not states:
        yield "on_change", "`on_change` is for a row with a `switch` or `checkbox`"
    for key, state in states.items():
        if widget.on_change and not _is_variable(state, variables):
            reason = f"`{key}` is not a variable that a tap could change"
            yield "on_change", f"`on_change` never happens: {reason}"


def _idle_reason(action: Action) -> str | None:
    if action.verb == "if" and not action.then and not action.otherwise:
        return "`if` does nothing without `then` or `else`"
    if action.verb == "after" and not action.do:
        return "`after` does nothing without `do`"
    if action.verb in ("set", "add", "append", "remove") and not getattr(action, action.verb):
        return f"`{action.verb}` names no variable"
    return None


# -- What the checks share -----------------------------------------------------------------------


def _parts_in(value: object) -> Iterator[BaseModel]:
    """Yield every part of the file in a value."""
    entries: Iterable[object] = ()
    if isinstance(value, BaseModel):
        yield value
        entries = [getattr(value, name) for name in value.model_fields_set]
    elif isinstance(value, Mapping):
        entries = value.values()
    elif isinstance(value, tuple):
        entries = value
    for entry in entries:
        yield from _parts_in(entry)


def _field_ids(page: Screen | Dialog) -> Counter[str]:
    """Count the fields of a page by id, without those that are repeated."""
    found: Counter[str] = Counter()
    waiting = [widget for part in ("items", "menu", "bottom") for widget in getattr(page, part, ())]
    while waiting:
        widget = waiting.pop()
        if widget.repeat is None:
            waiting.extend(widget.items)
            if widget.kind == "field" and widget.id is not None and widget.id.constant is not None:
                found[widget.id.constant] += 1
    return found


def _scrolls(widget: Widget) -> bool:
    return widget.kind in ("list", "scroll")


def _is_variable(state: Expression, variables: Mapping[str, object]) -> bool:
    return state.is_name and state.source.strip() in variables


def _no_such(what: str, name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean `{close[0]}`?" if close else ""
    return f"there is no {what} `{name}`;{hint} known: {', '.join(known) or 'none'}"
