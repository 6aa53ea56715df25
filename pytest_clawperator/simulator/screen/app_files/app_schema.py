"""What an app file may say: one YAML file describes one app and all its screens."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated

from pydantic import Field, model_validator

from pytest_clawperator.simulator.screen.app_files.action_schema import Action, Actions
from pytest_clawperator.simulator.screen.app_files.field_types import (
    AppFileModel,
    Duration,
    Name,
    Package,
    Scalar,
    Variables,
    Word,
)
from pytest_clawperator.simulator.screen.app_files.language.expressions import Expression, Template
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget


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
    """A modal dialog in a window of its own."""

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
    """An app: what its package says about it, its variables, and its screens."""

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
