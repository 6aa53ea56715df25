"""What an app file may say about actions: each has exactly one verb."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)

from pytest_clawperator.simulator.screen.app_files.field_types import (
    AppFileModel,
    Duration,
    Name,
    Package,
    WrongKey,
)
from pytest_clawperator.simulator.screen.app_files.language.expressions import Expression, Template
from pytest_clawperator.simulator.screen.app_files.source_text import place_of


def _listed(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(f"an action is a mapping such as `navigate: home`, not {value!r}")
    return [value] if isinstance(value, Mapping) else value


class Opening(AppFileModel):
    """A screen or dialog to open, with the values of its ``args``."""

    to: str
    values: dict[Name, Template] = Field(default_factory=dict, alias="with")

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        return {"to": value} if isinstance(value, str) else value


class Request(AppFileModel):
    """A runtime permission to ask for, and what follows the answer."""

    permission: str
    on_granted: Actions = ()
    on_denied: Actions = ()

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        return {"permission": value} if isinstance(value, str) else value


class Fetch(AppFileModel):
    """An address to ask for, where its text goes, and what follows."""

    url: Template
    into: Name | None = None
    on_answer: Actions = ()
    on_failure: Actions = ()

    @model_validator(mode="before")
    @classmethod
    def _from_url(cls, value: object) -> object:
        return {"url": value} if isinstance(value, str) else value


VERBS = (
    "set", "add", "toggle", "append", "remove", "navigate", "replace", "root", "back", "finish",
    "dialog", "dismiss", "toast", "snackbar", "start_app", "open_uri", "home", "focus",
    "hide_keyboard", "request_permission", "fetch", "crash", "after", "if",
)  # fmt: skip
_ONLY_WITH = {"then": "if", "else": "if", "do": "after"}


class Action(AppFileModel):
    """One thing that happens: exactly one verb, and where that is `if` or `after`, its parts."""

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


def _assigned(value: Any) -> Template | Mapping[str, Template]:
    if isinstance(value, Mapping):
        return {str(part): Template.parse(entry) for part, entry in value.items()}
    return Template.parse("" if value == [] else value)


Actions = Annotated[tuple[Action, ...], BeforeValidator(_listed)]
