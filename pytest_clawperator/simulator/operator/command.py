"""The commands of the Operator: the actions of a payload as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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
MATCHER_KEYS: Mapping[str, str] = {
    "resourceId": "resource_id",
    "role": "role",
    "textEquals": "text_equals",
    "textContains": "text_contains",
    "contentDescEquals": "content_desc_equals",
    "contentDescContains": "content_desc_contains",
}
"""Wire name to attribute, in the order in which the app prints them."""


@dataclass(frozen=True, kw_only=True)
class NodeMatcher:
    """Which node is meant; every field that is set must fit."""

    resource_id: str | None = None
    role: str | None = None
    text_equals: str | None = None
    text_contains: str | None = None
    content_desc_equals: str | None = None
    content_desc_contains: str | None = None

    def to_wire(self) -> dict[str, str]:
        """Return the fields that are set, by their wire names."""
        pairs = ((wire, getattr(self, name)) for wire, name in MATCHER_KEYS.items())
        return {wire: value for wire, value in pairs if value is not None}

    def __str__(self) -> str:
        shown = ", ".join(
            f"{wire}={'null' if value is None else value}"
            for wire, value in ((wire, getattr(self, name)) for wire, name in MATCHER_KEYS.items())
        )
        return f"NodeMatcher({shown})"


@dataclass(frozen=True, kw_only=True)
class Action:
    """One step; the class name is what the app's log calls it."""

    id: str

    @property
    def wire_type(self) -> str:
        """The step's ``actionType``: ``scroll_until`` for ``ScrollUntil``."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


@dataclass(frozen=True, kw_only=True)
class OpenUri(Action):
    """Show an address in whichever app handles it."""

    uri: str
    retry: Retry = APP_LAUNCH


@dataclass(frozen=True, kw_only=True)
class OpenApp(Action):
    """Bring an app to the front."""

    application_id: str
    retry: Retry = APP_LAUNCH


@dataclass(frozen=True, kw_only=True)
class CloseApp(Action):
    """Close an app, which only the host can do."""

    application_id: str


@dataclass(frozen=True, kw_only=True)
class WaitForNode(Action):
    """Wait until a node is there."""

    matcher: NodeMatcher
    retry: Retry = UI_READINESS
    timeout_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class Click(Action):
    """Click a node or a point; exactly one of them is set."""

    matcher: NodeMatcher | None = None
    coordinate: tuple[int, int] | None = None
    click_type: ClickType = "click"
    retry: Retry = UI_READINESS


@dataclass(frozen=True, kw_only=True)
class ScrollStyle:
    """The gesture and the container of a scrolling action."""

    container: NodeMatcher | None = None
    direction: Direction = "Down"
    distance_ratio: float = 0.7
    settle_delay_ms: int = 250
    find_first_scrollable_child: bool = True


@dataclass(frozen=True, kw_only=True)
class Scroll(Action):
    """Swipe once."""

    style: ScrollStyle = field(default_factory=ScrollStyle)
    retry: Retry = NO_RETRY


@dataclass(frozen=True, kw_only=True)
class ScrollUntil(Action):
    """Swipe until a node shows up, the list ends, or a limit is reached."""

    style: ScrollStyle = field(default_factory=ScrollStyle)
    matcher: NodeMatcher | None = None
    click_type: ClickType = "click"
    max_scrolls: int = 20
    max_duration_ms: int = 10_000
    no_position_change_threshold: int = 3
    click_after: bool = False


@dataclass(frozen=True, kw_only=True)
class ScrollAndClick(Action):
    """Swipe until a node shows up, then click it."""

    matcher: NodeMatcher
    style: ScrollStyle = field(default_factory=ScrollStyle)
    click_type: ClickType = "click"
    max_swipes: int = 10
    scroll_retry: Retry = UI_SCROLL
    click_retry: Retry = UI_READINESS
    click_after: bool = True


@dataclass(frozen=True, kw_only=True)
class WaitForNavigation(Action):
    """Wait until another app or a node is there."""

    timeout_ms: int
    expected_package: str | None = None
    expected_node: NodeMatcher | None = None


@dataclass(frozen=True, kw_only=True)
class ReadKeyValuePair(Action):
    """Read the value that stands beside a label."""

    label_matcher: NodeMatcher
    retry: Retry = UI_READINESS


@dataclass(frozen=True, kw_only=True)
class ReadText(Action):
    """Read the text of one node or of all that fit."""

    matcher: NodeMatcher
    container: NodeMatcher | None = None
    all: bool = False
    validator: Validator | None = None
    validator_pattern: str | None = None
    retry: Retry = UI_READINESS


@dataclass(frozen=True, kw_only=True)
class EnterText(Action):
    """Put text into a field."""

    matcher: NodeMatcher
    text: str
    submit: bool = False
    retry: Retry = UI_READINESS


@dataclass(frozen=True, kw_only=True)
class SnapshotUi(Action):
    """Log the UI hierarchy."""

    retry: Retry = UI_READINESS


@dataclass(frozen=True, kw_only=True)
class TakeScreenshot(Action):
    """Take a picture, which only the host can do."""


@dataclass(frozen=True, kw_only=True)
class Sleep(Action):
    """Do nothing for a while."""

    duration_ms: int
    retry: Retry = NO_RETRY


@dataclass(frozen=True, kw_only=True)
class PressKey(Action):
    """Press one of the three system keys."""

    key: Key


@dataclass(frozen=True, kw_only=True)
class DoctorPing(Action):
    """Answer, and return whether developer options are on."""


@dataclass(frozen=True, kw_only=True)
class StartRecording(Action):
    """Start to record what happens on the screen."""

    session_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class StopRecording(Action):
    """End the recording."""

    session_id: str | None = None


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
