"""The action types: a class for each, with all that is known of it in its row.

The row (``spec``) holds for every payload, which is validated in wire form, whoever wrote it.
The class is for writing payloads with completion and type checks, times in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, Literal

from pytest_clawperator.contracts import durations, limits
from pytest_clawperator.contracts.params import Coordinate
from pytest_clawperator.contracts.schema.action_rules import (
    SCROLL_SHAPE,
    click_after_scroll,
    click_target,
    entered_text,
    navigation_target,
    navigation_timeout,
    needs_matcher,
    needs_text,
    not_blank,
    pressed_key,
    read_text_pattern,
    sleep_duration,
    whole_within,
    within,
)
from pytest_clawperator.contracts.schema.typed_action import (
    ActionType,
    seconds_field,
    to_point,
)
from pytest_clawperator.contracts.schema.typed_action import Retry as Retry
from pytest_clawperator.contracts.schema.typed_action import TypedAction as TypedAction
from pytest_clawperator.contracts.schema.typed_action import to_milliseconds as to_milliseconds
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.redaction import hide

Matcher = NodeMatcher | Mapping[str, Any]
Direction = Literal["down", "up", "left", "right"]
ClickType = Literal["default", "long_click", "focus"]
RetryLike = Retry | Mapping[str, Any]


@dataclass(frozen=True)
class OpenApp(TypedAction):
    """Start an app, or bring it to the front."""

    spec = ActionType(
        "open_app",
        guesses=("launch", "launch_app", "open", "start_app"),
        rules=(needs_text("applicationId"),),
        longest=durations.launching,
        logs=("application_id", "error"),
    )
    application_id: str
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class OpenUri(TypedAction):
    """Open a web address or a deep link."""

    spec = ActionType(
        "open_uri",
        aliases=("open_url",),
        rules=(needs_text("uri"),),
        longest=durations.launching,
        logs=("uri", "error"),
    )
    uri: str
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class CloseApp(TypedAction):
    """Force-stop an app. It happens before the first step of the payload, wherever it stands."""

    spec = ActionType(
        "close_app",
        guesses=("stop_app",),
        rules=(needs_text("applicationId"),),
        longest=durations.one_step,
        logs=("application_id", "error", "message"),
    )
    application_id: str


@dataclass(frozen=True)
class StartRecording(TypedAction):
    """Record what a person does on the device."""

    spec = ActionType(
        "start_recording",
        rules=(not_blank("sessionId", "not be blank"),),
        longest=durations.recording,
        logs=("error", "message", "sessionId", "filePath"),
    )
    session_id: str | None = None


@dataclass(frozen=True)
class StopRecording(TypedAction):
    """End the recording."""

    spec = ActionType(
        "stop_recording",
        rules=(not_blank("sessionId", "not be blank"),),
        longest=durations.recording,
        logs=("error", "message", "sessionId", "filePath", "eventCount"),
    )
    session_id: str | None = None


@dataclass(frozen=True)
class WaitForNode(TypedAction):
    """Wait until a node is on the screen. ``timeout`` shortens the wait; ``retry`` lengthens it."""

    spec = ActionType(
        "wait_for_node",
        aliases=("wait_for", "find", "find_node"),
        guesses=("wait",),
        rules=(needs_matcher("matcher"),),
        longest=durations.looking,
        logs=("resource_id", "label", "timeout_ms", "error"),
    )
    matcher: Matcher
    _: KW_ONLY
    timeout: float | None = seconds_field("timeoutMs", default=None)
    retry: RetryLike | None = None


@dataclass(frozen=True)
class Click(TypedAction):
    """Tap a node, or a point of the screen."""

    spec = ActionType(
        "click",
        aliases=("tap", "press"),
        guesses=("long_press", "long_click"),
        rules=(click_target,),
        longest=durations.looking,
        logs=("coordinate", "click_types", "error"),
        taps=True,
    )
    matcher: Matcher | None = None
    _: KW_ONLY
    coordinate: tuple[int, int] | Coordinate | None = field(
        default=None, metadata={"convert": to_point}
    )
    click_type: ClickType | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class ScrollAndClick(TypedAction):
    """Scroll until a node comes up, then tap it."""

    spec = ActionType(
        "scroll_and_click",
        rules=(needs_matcher("matcher"),),
        longest=durations.scrolling_to_click,
        undeclared_ms=durations.swipes_ms,
        logs=("max_swipes", "direction", "click_types", "click_after", "error"),
        taps=True,
    )
    matcher: Matcher
    _: KW_ONLY
    container: Matcher | None = None
    direction: Direction | None = None
    click_type: ClickType | None = None
    max_swipes: int | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = seconds_field("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    click_after: bool | None = None
    scroll_retry: RetryLike | None = None
    click_retry: RetryLike | None = None


@dataclass(frozen=True)
class Scroll(TypedAction):
    """Make one scroll gesture."""

    spec = ActionType(
        "scroll",
        guesses=("swipe",),
        rules=SCROLL_SHAPE,
        longest=durations.scrolling_once,
        logs=(
            "scroll_outcome",
            "direction",
            "distance_ratio",
            "settle_delay_ms",
            "resolved_container",
            "error",
        ),
    )
    direction: Direction | None = None
    _: KW_ONLY
    container: Matcher | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = seconds_field("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class ScrollUntil(TypedAction):
    """Scroll until a node comes up, the list ends, or a limit is reached."""

    spec = ActionType(
        "scroll_until",
        rules=(
            click_after_scroll,
            *SCROLL_SHAPE,
            whole_within("maxScrolls", 1, limits.MAX_SCROLLS),
            within("maxDurationMs", 0, limits.MAX_SCROLL_DURATION_MS),
            whole_within("noPositionChangeThreshold", 1, limits.MAX_NO_POSITION_CHANGE),
        ),
        longest=durations.scrolling_until,
        undeclared_ms=durations.last_look_ms,
        logs=(
            "termination_reason",
            "scrolls_executed",
            "direction",
            "click_after",
            "click_types",
            "resolved_container",
            "error",
        ),
    )
    matcher: Matcher | None = None
    _: KW_ONLY
    container: Matcher | None = None
    direction: Direction | None = None
    max_scrolls: int | None = None
    max_duration: float | None = seconds_field("maxDurationMs", default=None)
    no_position_change_threshold: int | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = seconds_field("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    click_after: bool | None = None
    click_type: ClickType | None = None


@dataclass(frozen=True)
class ReadText(TypedAction):
    """Read a node's text, or with ``all`` the texts of every node that fits."""

    spec = ActionType(
        "read_text",
        aliases=("read",),
        guesses=("get_text",),
        rules=(needs_matcher("matcher"), read_text_pattern),
        longest=durations.looking,
        logs=("text", "all", "count", "validator", "container", "error", "raw_text", "message"),
    )
    matcher: Matcher
    _: KW_ONLY
    container: Matcher | None = None
    all: bool | None = None
    validator: Literal["temperature", "version", "regex"] | None = None
    validator_pattern: str | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class EnterText(TypedAction):
    """Replace the text of a field."""

    spec = ActionType(
        "enter_text",
        aliases=("type_text", "text_entry", "input_text"),
        guesses=("type", "set_text"),
        rules=(needs_matcher("matcher"), entered_text),
        longest=durations.looking,
        logs=("text", "submit", "error"),
    )
    matcher: Matcher
    text: str
    _: KW_ONLY
    submit: bool | None = None
    clear: bool | None = None
    retry: RetryLike | None = None

    def __repr__(self) -> str:
        given = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return hide(f"{type(self).__qualname__}({', '.join(given)})")


@dataclass(frozen=True)
class SnapshotUi(TypedAction):
    """Capture the UI hierarchy."""

    spec = ActionType(
        "snapshot_ui",
        aliases=("snapshot",),
        guesses=("dump",),
        longest=durations.looking,
        logs=(
            "actual_format",
            "foreground_package",
            "has_overlay",
            "overlay_package",
            "window_count",
            "error",
        ),
    )
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class TakeScreenshot(TypedAction):
    """Capture the screen as PNG. One a payload: the picture is taken after its last step."""

    spec = ActionType(
        "take_screenshot",
        aliases=("screenshot", "capture_screenshot"),
        rules=(not_blank("path", "be a non-empty string"),),
        longest=durations.one_step,
        logs=("error", "message"),
    )
    path: str | None = None
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class Sleep(TypedAction):
    """Do nothing for a while."""

    spec = ActionType(
        "sleep",
        guesses=("pause",),
        rules=(sleep_duration,),
        longest=durations.sleeping,
        logs=("duration_ms", "error"),
    )
    duration: float = seconds_field("durationMs")


@dataclass(frozen=True)
class PressKey(TypedAction):
    """Press a system key."""

    spec = ActionType(
        "press_key",
        aliases=("key_press",),
        guesses=("back", "home", "press_back", "keyevent"),
        rules=(pressed_key,),
        longest=durations.one_step,
        logs=("key", "error"),
    )
    key: Literal["back", "home", "recents"]


@dataclass(frozen=True)
class WaitForNavigation(TypedAction):
    """Wait until another app or screen has come up."""

    spec = ActionType(
        "wait_for_navigation",
        guesses=("wait_for_nav",),
        rules=(navigation_target, navigation_timeout),
        longest=durations.navigating,
        logs=("resolved_package", "elapsed_ms", "error", "last_package"),
    )
    _: KW_ONLY
    timeout: float = seconds_field("timeoutMs")
    expected_package: str | None = None
    expected_node: Matcher | None = None


@dataclass(frozen=True)
class ReadKeyValuePair(TypedAction):
    """Read the value that stands beside a label, as in Settings."""

    spec = ActionType(
        "read_key_value_pair",
        guesses=("read_value",),
        rules=(needs_matcher("labelMatcher"),),
        longest=durations.looking,
        logs=("label", "value", "error"),
    )
    label_matcher: Matcher
    _: KW_ONLY
    retry: RetryLike | None = None


ACTION_TYPES: Mapping[str, ActionType] = {
    cls.spec.name: cls.spec for cls in TypedAction.__subclasses__()
}
#: Names that are accepted for the types, and the type that each stands for.
TYPE_ALIASES: dict[str, str] = {
    alias: kind.name for kind in ACTION_TYPES.values() for alias in kind.aliases
}
#: Names that people write who mean a type, accepted or not.
LIKELY_TYPES: dict[str, str] = TYPE_ALIASES | {
    guess: kind.name for kind in ACTION_TYPES.values() for guess in kind.guesses
}
