"""The kinds of an app's variables, and whether what is assigned to them can fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.app_schema import App
from pytest_clawperator.simulator.screen.app_files.language.expressions import Template
from pytest_clawperator.simulator.screen.app_files.language.kinds import (
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
