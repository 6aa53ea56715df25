"""The schema of app files: one YAML file describes one app, its screens, widgets and actions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)

from pytest_clawperator.simulator.apps.expressions import KEYWORDS, Expression, Template
from pytest_clawperator.yaml_source import place_of, without_places

_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$|android$")
_NAME = re.compile(r"[a-z_][a-z0-9_]*$")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min)$")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_RESERVED = KEYWORDS | {"index", "number", "item"}


class WrongKey(ValueError):
    """A key that does not belong where it stands; ``key`` helps to find its line."""

    def __init__(self, key: object, message: str, *, known: Iterable[str]) -> None:
        super().__init__(f"{message};{did_you_mean(str(key), known)}")
        self.key = key


def did_you_mean(name: str, known: Iterable[str], what: str = "allowed") -> str:
    """Return the tail of an unknown-name message: a similar name, if any, and all valid names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" did you mean `{close[0]}`?" if close else ""
    return f"{hint} {what}: {', '.join(names) or 'none'}"


def _duration(value: object) -> float:
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a duration; write it as 800ms, 2s or 1.5min")
    return float(found[1]) * _SECONDS[found[2]]


def _word(value: object) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise ValueError(f"{value!r} is not a name; names are lower-case letters, digits and `_`")
    return value


def _name(value: object) -> str:
    if value in _RESERVED:
        reserved = ", ".join(sorted(_RESERVED))
        raise ValueError(f"{value!r} is not a name; names are none of {reserved}")
    return _word(value)


def _package(value: object) -> str:
    if not isinstance(value, str) or not _PACKAGE.match(value):
        raise ValueError(f"{value!r} is not a package name such as com.example.shop")
    return value


Duration = Annotated[float, BeforeValidator(_duration)]
Name = Annotated[str, BeforeValidator(_name)]
Word = Annotated[str, BeforeValidator(_word)]
Package = Annotated[str, BeforeValidator(_package)]
Scalar = Annotated[bool | int | float | str, BeforeValidator(without_places)]
Variables = dict[Name, Annotated[Any, BeforeValidator(without_places)]]


class AppFileModel(BaseModel):
    """A part of an app file; unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, arbitrary_types_allowed=True, populate_by_name=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_unknown_keys(cls, value: object) -> object:
        if isinstance(value, Mapping):
            known = {field.alias or name for name, field in cls.model_fields.items()}
            for key in value:
                if key not in known and key not in cls.model_fields:
                    raise WrongKey(key, f"there is no `{key}`", known=known)
        return value


# -- Actions -------------------------------------------------------------------------------------


def _listed(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(f"an action is a mapping such as `navigate: home`, not {value!r}")
    return [value] if isinstance(value, Mapping) else value


class ShortForm(AppFileModel):
    """A part that may be written as a text, which is then the value of its first key."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {next(iter(cls.model_fields)): value} if isinstance(value, str) else value


class Opening(ShortForm):
    """A screen or dialog to open, with the values of its ``args``."""

    to: str
    values: dict[Name, Template] = Field(default_factory=dict, alias="with")


class Request(ShortForm):
    """A runtime permission to ask for, and what follows the answer."""

    permission: str
    on_granted: Actions = ()
    on_denied: Actions = ()


class Fetch(ShortForm):
    """An address to ask for, where its text goes, and what follows."""

    url: Template
    into: Name | None = None
    on_answer: Actions = ()
    on_failure: Actions = ()


_ONLY_WITH = {"then": "if", "else": "if", "do": "after"}


class Action(AppFileModel):
    """One thing that happens: exactly one verb, and the parts of `if` or `after`."""

    set: dict[Name, Any] | None = None
    add: dict[Name, Expression] | None = None
    toggle: Name | None = None
    append: dict[Name, Any] | None = None
    remove: dict[Name, Expression] | None = None
    navigate: Opening | None = None
    replace: Opening | None = None
    root: Opening | None = None
    back: Literal[True] | None = None
    finish: Literal[True] | None = None
    dialog: Opening | None = None
    dismiss: Literal[True] | None = None
    toast: Template | None = None
    snackbar: Template | None = None
    start_app: Package | None = None
    open_uri: Template | None = None
    home: Literal[True] | None = None
    focus: str | None = None
    hide_keyboard: Literal[True] | None = None
    request_permission: Request | None = None
    fetch: Fetch | None = None
    crash: Template | None = None
    after: Duration | None = None
    condition: Expression | None = Field(default=None, alias="if")
    do: Actions = ()
    then: Actions = ()
    otherwise: Actions = Field(default=(), alias="else")
    _place: str = PrivateAttr(default="")

    @model_validator(mode="wrap")
    @classmethod
    def _with_place(cls, value: object, handler: ModelWrapValidatorHandler[Action]) -> Action:
        action = handler(value)
        if isinstance(value, Mapping):
            action._place = next(filter(None, map(place_of, value)), "")
        return action

    @property
    def place(self) -> str:
        """Where it stands, such as ``shop.yaml:7:12``; empty for one of Android's own."""
        # One that was made without a file has no private attributes at all.
        return self._place if self.__pydantic_private__ else ""

    @model_validator(mode="before")
    @classmethod
    def _one_verb(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            raise ValueError(f"an action is a mapping such as `navigate: home`, not {value!r}")
        verbs = [key for key in value if key in VERBS]
        if len(verbs) != 1:
            found = "none" if not verbs else " and ".join(f"`{verb}`" for verb in verbs)
            key = verbs[1] if verbs else next(iter(value), "")
            message = f"an action has exactly one verb, here: {found}; several form a list"
            raise WrongKey(key, message, known=VERBS)
        for part, verb in _ONLY_WITH.items():
            if part in value and verbs[0] != verb:
                raise WrongKey(part, f"`{part}` belongs to `{verb}`", known=[verbs[0]])
        return value

    @cached_property
    def verb(self) -> str:
        """The name of the verb."""
        return next(
            verb
            for verb in VERBS
            if getattr(self, "condition" if verb == "if" else verb) is not None
        )

    @cached_property
    def values(self) -> dict[str, Template | Mapping[str, Template]]:
        """What `set` or `append` assigns, as templates."""
        given = self.set if self.set is not None else self.append or {}
        return {name: _assigned(value) for name, value in given.items()}


VERBS = tuple(
    name
    for name in (field.alias or key for key, field in Action.model_fields.items())
    if name not in _ONLY_WITH
)


def _assigned(value: Any) -> Template | Mapping[str, Template]:
    if isinstance(value, Mapping):
        return {str(part): Template.parse(entry) for part, entry in value.items()}
    return Template.parse("" if value == [] else value)


Actions = Annotated[tuple[Action, ...], BeforeValidator(_listed)]
# -- Widgets -------------------------------------------------------------------------------------

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
            raise ValueError(f"`{kind}: …` and `{slot}: …` mean the same thing; keep one")
        rest[slot] = content
    if kind == "tabs" and isinstance(rest.get("items"), list) and "bind" in rest:
        # A tab must know what it sets; saying it once for the whole bar is enough.
        rest["items"] = [
            {**tab, "bind": rest["bind"]} if isinstance(tab, Mapping) and "tab" in tab else tab
            for tab in rest["items"]
        ]
    return {"kind": kind, **rest}


# -- Apps, screens and dialogs -------------------------------------------------------------------


class Timer(AppFileModel):
    """Something that happens a while after a screen opened."""

    after: Duration
    do: Actions
    condition: Expression | None = Field(default=None, alias="if")


class Screen(AppFileModel):
    """One screen of an app."""

    title: Template | None = None
    activity: str | None = None
    up: bool | None = None
    toolbar: bool = True
    args: dict[Name, Scalar] = Field(default_factory=dict)
    menu: tuple[Widget, ...] = ()
    items: tuple[Widget, ...] = ()
    bottom: tuple[Widget, ...] = ()
    on_open: Actions = ()
    on_back: Actions = ()
    timers: tuple[Timer, ...] = ()


class DialogButton(AppFileModel):
    """A button at the foot of a dialog; pressing it closes the dialog, then does its actions."""

    button: Template
    id: str | None = None
    do: Actions = ()


class Dialog(AppFileModel):
    """A modal dialog, in its own window."""

    title: Template | None = None
    text: Template | None = None
    args: dict[Name, Scalar] = Field(default_factory=dict)
    items: tuple[Widget, ...] = ()
    buttons: Annotated[tuple[DialogButton, ...], Field(max_length=3)] = ()
    cancelable: bool = True
    on_cancel: Actions = ()

    @cached_property
    def text_widgets(self) -> tuple[Widget, ...]:
        """Title and text as widgets, with the ids that Android gives them."""
        texts = ((self.title, "title", "alertTitle"), (self.text, "text", "android:id/message"))
        return tuple(
            Widget.model_construct(kind=kind, text=text, id=Template(name))
            for text, kind, name in texts
            if text is not None
        )

    @cached_property
    def button_widgets(self) -> tuple[Widget, ...]:
        """The buttons as widgets, with the ids that Android gives them."""
        return tuple(
            Widget.model_construct(
                kind="button",
                text=button.button,
                id=Template(button.id or f"android:id/button{number}"),
                on_tap=(Action.model_construct(dismiss=True), *button.do),
            )
            for number, button in enumerate(self.buttons, 1)
        )


class Link(AppFileModel):
    """A deep link: addresses of this form open that screen.

    ``{name}`` stands for one part of the path, ``{name:int}`` for a number; both become args
    of the screen. A ``*`` at the end stands for any rest.
    """

    uri: str
    screen: str
    values: dict[Name, Template] = Field(default_factory=dict, alias="with")

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names in braces."""
        return tuple(re.findall(r"\{([a-z_][a-z0-9_]*)(?::int)?\}", self.uri))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The form of the addresses; a query or fragment may follow."""
        return _link_pattern(self.uri)

    @model_validator(mode="after")
    def _is_an_address(self) -> Link:
        if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", self.uri):
            raise ValueError(f"{self.uri!r} has no scheme; write it as shop://item/{{id}}")
        try:
            _link_pattern(self.uri)
        except re.error as error:
            raise ValueError(f"{self.uri!r} is not a link: {error}") from error
        return self


def _link_pattern(uri: str) -> re.Pattern[str]:
    parts = re.split(r"(\{[a-z_][a-z0-9_]*(?::int)?\}|\*$)", uri)
    pattern = ""
    for part in parts:
        if part == "*":
            pattern += ".*"
        elif part.startswith("{"):
            name, _, kind = part[1:-1].partition(":")
            pattern += f"(?P<{name}>{'[0-9]{1,9}' if kind else '[^/?#]+'})"
        else:
            pattern += re.escape(part)
    return re.compile(rf"(?i:{pattern})(?:/?(?:[?#].*)?)$", re.DOTALL)


class App(AppFileModel):
    """An app: its package, its variables, and its screens."""

    package: Package
    name: str
    version: str = "1.0"
    version_code: int = 1
    min_sdk: int = 24
    target_sdk: int = 35
    system: bool = False
    launcher: bool = True
    activity: str = ".MainActivity"
    permissions: tuple[str, ...] = ()
    state: Variables = Field(default_factory=dict)
    saved: Variables = Field(default_factory=dict)
    computed: dict[Name, Expression] = Field(default_factory=dict)
    links: tuple[Link, ...] = ()
    intents: dict[str, str] = Field(default_factory=dict)
    start: str
    screens: dict[Word, Screen]
    dialogs: dict[Word, Dialog] = Field(default_factory=dict)

    def full_activity(self, activity: str | None = None) -> str:
        """Return the full class name of an activity; ``.Name`` is short for one in the package."""
        activity = activity or self.activity
        return self.package + activity if activity.startswith(".") else activity

    @cached_property
    def activities(self) -> dict[str, str]:
        """The screen that each activity shows first, by the activity's class name."""
        found = {self.full_activity(): self.start}
        for name, screen in self.screens.items():
            if screen.activity is not None:
                found.setdefault(self.full_activity(screen.activity), name)
        return found


App.model_rebuild()
