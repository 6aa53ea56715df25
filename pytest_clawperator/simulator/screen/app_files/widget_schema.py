"""What an app file may say about widgets.

A widget is written with its kind as the first key: ``- row: Wi-Fi``. The value of that key
is the widget's text, or for containers their items or their id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from pytest_clawperator.simulator.screen.app_files.action_schema import Actions
from pytest_clawperator.simulator.screen.app_files.field_types import (
    AppFileModel,
    Duration,
    Name,
    WrongKey,
)
from pytest_clawperator.simulator.screen.app_files.language.expressions import Expression, Template

Kind = Literal[
    "text", "title", "button", "icon_button", "field", "switch", "checkbox", "radio",
    "row", "image", "icon", "chip", "badge", "divider", "space", "progress",
    "list", "scroll", "column", "line", "card", "group", "tabs", "tab",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(Kind)
CONTAINERS = frozenset({"list", "scroll", "column", "line", "card", "group", "tabs"})

MAX_REPEAT = 2000
# What `on_drop` calls the value of the widget that was dropped.
DROPPED = "dropped"

_ANYWHERE = frozenset(
    {
        "kind", "id", "desc", "class", "visible_if", "appears_after", "disappears_after",
        "repeat", "width", "height", "grow", "align",
    }
)  # fmt: skip
_TOUCHABLE = frozenset(
    {
        "on_tap", "on_long_press", "on_double_tap", "on_swipe_left", "on_swipe_right", "drag",
        "on_drop", "enabled_if", "selected_if", "clickable",
    }
)  # fmt: skip
_TEXTUAL = _TOUCHABLE | {"text", "size", "heading"}
_CHECKABLE = _TOUCHABLE | {"text", "checked", "on_change"}
# What a kind takes besides what every kind takes.
TAKES: Mapping[str, frozenset[str]] = {
    "text": _TEXTUAL,
    "title": _TEXTUAL,
    "button": _TEXTUAL,
    "icon_button": _TOUCHABLE | {"text"},
    "field": frozenset(
        {"text", "bind", "password", "multiline", "enabled_if", "on_tap", "on_change", "on_submit"}
    ),
    "switch": _CHECKABLE,
    "checkbox": _CHECKABLE,
    "radio": (_CHECKABLE | {"bind", "value"}) - {"checked"},
    "row": _TOUCHABLE
    | {"text", "summary", "icon", "switch", "checkbox", "on_change", "title_id", "summary_id"},
    "image": _TOUCHABLE | {"text"},
    "icon": _TOUCHABLE | {"text"},
    "chip": _TEXTUAL | {"checked"},
    "badge": _TEXTUAL,
    "divider": frozenset(),
    "space": frozenset(),
    "progress": frozenset({"text"}),
    "list": frozenset({"items", "columns", "direction", "filter", "on_scroll", "on_end"}),
    "scroll": frozenset({"items", "direction", "on_scroll", "on_end"}),
    "column": _TOUCHABLE | {"items"},
    "line": _TOUCHABLE | {"items"},
    "card": _TOUCHABLE | {"items"},
    "group": frozenset({"items"}),
    "tabs": frozenset({"items", "bind", "style", "on_change"}),
    "tab": frozenset({"text", "value", "bind", "on_tap", "enabled_if"}),
}


class Widget(AppFileModel):
    """One widget; which fields make sense depends on its kind."""

    kind: Kind
    text: Template | None = None
    id: Template | None = None
    desc: Template | None = None
    cls: str | None = Field(default=None, alias="class")
    summary: Template | None = None
    title_id: Template = Template("android:id/title")
    summary_id: Template = Template("android:id/summary")
    icon: bool = False
    visible_if: Expression | None = None
    enabled_if: Expression | None = None
    selected_if: Expression | None = None
    checked: Expression | None = None
    switch: Expression | None = None
    checkbox: Expression | None = None
    bind: Name | None = None
    value: Template | None = None
    password: bool = False
    multiline: bool = False
    heading: bool = False
    clickable: bool | None = None
    drag: Template | None = None
    appears_after: Duration | None = None
    disappears_after: Duration | None = None
    repeat: Expression | None = None
    filter: Expression | None = None
    columns: Annotated[int, Field(ge=1, le=12)] = 1
    direction: Literal["vertical", "horizontal"] = "vertical"
    style: Literal["top", "bottom"] = "top"
    width: Annotated[int, Field(ge=1, le=2000)] | None = None
    height: Annotated[int, Field(ge=1, le=5000)] | None = None
    size: Annotated[int, Field(ge=6, le=200)] | None = None
    grow: bool | None = None
    align: Literal["start", "center", "end"] | None = None
    on_tap: Actions = ()
    on_long_press: Actions = ()
    on_double_tap: Actions = ()
    on_swipe_left: Actions = ()
    on_swipe_right: Actions = ()
    on_drop: Actions = ()
    on_change: Actions = ()
    on_submit: Actions = ()
    on_scroll: Actions = ()
    on_end: Actions = ()
    items: tuple[Widget, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            raise ValueError(f"a widget is a mapping such as `text: Hello`, not {value!r}")
        if "kind" in value:
            return value
        kind = next(iter(value), None)
        if kind not in KINDS:
            message = f"the first key of a widget is its kind, and {kind!r} is none"
            raise WrongKey(kind, message, known=KINDS)
        return _expanded(str(kind), value)


def _expanded(kind: str, value: Mapping[Any, Any]) -> dict[Any, Any]:
    rest = {key: entry for key, entry in value.items() if key != kind}
    unfit = [key for key in rest if key not in TAKES[kind] and key not in _ANYWHERE]
    if unfit:
        known = (TAKES[kind] | _ANYWHERE) - {"kind", "text"}
        raise WrongKey(unfit[0], f"a {kind} takes no `{unfit[0]}`", known=known)
    content = value[kind]
    slot = "text" if kind not in CONTAINERS else "items" if isinstance(content, list) else "id"
    if content is not None:
        if slot in rest:
            raise ValueError(f"`{kind}: …` and `{slot}: …` say the same thing; keep one")
        rest[slot] = content
    if kind == "tabs" and isinstance(rest.get("items"), list) and "bind" in rest:
        # A tab must know what it sets; saying it once for the whole bar is enough.
        rest["items"] = [
            {**tab, "bind": rest["bind"]} if isinstance(tab, Mapping) and "tab" in tab else tab
            for tab in rest["items"]
        ]
    return {"kind": kind, **rest}
