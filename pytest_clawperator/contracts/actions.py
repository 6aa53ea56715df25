"""A class for each action type, for writing payloads with completion and type checks.

They are a convenience: a payload is judged by its wire form, whoever wrote it. Times are
seconds here and milliseconds on the wire; the conversion happens in this module only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, Literal

from pydantic.alias_generators import to_camel

from pytest_clawperator.contracts.params import Coordinate
from pytest_clawperator.contracts.schema import WireObject
from pytest_clawperator.contracts.selectors import NodeMatcher

Matcher = NodeMatcher | Mapping[str, Any]
Direction = Literal["down", "up", "left", "right"]
ClickType = Literal["default", "long_click", "focus"]


def to_milliseconds(seconds: Any) -> Any:
    """Convert seconds to the wire's milliseconds, whole ones: the Operator ignores fractions.

    What is no number of seconds is left as it is, for the judge to refuse.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return seconds
    milliseconds = seconds * 1000
    if isinstance(milliseconds, int) or not math.isfinite(milliseconds):
        return milliseconds
    return max(round(milliseconds), 1) if seconds > 0 else round(milliseconds)


def _to_point(point: Any) -> Any:
    """Put a pair into wire form; anything else is left for the judge."""
    if isinstance(point, (tuple, list)) and len(point) == 2:
        return {"x": point[0], "y": point[1]}
    return _to_wire(point)


def _seconds(wire_name: str, **options: Any) -> Any:
    return field(metadata={"wire_name": wire_name, "convert": to_milliseconds}, **options)


def _to_wire(value: Any) -> Any:
    if isinstance(value, (WireObject, Retry)):
        return value.to_wire()
    return dict(value) if isinstance(value, Mapping) else value


def _wire_fields(instance: Any) -> dict[str, Any]:
    """Give the fields that are not None under their wire names."""
    wire = {}
    for each in fields(instance):
        value = getattr(instance, each.name)
        if value is not None:
            convert = each.metadata.get("convert", _to_wire)
            wire[each.metadata.get("wire_name", to_camel(each.name))] = convert(value)
    return wire


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often an action is tried, and how long it pauses in between."""

    max_attempts: int | None = None
    initial_delay: float | None = _seconds("initialDelayMs", default=None)
    max_delay: float | None = _seconds("maxDelayMs", default=None)
    backoff_multiplier: float | None = None
    jitter_ratio: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """Give the retry object as it travels."""
        return _wire_fields(self)


RetryLike = Retry | Mapping[str, Any]


@dataclass(frozen=True)
class TypedAction:
    """What all action classes share: a type, and an id that may be left to the framework."""

    type: ClassVar[str]

    id: str | None = field(default=None, kw_only=True)

    def to_wire(self) -> dict[str, Any]:
        """Give the action as it travels."""
        params = _wire_fields(self)
        wire: dict[str, Any] = {"type": self.type}
        if self.id is not None:
            wire = {"id": params.pop("id"), **wire}
        return {**wire, "params": params} if params else wire


@dataclass(frozen=True)
class OpenApp(TypedAction):
    """Start an app, or bring it to the front."""

    type = "open_app"
    application_id: str
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class OpenUri(TypedAction):
    """Open a web address or a deep link."""

    type = "open_uri"
    uri: str
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class CloseApp(TypedAction):
    """Force-stop an app. It happens before the first step of the payload, wherever it stands."""

    type = "close_app"
    application_id: str


@dataclass(frozen=True)
class StartRecording(TypedAction):
    """Record what a person does on the device."""

    type = "start_recording"
    session_id: str | None = None


@dataclass(frozen=True)
class StopRecording(TypedAction):
    """End the recording."""

    type = "stop_recording"
    session_id: str | None = None


@dataclass(frozen=True)
class WaitForNode(TypedAction):
    """Wait until a node is on the screen. ``timeout`` shortens the wait; ``retry`` lengthens it."""

    type = "wait_for_node"
    matcher: Matcher
    _: KW_ONLY
    timeout: float | None = _seconds("timeoutMs", default=None)
    retry: RetryLike | None = None


@dataclass(frozen=True)
class Click(TypedAction):
    """Tap a node, or a point of the screen."""

    type = "click"
    matcher: Matcher | None = None
    _: KW_ONLY
    coordinate: tuple[int, int] | Coordinate | None = field(
        default=None, metadata={"convert": _to_point}
    )
    click_type: ClickType | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class ScrollAndClick(TypedAction):
    """Scroll until a node comes up, then tap it."""

    type = "scroll_and_click"
    matcher: Matcher
    _: KW_ONLY
    container: Matcher | None = None
    direction: Direction | None = None
    click_type: ClickType | None = None
    max_swipes: int | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = _seconds("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    click_after: bool | None = None
    scroll_retry: RetryLike | None = None
    click_retry: RetryLike | None = None


@dataclass(frozen=True)
class Scroll(TypedAction):
    """Make one scroll gesture."""

    type = "scroll"
    direction: Direction | None = None
    _: KW_ONLY
    container: Matcher | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = _seconds("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class ScrollUntil(TypedAction):
    """Scroll until a node comes up, the list ends, or a limit is reached."""

    type = "scroll_until"
    matcher: Matcher | None = None
    _: KW_ONLY
    container: Matcher | None = None
    direction: Direction | None = None
    max_scrolls: int | None = None
    max_duration: float | None = _seconds("maxDurationMs", default=None)
    no_position_change_threshold: int | None = None
    distance_ratio: float | None = None
    settle_delay: float | None = _seconds("settleDelayMs", default=None)
    find_first_scrollable_child: bool | None = None
    click_after: bool | None = None
    click_type: ClickType | None = None


@dataclass(frozen=True)
class ReadText(TypedAction):
    """Read a node's text, or with ``all`` the texts of every node that fits."""

    type = "read_text"
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

    type = "enter_text"
    matcher: Matcher
    text: str
    _: KW_ONLY
    submit: bool | None = None
    clear: bool | None = None
    retry: RetryLike | None = None


@dataclass(frozen=True)
class SnapshotUi(TypedAction):
    """Capture the UI hierarchy."""

    type = "snapshot_ui"
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class TakeScreenshot(TypedAction):
    """Capture the screen as PNG. One a payload: the picture is taken after its last step."""

    type = "take_screenshot"
    path: str | None = None
    _: KW_ONLY
    retry: RetryLike | None = None


@dataclass(frozen=True)
class Sleep(TypedAction):
    """Do nothing for a while."""

    type = "sleep"
    duration: float = _seconds("durationMs")


@dataclass(frozen=True)
class PressKey(TypedAction):
    """Press a system key."""

    type = "press_key"
    key: Literal["back", "home", "recents"]


@dataclass(frozen=True)
class WaitForNavigation(TypedAction):
    """Wait until another app or screen has come up."""

    type = "wait_for_navigation"
    _: KW_ONLY
    timeout: float = _seconds("timeoutMs")
    expected_package: str | None = None
    expected_node: Matcher | None = None


@dataclass(frozen=True)
class ReadKeyValuePair(TypedAction):
    """Read the value that stands beside a label, as in Settings."""

    type = "read_key_value_pair"
    label_matcher: Matcher
    _: KW_ONLY
    retry: RetryLike | None = None
