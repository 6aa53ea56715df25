"""The commands of the Operator: the actions of a payload as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Profile = Literal["documented", "0.5.3"]
PROFILES: tuple[Profile, ...] = ("documented", "0.5.3")
"""Every profile, the default one first."""

Direction = Literal["Down", "Up", "Left", "Right"]
ClickType = Literal["click", "long_click", "focus"]
Validator = Literal["temperature", "version", "regex"]
Key = Literal["back", "home", "recents"]


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often to try, and how long to pause in between; times in milliseconds."""

    max_attempts: int = 1
    initial_delay: float = 0
    max_delay: float = 0
    multiplier: float = 1.0
    jitter: float = 0.0


NO_RETRY = Retry()
UI_READINESS = Retry(max_attempts=5, initial_delay=500, max_delay=3000, multiplier=2.0, jitter=0.15)
APP_LAUNCH = Retry(max_attempts=4, initial_delay=750, max_delay=4000, multiplier=2.0, jitter=0.15)
UI_SCROLL = Retry(max_attempts=4, initial_delay=400, max_delay=2000, multiplier=2.0, jitter=0.15)

MATCHER_KEYS = (
    *("resourceId", "role", "textEquals", "textContains"),
    *("contentDescEquals", "contentDescContains"),
)
"""The fields of a matcher, in the order in which the app prints them."""


@dataclass(frozen=True)
class NodeMatcher:
    """Which node is meant; every field must fit. One without fields stands for no node."""

    fields: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.fields)

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={self.fields.get(key, 'null')}" for key in MATCHER_KEYS)
        return f"NodeMatcher({shown})"


NO_MATCHER = NodeMatcher({})


@dataclass(frozen=True, kw_only=True)
class Action:
    """One step of a command; parameters that its type does not have keep their defaults.

    ``matcher`` is the node that the step is about, also a label or an expected node; ``package``
    the app; a click has either a ``matcher`` or a ``coordinate``.
    """

    id: str
    type: str
    matcher: NodeMatcher = NO_MATCHER
    container: NodeMatcher = NO_MATCHER
    coordinate: tuple[int, int] | None = None
    package: str = ""
    uri: str = ""
    text: str = ""
    submit: bool = False
    key: Key = "back"
    session_id: str | None = None
    timeout_ms: int | None = None
    duration_ms: int = 0
    retry: Retry = NO_RETRY
    click_type: ClickType = "click"
    click_after: bool = False
    click_retry: Retry = UI_READINESS
    direction: Direction = "Down"
    distance_ratio: float = 0.7
    settle_delay_ms: int = 250
    find_first_scrollable_child: bool = True
    max_scrolls: int = 0
    max_duration_ms: int = 0
    no_position_change_threshold: int = 3
    all: bool = False
    validator: Validator | None = None
    validator_pattern: str = ""

    @property
    def class_name(self) -> str:
        """What the app's log calls the type: ``ScrollUntil`` for ``scroll_until``."""
        return self.type.title().replace("_", "")

    @property
    def is_vertical(self) -> bool:
        """Whether it scrolls up or down."""
        return self.direction in ("Down", "Up")


@dataclass(frozen=True, kw_only=True)
class Command:
    """One accepted payload."""

    command_id: str
    task_id: str
    source: str
    timeout_ms: int
    actions: tuple[Action, ...]

    @cached_property
    def ids(self) -> str:
        """The two ids as the app's log prints them."""
        return f"commandId={self.command_id} taskId={self.task_id}"
