"""Checks beyond the schema: names must be declared, values must fit, keys must have an effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from pytest_clawperator.simulator.apps import kinds
from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.kinds import ANYTHING, NUMBER, TEXT, TRUTH, Kind, Misfit
from pytest_clawperator.simulator.apps.schema import (
    DROPPED,
    Action,
    App,
    Dialog,
    Fetch,
    Request,
    Screen,
    Widget,
    did_you_mean,
)

Place = tuple[str | int, ...]
Problem = tuple[Place, str]
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
_SCALARS = (str, int, float, bool)
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
        # The fields of the current page, by id, and its args.
        self._fields: Mapping[str, int] = {}
        self._args: Mapping[str, Any] = {}

    def run(self) -> None:
        app = self._app
        self._check_declarations()
        self._check_target(app.screens, app.start, ("start",))
        for action, name in app.intents.items():
            self._check_target(app.screens, name, ("intents", action))
        self._check_links()
        # What a dialog does later may happen on any screen.
        elsewhere = {each: 1 for screen in app.screens.values() for each in _field_ids(screen)}
        for section, pages in (("screens", app.screens), ("dialogs", app.dialogs)):
            for name, page in pages.items():
                others = elsewhere if section == "dialogs" else {}
                self._fields, self._args = others | _field_ids(page), page.args
                args = {arg: kinds.kind_of(value) for arg, value in page.args.items()}
                self._check_part(page, {**self._kinds, **args}, (section, name))

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
        for number, link in enumerate(self._app.links):
            place: Place = ("links", number)
            names = {**self._kinds, **dict.fromkeys(link.parameters, ANYTHING)}
            self._check_value(link.values, names, (*place, "with"))
            given = {**dict.fromkeys(link.parameters), **link.values}
            self._check_target(self._app.screens, link.screen, (*place, "screen"), given, names)

    def _check_target(
        self,
        targets: Mapping[str, Screen | Dialog],
        name: str,
        place: Place,
        given: Mapping[str, Template | None] | None = None,
        names: kinds.Kinds | None = None,
    ) -> None:
        """Check that a screen or dialog exists and has the args that it is ``given``."""
        if name not in targets:
            what = "screen" if targets is self._app.screens else "dialog"
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

    def _check_part(
        self, part: BaseModel, names: kinds.Kinds, place: Place, *, scrolled: bool = False
    ) -> None:
        """Check a part of the file, and every part in it."""
        outer = names
        for key, reason in _idle_keys(part):
            self._report((*place, key), reason)
        if isinstance(part, Widget):
            if part.repeat is not None:
                entry = _kind_or_anything(part.repeat, names).entry or ANYTHING
                names = {**names, "index": NUMBER, "number": NUMBER, "item": entry}
            self._check_widget(part, names, place, scrolled=scrolled)
            scrolled = scrolled or _scrolls_down(part)
        elif isinstance(part, Action):
            self._check_action(part, names, (*place, part.verb))
        elif isinstance(part, Request) and part.permission not in self._app.permissions:
            listed = ", ".join(self._app.permissions) or "none"
            message = f"`{part.permission}` is not among the app's `permissions`: {listed}"
            self._report(place, message)
        elif isinstance(part, Fetch) and part.into is not None:
            self._check_variable(part.into, _SCALARS, (*place, "into"))
        for name, field in type(part).model_fields.items():
            if name in part.model_fields_set:
                known = outer if name == "repeat" else names
                if name == "on_drop":
                    known = {**names, DROPPED: ANYTHING}
                at = (*place, field.alias or name)
                self._check_value(getattr(part, name), known, at, scrolled=scrolled)

    def _check_value(
        self, value: object, names: kinds.Kinds, place: Place, *, scrolled: bool = False
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

    def _check_widget(
        self, widget: Widget, names: kinds.Kinds, place: Place, *, scrolled: bool
    ) -> None:
        for key in _NEEDED.get(widget.kind, ()):
            if getattr(widget, key) is None:
                self._report(place, f"a {widget.kind} needs `{key}`")
        if widget.kind == "tabs" and any(item.kind != "tab" for item in widget.items):
            self._report((*place, "items"), "the items of `tabs` are all of the kind `tab`")
        kind = ANYTHING if widget.repeat is None else _kind_or_anything(widget.repeat, names)
        if kind in (TEXT, TRUTH) or kind.name == kinds.RECORD:
            message = f"`repeat` needs a list or a number, found {kind}"
            self._report((*place, "repeat"), message)
        if widget.bind is not None:
            types = (str,) if widget.kind == "field" else _SCALARS
            self._check_variable(widget.bind, types, (*place, "bind"))
            if widget.value is not None and widget.bind in self._variables:
                home = self._variables[widget.bind]
                self._check_fits(widget.value, home, names, (*place, "value"))
        for key in _STATES:
            state: Expression | None = getattr(widget, key)
            if state is not None and state.is_name and state.source.strip() in self._variables:
                self._check_variable(state.source.strip(), (bool,), (*place, key))
            elif state is not None and widget.on_change:
                reason = f"`{key}` is not a variable that a tap could change"
                self._report((*place, "on_change"), f"`on_change` never happens: {reason}")
        if scrolled and _scrolls_down(widget) and not widget.height:
            message = f"a {widget.kind} inside something that scrolls needs a `height`"
            self._report(place, message)

    def _check_action(self, action: Action, names: kinds.Kinds, at: Place) -> None:
        if action.focus is not None:
            count = self._fields.get(action.focus, 0)
            if not count:
                self._report(at, _no_such("field with the id", action.focus, self._fields))
            elif count > 1:
                self._report(at, f"{count} fields have the id `{action.focus}`; give each its own")
        if action.toggle is not None:
            self._check_variable(action.toggle, (bool,), at)
        opening = action.navigate or action.replace or action.root or action.dialog
        if opening is not None:
            targets = self._app.screens if action.dialog is None else self._app.dialogs
            self._check_target(targets, opening.to, at, opening.values, names)
        for changed, types in ((action.add, (int, float)), (action.remove, (list,))):
            for name, expression in (changed or {}).items():
                self._check_variable(name, types, (*at, name))
                kind = _kind_or_anything(expression, names)
                if kind not in (NUMBER, ANYTHING):
                    hint = "; `set` a variable that holds a number to it first"
                    found = f"a number is needed, found {kind}{hint if kind == TEXT else ''}"
                    self._report((*at, name), f"`{expression.source}`: {found}")
        self._check_assignments(action, names, at)

    def _check_assignments(self, action: Action, names: kinds.Kinds, at: Place) -> None:
        for name, value in (action.set or {}).items():
            self._check_variable(name, (), (*at, name))
            if isinstance(value, (list, dict)) and value != []:
                message = "a list can be set to `[]` only; use `append` to fill it"
                self._report((*at, name), message)
        for name in action.append or {}:
            self._check_variable(name, (list,), (*at, name))
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

    def _check_variable(self, name: str, types: tuple[type, ...], place: Place) -> None:
        """Check that a name is a variable of one of these types; of any if none is given."""
        if name in self._args:
            message = f"`{name}` is one of the `args` here, which cannot be changed"
            self._report(place, f"{message}; rename it or the variable")
        elif name not in self._variables:
            self._report(place, _no_such("variable", name, self._variables))
        elif types and type(self._variables[name]) not in types:
            wanted = " or ".join(dict.fromkeys(_TYPES[each] for each in types))
            found = _TYPES.get(type(self._variables[name]), "something else")
            self._report(place, f"`{name}` must hold {wanted} for this, but holds {found}")

    def _check_fits(self, value: Template, home: Any, names: kinds.Kinds, place: Place) -> None:
        """Check that a value can be assigned where ``home`` was declared."""
        try:
            if value.constant is None:
                kinds.check_fits(_kind_or_anything(value, names), kinds.kind_of(home))
            elif not isinstance(home, bool):
                kinds.coerced(value.constant, home)
            elif value.constant not in ("true", "false"):
                raise Misfit("`true` or `false` is wanted")
        except Misfit as misfit:
            self._report(place, f"`{value.source}`: {misfit}")


def _idle_keys(part: BaseModel) -> Iterator[tuple[str, str]]:
    """Yield the keys that can never have an effect, each with the reason."""
    if isinstance(part, Dialog) and not part.cancelable:
        if part.on_cancel:
            yield "on_cancel", "`on_cancel` never happens: `cancelable` is false"
        if not part.buttons and not part.items:
            yield "cancelable", "this dialog can never be closed: it has no button"
    elif isinstance(part, Widget):
        if part.multiline and part.on_submit:
            yield "on_submit", "`on_submit` never happens: in a `multiline` field enter adds a line"
        if part.kind == "tab" and part.bind is None:
            yield "tab", "a tab stands among the items of `tabs`, which name the variable in `bind`"
        if part.kind == "row" and part.on_change and not (part.switch or part.checkbox):
            yield "on_change", "`on_change` is for a row with a `switch` or `checkbox`"
    elif isinstance(part, Action):
        if part.verb == "if" and not part.then and not part.otherwise:
            yield "if", "`if` does nothing without `then` or `else`"
        if part.verb == "after" and not part.do:
            yield "after", "`after` does nothing without `do`"


def _declared_kinds(app: App) -> dict[str, Kind]:
    """Return the kind of each variable and computed name of an app."""
    values = {**app.state, **app.saved}
    found = {name: kinds.kind_of(value) for name, value in values.items()}
    appended = [part.append for part in _parts_in(app) if isinstance(part, Action) and part.append]
    for name, kind in found.items():
        if kind.name == kinds.LIST:
            entries = [_kind_of_entry(each[name]) for each in appended if name in each]
            held = [kind.entry] if kind.entry is not None and values[name] else []
            found[name] = Kind(kinds.LIST, entry=kinds.merged([*held, *entries]))
    for name, expression in app.computed.items():
        found[name] = _kind_or_anything(expression, found)
    return found


def _kind_of_entry(value: object) -> Kind:
    """Return the kind of what is appended; of a record its parts are known."""
    if isinstance(value, Mapping):
        return Kind(kinds.RECORD, parts={str(part): ANYTHING for part in value})
    return ANYTHING


def _kind_or_anything(value: Expression | Template, names: kinds.Kinds) -> Kind:
    """Return the kind of a value; a misfit is reported where the value itself is checked."""
    try:
        return value.kind(names)
    except Misfit:
        return ANYTHING


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


def _scrolls_down(widget: Widget) -> bool:
    return widget.kind in ("list", "scroll") and widget.direction == "vertical"


def _no_such(what: str, name: str, known: Iterable[str]) -> str:
    return f"there is no {what} `{name}`;{did_you_mean(name, known, 'known')}"
