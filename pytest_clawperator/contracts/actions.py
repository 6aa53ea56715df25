"""The action types, and the spellings that are accepted for them.

Each type has a class, for writing payloads with completion and type checks, and a row (``spec``)
with its rules, which applies to every payload. Times are seconds in Python and milliseconds on
the wire; the conversion happens here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal

from pydantic.alias_generators import to_camel

from pytest_clawperator.contracts import limits, params
from pytest_clawperator.contracts.ecmascript import trim
from pytest_clawperator.contracts.matchers import NodeMatcher, canonical_matcher
from pytest_clawperator.contracts.params import (
    MATCHER_PARAMS,
    PARAM_ALIASES,
    ActionParams,
    ActionRule,
    Coordinate,
)
from pytest_clawperator.contracts.schema import WireObject, rename_keys
from pytest_clawperator.redaction import hide


def to_milliseconds(seconds: Any) -> Any:
    """Convert seconds to whole milliseconds, because the Operator ignores fractions.

    Anything but a number is returned unchanged, for validation to refuse.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return seconds
    milliseconds = seconds * 1000
    if isinstance(milliseconds, int) or not math.isfinite(milliseconds):
        return milliseconds
    return max(round(milliseconds), 1) if seconds > 0 else round(milliseconds)


def to_point(point: Any) -> Any:
    """Convert a pair to wire form; anything else is left for validation to refuse."""
    if isinstance(point, (tuple, list)) and len(point) == 2:
        return {"x": point[0], "y": point[1]}
    return _to_wire(point)


def seconds_field(wire_name: str, **options: Any) -> Any:
    """Return a dataclass field whose value is converted to the wire's milliseconds."""
    return field(metadata={"wire_name": wire_name, "convert": to_milliseconds}, **options)


def _to_wire(value: Any) -> Any:
    if isinstance(value, (WireObject, Retry)):
        return value.to_wire()
    return dict(value) if isinstance(value, Mapping) else value


def _wire_fields(instance: Any) -> dict[str, Any]:
    """Return the fields that are not None under their wire names."""
    wire = {}
    for name, wire_name, convert in _wire_names(instance.__class__):
        value = getattr(instance, name)
        if value is not None:
            wire[wire_name] = convert(value)
    return wire


@cache
def _wire_names(kind: type[Any]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Return each field of a class with its wire name and what converts its value."""
    return tuple(
        (
            each.name,
            each.metadata.get("wire_name", to_camel(each.name)),
            each.metadata.get("convert", _to_wire),
        )
        for each in fields(kind)
    )


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often an action is tried, and how long it pauses in between."""

    max_attempts: int | None = None
    initial_delay: float | None = seconds_field("initialDelayMs", default=None)
    max_delay: float | None = seconds_field("maxDelayMs", default=None)
    backoff_multiplier: float | None = None
    jitter_ratio: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the retry object as it travels."""
        return _wire_fields(self)


@dataclass(frozen=True)
class ActionType:
    """The row of an action type: everything the host knows about it.

    ``aliases`` are accepted for its name; ``guesses`` are refused, with the name as the
    suggestion. ``rules`` check its parameters. ``longest`` returns the most seconds that it can
    keep the device busy, ``undeclared_ms`` the time it takes on top of what its parameters
    declare. ``logs`` are the keys of its data, in the order in which the Operator's log prints
    them. ``taps``: the screen may still be changing after it.
    """

    name: str
    _: KW_ONLY
    aliases: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    rules: tuple[ActionRule, ...] = ()
    longest: Callable[[ActionParams], float]
    undeclared_ms: Callable[[Mapping[Any, Any]], float] = params.nothing_more
    logs: tuple[str, ...]
    taps: bool = False


@dataclass(frozen=True)
class TypedAction:
    """What all action classes share: a type, and an id that may be left to the framework."""

    spec: ClassVar[ActionType]
    type: ClassVar[str]

    id: str | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.type = cls.spec.name

    def to_wire(self) -> dict[str, Any]:
        """Return the action as it travels."""
        params = _wire_fields(self)
        wire: dict[str, Any] = {"type": self.type}
        if self.id is not None:
            wire = {"id": params.pop("id"), **wire}
        return {**wire, "params": params} if params else wire


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
        rules=(params.needs_text("applicationId"),),
        longest=params.launching,
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
        rules=(params.needs_text("uri"),),
        longest=params.launching,
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
        rules=(params.needs_text("applicationId"),),
        longest=params.one_step,
        logs=("application_id", "error", "message"),
    )
    application_id: str


@dataclass(frozen=True)
class StartRecording(TypedAction):
    """Record what a person does on the device."""

    spec = ActionType(
        "start_recording",
        rules=(params.not_blank("sessionId", "not be blank"),),
        longest=params.recording,
        logs=("error", "message", "sessionId", "filePath"),
    )
    session_id: str | None = None


@dataclass(frozen=True)
class StopRecording(TypedAction):
    """End the recording."""

    spec = ActionType(
        "stop_recording",
        rules=(params.not_blank("sessionId", "not be blank"),),
        longest=params.recording,
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
        rules=(params.needs_matcher("matcher"),),
        longest=params.looking,
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
        rules=(params.click_target,),
        longest=params.looking,
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
        rules=(params.needs_matcher("matcher"),),
        longest=params.scrolling_to_click,
        undeclared_ms=params.swipes_ms,
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
        rules=params.SCROLL_SHAPE,
        longest=params.scrolling_once,
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
            params.click_after_scroll,
            *params.SCROLL_SHAPE,
            params.whole_within("maxScrolls", 1, limits.MAX_SCROLLS),
            params.within("maxDurationMs", 0, limits.MAX_SCROLL_DURATION_MS),
            params.whole_within("noPositionChangeThreshold", 1, limits.MAX_NO_POSITION_CHANGE),
        ),
        longest=params.scrolling_until,
        undeclared_ms=params.last_look_ms,
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
        rules=(params.needs_matcher("matcher"), params.read_text_pattern),
        longest=params.looking,
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
        rules=(params.needs_matcher("matcher"), params.entered_text),
        longest=params.looking,
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
        longest=params.looking,
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
        rules=(params.not_blank("path", "be a non-empty string"),),
        longest=params.one_step,
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
        rules=(params.sleep_duration,),
        longest=params.sleeping,
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
        rules=(params.pressed_key,),
        longest=params.one_step,
        logs=("key", "error"),
    )
    key: Literal["back", "home", "recents"]


@dataclass(frozen=True)
class WaitForNavigation(TypedAction):
    """Wait until another app or screen has come up."""

    spec = ActionType(
        "wait_for_navigation",
        guesses=("wait_for_nav",),
        rules=(params.navigation_target, params.navigation_timeout),
        longest=params.navigating,
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
        rules=(params.needs_matcher("labelMatcher"),),
        longest=params.looking,
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
#: Names that people write when they mean a type, accepted or not.
LIKELY_TYPES: dict[str, str] = TYPE_ALIASES | {
    guess: kind.name for kind in ACTION_TYPES.values() for guess in kind.guesses
}

# Aliases are renamed before validation. Renaming never fails: what it does not understand is left
# for the schema to refuse.

EXECUTION_ALIASES = {
    "command_id": "commandId",
    "task_id": "taskId",
    "expected_format": "expectedFormat",
    "timeout_ms": "timeoutMs",
}


def canonical_type(spelled: str) -> str:
    """Return the canonical action type for any spelling of it: `` Tap `` is ``click``."""
    cleaned = trim(spelled).lower()
    canonical = TYPE_ALIASES.get(cleaned, cleaned)
    return spelled if canonical == spelled else canonical


def canonical_params(params: Any) -> Any:
    """Rename the aliases of an action's parameters and of the matchers in them."""
    if not isinstance(params, dict):
        return params
    renamed = rename_keys(params, PARAM_ALIASES)
    for name in MATCHER_PARAMS:
        if name in renamed:
            renamed = _with(renamed, name, canonical_matcher(renamed[name]))
    if renamed.get("clickType") is True:
        renamed = _with(renamed, "clickType", "long_click")
    return renamed


def canonical_action(action: Any) -> Any:
    """Rename the type, the parameters and the matchers of one action."""
    if not isinstance(action, dict):
        return action
    spelled = action.get("type")
    if isinstance(spelled, str):
        action = _with(action, "type", canonical_type(spelled))
    if "params" in action:
        action = _with(action, "params", canonical_params(action["params"]))
    return action


def _with(given: dict[Any, Any], key: str, value: Any) -> dict[Any, Any]:
    """Change one value in a copy; most objects are canonical already and need none."""
    return given if given[key] is value else {**given, key: value}


def canonical_execution(execution: Any) -> Any:
    """Rename every alias of a payload; anything that is not an object passes untouched."""
    if not isinstance(execution, dict):
        return execution
    renamed = rename_keys(execution, EXECUTION_ALIASES)
    actions = renamed.get("actions")
    if isinstance(actions, list):
        first, rest = actions[: limits.MAX_INSPECTED], actions[limits.MAX_INSPECTED :]
        renamed = {**renamed, "actions": [*map(canonical_action, first), *rest]}
    return renamed
