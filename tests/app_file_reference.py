"""The tables of docs/app-files.md, made from the schema of app files.

``python -m tests.app_file_reference`` writes them into the page. The meanings of the keys are
written here; a key without a meaning, or a meaning without its key, is an error.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.schema import (
    CONTAINERS,
    KINDS,
    TAKES,
    VERBS,
    Action,
    App,
    Dialog,
    DialogButton,
    Duration,
    Fetch,
    Link,
    Name,
    Opening,
    Package,
    Request,
    Screen,
    Timer,
    Widget,
    Word,
)

PAGE = Path(__file__).parent.parent / "docs" / "app-files.md"
BEGIN, END = "<!-- keys: made by tests/app_file_reference.py -->", "<!-- end of the keys -->"

KIND_MEANINGS: Mapping[str, str] = {
    "text": "a text; `text: Hello`",
    "title": "a larger text",
    "button": "a button with a label",
    "icon_button": "a button with a picture; its value is the description",
    "field": "a text field; its value is the hint",
    "switch": "a switch with a label",
    "checkbox": "a box to tick, with a label",
    "radio": "one of several choices: it sets `bind` to its `value`",
    "row": "a line of a list: a title, and perhaps a summary, an icon, a switch or a checkbox",
    "image": "a picture; its value is the description",
    "icon": "a small picture; its value is the description",
    "chip": "a small rounded label, which can be checked",
    "badge": "a small label on a coloured ground",
    "divider": "a line",
    "space": "nothing, as high as its `height`",
    "progress": "a turning circle; its value is the description",
    "list": "a list that scrolls; its value is its id, or its items",
    "scroll": "a page that scrolls; its value is its id, or its items",
    "column": "widgets below each other",
    "line": "widgets beside each other",
    "card": "widgets below each other, on a raised ground",
    "group": "widgets that are shown or repeated together, without their own box",
    "tabs": "a bar of tabs; its value is its id, or its items, each a `tab`",
    "tab": "a tab of a bar: it sets the bar's variable to its `value`",
}

MEANINGS: Mapping[type[BaseModel], Mapping[str, str]] = {
    App: {
        "package": "the name of its package",
        "name": "what its icon is called",
        "version": "the name of its version",
        "version_code": "the number of its version",
        "min_sdk": "the oldest API level for which it was built",
        "target_sdk": "the API level for which it was built",
        "system": "whether it is part of the system, and cannot be removed",
        "launcher": "whether it has an icon on the home screen",
        "activity": "the class of its main activity; `.Name` is one in its package",
        "permissions": "the permissions that it may ask for",
        "state": "variables that are kept until the app is stopped; their first value says "
        "whether they hold a number, a text, true or false, or a list",
        "saved": "variables that are kept until the app's data is cleared",
        "computed": "names for expressions over variables and over the names above",
        "links": "deep links",
        "intents": "the screen that opens for an action such as `android.settings.SETTINGS`",
        "start": "the first screen",
        "screens": "the screens by name",
        "dialogs": "the dialogs by name",
    },
    Screen: {
        "title": "the title in the toolbar",
        "activity": "the class of its activity, if it is not the main one",
        "up": "whether the toolbar has a back arrow; by default all but the lowest screen have one",
        "toolbar": "whether it has a toolbar",
        "args": "what opens it may give these values; here are those for when it does not",
        "menu": "widgets in the toolbar",
        "items": "its widgets, from the top",
        "bottom": "widgets that stay at the foot",
        "on_open": "what happens when it opens",
        "on_back": "what the back key does instead of closing it",
        "timers": "what happens a while after it opened",
    },
    Timer: {
        "after": "how long after the screen opened",
        "do": "what happens",
        "if": "it happens only if this holds at that moment",
    },
    Dialog: {
        "title": "its title",
        "text": "its text",
        "args": "as of a screen",
        "items": "more widgets, between text and buttons",
        "buttons": "up to three buttons; each closes the dialog first",
        "cancelable": "whether the back key, or a tap beside it, closes it",
        "on_cancel": "what happens when it is closed so",
    },
    DialogButton: {
        "button": "its label",
        "id": "its id; by default `android:id/button1` and so on",
        "do": "what it does",
    },
    Link: {
        "uri": "the form of its addresses: `{name}` is a part of the path, `{name:int}` a number, "
        "`*` at the end any rest",
        "screen": "the screen that opens; the names in braces are among its `args`",
        "with": "values for other `args`",
    },
    Opening: {"to": "the screen or dialog", "with": "values for its `args`"},
    Request: {
        "permission": "one of the app's `permissions`",
        "on_granted": "what happens when it is granted, or was before",
        "on_denied": "what happens when it is denied, or was for good",
    },
    Fetch: {
        "url": "an address that begins with `http://localhost` or `http://127.0.0.1`",
        "into": "the variable that gets the text of the answer",
        "on_answer": "what happens then, unless the screen has gone",
        "on_failure": "what happens when nothing answers, or not with a status of 200 to 299",
    },
    Action: {
        "set": "sets variables; a text that looks like a number becomes one where the variable "
        "holds a number; lists can be set to `[]`",
        "add": "adds a number to variables",
        "toggle": "turns a variable from true to false, or back",
        "append": "adds an entry to lists: a value, or a mapping, whose parts are `item.part`",
        "remove": "takes the entry at an index out of lists; the first is 0",
        "navigate": "opens a screen on top: `navigate: home`, or a mapping as below",
        "replace": "opens a screen instead of this one",
        "root": "opens a screen as the only one",
        "back": "closes this screen",
        "finish": "closes all screens of the app",
        "dialog": "opens a dialog: its name, or a mapping as below",
        "dismiss": "closes the dialog",
        "toast": "shows a message over everything for a while; it is in no snapshot",
        "snackbar": "shows a message at the foot of the screen for a while",
        "start_app": "starts another app",
        "open_uri": "opens an address in the app that has a link for it",
        "home": "shows the home screen",
        "focus": "puts the caret into the field with that id",
        "hide_keyboard": "closes the keyboard",
        "request_permission": "asks the user: a permission, or a mapping as below",
        "fetch": "asks a server that `adb reverse` has put on the phone: an address, or a mapping "
        "as below",
        "crash": "ends the app as an exception with this message does; `signal 11 (SIGSEGV)` "
        "crashes it in native code",
        "after": "does something later, unless the screen has gone: `{after: 2s, do: …}`",
        "if": "does one thing or the other: `{if: …, then: …, else: …}`",
        "do": "with `after`: what is done",
        "then": "with `if`: what is done if it holds",
        "else": "with `if`: what is done if not",
    },
    Widget: {
        "text": "its text; shorter as the value of its kind",
        "id": "its id; `name` is short for `PACKAGE:id/name`. Several may share one, as on phones",
        "desc": "its content description",
        "class": "another class than Android's usual one",
        "summary": "the second line of a row",
        "title_id": "the id of a row's title",
        "summary_id": "the id of a row's summary",
        "icon": "whether a row has an icon",
        "visible_if": "it is there only while this holds",
        "enabled_if": "it is enabled only while this holds",
        "selected_if": "it is selected while this holds",
        "checked": "whether it is checked; a tap toggles it if this is a variable",
        "switch": "the row has a switch, on while this holds; a tap toggles a variable",
        "checkbox": "the row has a checkbox, likewise",
        "bind": "the variable that it shows and changes",
        "value": "what it sets its variable to",
        "password": "whether dots hide what is typed",
        "multiline": "whether enter begins a new line",
        "heading": "whether it is a heading for screen readers",
        "clickable": "whether it takes taps; by default if it has `on_tap` or is made for taps",
        "appears_after": "it is there only from so long after the screen opened",
        "disappears_after": "it is there only until so long after the screen opened",
        "repeat": "it is there once for each entry of a list, or so many times; `item`, `index` "
        "(from 0) and `number` (from 1) are known in it",
        "filter": "only items with this text show",
        "columns": "how many items stand beside each other",
        "direction": "where it scrolls",
        "style": "whether the bar stands on top or at the foot",
        "width": "in dp",
        "height": "in dp",
        "size": "of the letters, in sp",
        "grow": "whether it takes the room that is left",
        "align": "where it stands across the direction of its container",
        "on_tap": "what a tap does",
        "on_long_press": "what a long press does",
        "on_double_tap": "what the second of two taps within a second does, instead of `on_tap`",
        "on_swipe_left": "what a swipe over it to the left does",
        "on_swipe_right": "what a swipe over it to the right does",
        "drag": "its value where it is dropped, as in `{index}`; without it, it cannot be dragged",
        "on_drop": "what happens if a widget with `drag` is dropped on it; `dropped` is its value",
        "on_change": "what happens after its value changed",
        "on_submit": "what the enter key does",
        "on_scroll": "what happens after it was scrolled",
        "on_end": "what happens after it was scrolled to its end",
        "items": "the widgets in it",
    },
}  # fmt: skip

_SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("The file", App),
    ("A screen: `screens`", Screen),
    ("A timer: `timers`", Timer),
    ("A dialog: `dialogs`", Dialog),
    ("A button of a dialog: `buttons`", DialogButton),
    ("A link: `links`", Link),
)
_FORMS: Mapping[Any, str] = {
    bool: "true or false", int: "number", str: "text", Template: "text*", Expression: "expression",
    Action: "actions", Widget: "widgets", Any: "value",
    Opening: "name or mapping", Request: "permission or mapping",
    Fetch: "text* or mapping",
}  # fmt: skip
_NAMED = ((Duration, "time"), (Name, "name"), (Word, "name"), (Package, "package"))


def tables() -> str:
    """Return the tables of all keys."""
    check_meanings()
    parts = [f"### {title}\n\n{_keys(model)}" for title, model in _SECTIONS]
    parts.append(f"### Kinds of widgets\n\n{_kinds()}")
    parts.append(f"### Keys of widgets\n\n{_widget_keys()}")
    parts.append(f"### Actions\n\n{_keys(Action)}")
    parts.append(f"### What opens: `navigate`, `replace`, `root`, `dialog`\n\n{_keys(Opening)}")
    parts.append(f"### What asks: `request_permission`\n\n{_keys(Request)}")
    parts.append(f"### What is fetched: `fetch`\n\n{_keys(Fetch)}")
    return "\n\n".join(parts)


def check_meanings() -> None:
    """Raise a ValueError if the schema and the meanings have different keys."""
    wanted = {f"{model.__name__}.{name}" for model in MEANINGS for name, _ in _fields(model)}
    wanted |= {f"kind {kind}" for kind in KINDS}
    given = {f"{model.__name__}.{name}" for model, keys in MEANINGS.items() for name in keys}
    given |= {f"kind {kind}" for kind in KIND_MEANINGS}
    if wanted != given:
        raise ValueError(f"without meaning: {wanted - given}; no such key: {given - wanted}")
    verbs = set(MEANINGS[Action]) - {"do", "then", "else"}
    if verbs != set(VERBS):
        raise ValueError(f"verbs differ: {verbs ^ set(VERBS)}")


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, info in model.model_fields.items():
        if (model, name) != (Widget, "kind"):
            yield info.alias or name, info


def _keys(model: type[BaseModel]) -> str:
    rows = [
        f"| `{name}` | {_form(info)} | {_default(info)} | {MEANINGS[model][name]} |"
        for name, info in _fields(model)
    ]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def _kinds() -> str:
    usual = frozenset.intersection(*(TAKES[kind] for kind in ("text", "row", "card")))
    rows = []
    for kind in KINDS:
        own = sorted(TAKES[kind] - usual - {"text"} - ({"items"} if kind in CONTAINERS else set()))
        touch = "touchable" if usual <= TAKES[kind] else ""
        some = sorted(TAKES[kind] & usual) if not touch else []
        takes = ", ".join(filter(None, [touch, *(f"`{key}`" for key in [*own, *some])]))
        rows.append(f"| `{kind}` | {KIND_MEANINGS[kind]} | {takes or 'nothing more'} |")
    listed = ", ".join(f"`{key}`" for key in sorted(usual))
    head = ["| kind | what it is | takes, besides what all take |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", f"*touchable*: {listed}."])


def _widget_keys() -> str:
    rows = []
    for name, info in _fields(Widget):
        kinds = [kind for kind in KINDS if name in TAKES[kind]]
        where = ", ".join(f"`{kind}`" for kind in kinds) if 0 < len(kinds) <= 6 else (
            "many" if kinds else "all"
        )  # fmt: skip
        meaning = MEANINGS[Widget][name]
        rows.append(f"| `{name}` | {_form(info)} | {_default(info)} | {where} | {meaning} |")
    head = ["| key | value | default | kinds | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.default
    if value is PydanticUndefined or value is None or value == ():
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value.source if isinstance(value, Template) else value}`"


def _form(info: FieldInfo) -> str:
    for part in info.metadata:
        for known, word in _NAMED:
            if part in typing.get_args(known)[1:]:
                return word
    bounds = {type(part).__name__: part for part in info.metadata}
    low = getattr(bounds.get("Ge"), "ge", None)
    high = getattr(bounds.get("Le"), "le", None)
    if low is not None:
        return f"{low} to {high}"
    return _form_of(info.annotation)


def _form_of(annotation: Any) -> str:
    for known, word in _NAMED:
        if annotation == known:
            return word
    if "Actions" in str(annotation):  # a name that stands for a class below it
        return "actions"
    if annotation in _FORMS:
        return _FORMS[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _form(FieldInfo.from_annotation(annotation))
    if origin is typing.Literal:
        return " or ".join(f"`{str(part).lower()}`" for part in parts)
    if origin in (typing.Union, types.UnionType):
        forms = dict.fromkeys(_form_of(part) for part in parts if part is not type(None))
        return "value" if len(forms) > 1 else next(iter(forms))
    if origin is dict:
        inner = _form_of(parts[1])
        return "mapping" if inner == "mapping" else f"mapping: {inner}"
    if origin is tuple:
        inner = _form_of(parts[0])
        return inner if inner in ("actions", "widgets") else f"list: {inner}"
    return "mapping"


def with_tables(page: str) -> str:
    """Return the page with new tables."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return pattern.sub(lambda found: f"{BEGIN}\n\n{tables()}\n\n{END}", page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
