"""The parameters of actions: their names, the values that are allowed, and how long they take.

There is one flat set for all actions: any action may carry any parameter, and the Operator
ignores those that it does not use. Which ones an action type needs is in its row of
:mod:`pytest_clawperator.contracts.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pytest_clawperator.contracts import limits, schema
from pytest_clawperator.contracts.ecmascript import is_blank, is_pattern, trim
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.schema import WireObject
from pytest_clawperator.contracts.wording import closest, describe, listed
from pytest_clawperator.errors import Problem

AnyText = Annotated[str | None, schema.Text()]
AnyNumber = Annotated[float | None, schema.Number()]
Pixels = Annotated[int, schema.Number(least=0, whole=True)]
YesNo = Annotated[bool | None, schema.Flag()]
Matcher = Annotated[NodeMatcher | None, schema.Nested(NodeMatcher)]
Retry = Annotated[dict[str, Any] | None, schema.JsonObject()]

PARAM_ALIASES = {
    "application_id": "applicationId",
    "app_id": "applicationId",
    "appId": "applicationId",
    "app": "applicationId",
    "package": "applicationId",
    "package_id": "applicationId",
    "packageId": "applicationId",
    "session_id": "sessionId",
    "url": "uri",
    "duration_ms": "durationMs",
    "file": "path",
    "filePath": "path",
    "output_path": "path",
    "selector": "matcher",
    "node": "matcher",
    "element": "matcher",
    "value": "text",
    "click_type": "clickType",
    "longPress": "clickType",
    "within": "container",
    "container_selector": "container",
    "max_swipes": "maxSwipes",
    "distance_ratio": "distanceRatio",
    "settle_delay_ms": "settleDelayMs",
    "max_scrolls": "maxScrolls",
    "max_duration_ms": "maxDurationMs",
    "no_position_change_threshold": "noPositionChangeThreshold",
    "find_first_scrollable_child": "findFirstScrollableChild",
    "click_after": "clickAfter",
    "validator_pattern": "validatorPattern",
    "expected_package": "expectedPackage",
    "expected_node": "expectedNode",
    "wait_for": "expectedNode",
    "timeout_ms": "timeoutMs",
    "label_matcher": "labelMatcher",
    "label_selector": "labelMatcher",
}


@dataclass(frozen=True, repr=False)
class Coordinate(WireObject):
    """A point on the screen, in pixels from the top left corner."""

    example = '{"x": 540, "y": 1200}'

    x: Pixels
    y: Pixels


@dataclass(frozen=True, kw_only=True, repr=False)
class ActionParams(WireObject):
    """Every parameter that exists; None means not given."""

    aliases = PARAM_ALIASES

    application_id: AnyText = None
    session_id: AnyText = None
    uri: Annotated[str | None, schema.Text(limits.MAX_URI_LENGTH)] = None
    duration_ms: AnyNumber = None
    path: AnyText = None
    matcher: Matcher = None
    coordinate: Annotated[Coordinate | None, schema.Nested(Coordinate)] = None
    text: Annotated[str | None, schema.Text(limits.MAX_TEXT_LENGTH)] = None
    submit: YesNo = None
    clear: YesNo = None
    click_type: AnyText = None
    container: Matcher = None
    direction: AnyText = None
    max_swipes: AnyNumber = None
    distance_ratio: AnyNumber = None
    settle_delay_ms: AnyNumber = None
    max_scrolls: AnyNumber = None
    max_duration_ms: AnyNumber = None
    no_position_change_threshold: AnyNumber = None
    find_first_scrollable_child: YesNo = None
    click_after: YesNo = None
    validator: AnyText = None
    validator_pattern: AnyText = None
    key: AnyText = None
    retry: Retry = None
    scroll_retry: Retry = None
    click_retry: Retry = None
    expected_package: Annotated[str | None, schema.Text(limits.MAX_PACKAGE_LENGTH)] = None
    expected_node: Matcher = None
    timeout_ms: AnyNumber = None
    label_matcher: Matcher = None
    all: YesNo = None


#: The parameters that are matchers.
MATCHER_PARAMS = tuple(
    each.wire_name
    for each in schema.field_rules(ActionParams)
    if each.rule == schema.Nested(NodeMatcher)
)

# Rules beyond types and lengths; an action type lists those that apply to it. The messages are
# those of the reference host, word for word, because tools match on them.

Params = Mapping[str, Any]
ActionRule = Callable[[str, Params], Iterator[Problem]]


def _missing(kind: str, name: str, allowed: str) -> Problem:
    return Problem(f"params.{name}", f"{kind} requires params.{name}", "nothing", allowed)


def needs_text(name: str) -> ActionRule:
    """Return the rule that a parameter is text and not blank."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        value = params.get(name, "")
        if is_blank(value):
            found = describe(value) if name in params else "nothing"
            message = f"{kind} requires params.{name}"
            yield Problem(f"params.{name}", message, found, "a string that is not blank")

    return rule


def needs_matcher(name: str) -> ActionRule:
    """Return the rule that a matcher is given."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name not in params:
            yield _missing(kind, name, 'a matcher such as {"textEquals": "OK"}')

    return rule


def not_blank(name: str, demand: str) -> ActionRule:
    """Return the rule that a parameter, if it is given, is not blank."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and is_blank(params[name]):
            message = f"{kind} params.{name} must {demand}"
            yield Problem(
                f"params.{name}", message, describe(params[name]), "text, or leave it out"
            )

    return rule


def one_of(name: str, options: tuple[str, ...]) -> ActionRule:
    """Return the rule that a parameter, if it is given, is one of a few words."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name not in params or trim(params[name]).lower() in options:
            return
        allowed = listed(options)
        yield Problem(
            f"params.{name}",
            f"{kind} params.{name} must be one of: {allowed}",
            describe(params[name]),
            allowed,
            closest(params[name], options),
        )

    return rule


def within(name: str, least: int, most: int, *, decimals: bool = False) -> ActionRule:
    """Return the rule that a number, if it is given, lies within bounds."""
    bounds = f"[{least}.0, {most}.0]" if decimals else f"[{least}, {most}]"

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and not least <= params[name] <= most:
            message = f"{kind} params.{name} must be in {bounds}"
            allowed = f"{least} to {most}"
            yield Problem(f"params.{name}", message, describe(params[name]), allowed)

    return rule


def whole_within(name: str, least: int, most: int) -> ActionRule:
    """Return the rule that a number, if it is given, is whole and lies within bounds."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        value = params.get(name, least)
        if not least <= value <= most or value != int(value):
            message = f"{kind} params.{name} must be an integer in [{least}, {most}]"
            allowed = f"a whole number from {least} to {most}"
            yield Problem(f"params.{name}", message, describe(value), allowed)

    return rule


def sleep_duration(kind: str, params: Params) -> Iterator[Problem]:
    """Check how long a sleep lasts."""
    duration = params.get("durationMs", -1)
    allowed = f"0 to {limits.MAX_SLEEP_MS} milliseconds"
    found = describe(duration) if "durationMs" in params else "nothing"
    if duration < 0:
        message = "sleep requires params.durationMs >= 0"
    elif duration > limits.MAX_SLEEP_MS:
        message = f"sleep.durationMs must not exceed {limits.MAX_SLEEP_MS} ms"
    else:
        return
    yield Problem("params.durationMs", message, found, allowed)


def click_target(kind: str, params: Params) -> Iterator[Problem]:
    """Check that a click has a node or a point, not both."""
    matcher, coordinate = "matcher" in params, "coordinate" in params
    either = "either params.matcher or params.coordinate"
    if not matcher and not coordinate:
        message = "click requires params.matcher or params.coordinate"
        yield Problem("params", message, "neither", either)
    if matcher and coordinate:
        message = "click params.matcher and params.coordinate are mutually exclusive"
        yield Problem("params", message, "both", either)
    if coordinate and params.get("clickType") == "focus":
        message = "click params.coordinate does not support clickType='focus'"
        allowed = "default or long_click with a coordinate; focus with a matcher"
        yield Problem("params.clickType", message, '"focus"', allowed)


def read_text_pattern(kind: str, params: Params) -> Iterator[Problem]:
    """Check the pattern of the validator ``regex``."""
    if params.get("validator") != "regex":
        return
    pattern = params.get("validatorPattern", "")
    found = describe(pattern) if "validatorPattern" in params else "nothing"
    if is_blank(pattern):
        message = "read_text with validator='regex' requires params.validatorPattern"
        yield Problem("params.validatorPattern", message, found, "a regular expression")
    elif not is_pattern(pattern):
        message = "read_text params.validatorPattern is not a valid regex pattern"
        yield Problem("params.validatorPattern", message, found, "a regular expression")


def entered_text(kind: str, params: Params) -> Iterator[Problem]:
    """Check that there is a text to enter."""
    if not params.get("text"):
        found = describe(params["text"]) if "text" in params else "nothing"
        message = "enter_text requires non-empty params.text"
        yield Problem("params.text", message, found, "the text to type")


def click_after_scroll(kind: str, params: Params) -> Iterator[Problem]:
    """Check that a scroll that ends in a click has a node to click."""
    if params.get("clickAfter") and "matcher" not in params:
        message = "scroll_until params.clickAfter=true requires params.matcher"
        yield Problem("params.matcher", message, "nothing", "the matcher of the node to click")


def pressed_key(kind: str, params: Params) -> Iterator[Problem]:
    """Check that the key is one that can be pressed."""
    blank = list(needs_text("key")(kind, params))
    yield from blank or one_of("key", limits.KEYS)(kind, params)


def navigation_target(kind: str, params: Params) -> Iterator[Problem]:
    """Check that a wait for navigation has a destination."""
    if is_blank(params.get("expectedPackage", "")) and "expectedNode" not in params:
        message = (
            "wait_for_navigation requires at least one of"
            " params.expectedPackage or params.expectedNode"
        )
        yield Problem("params", message, "neither", "a package name, a matcher, or both")


def navigation_timeout(kind: str, params: Params) -> Iterator[Problem]:
    """Check how long a wait for navigation lasts."""
    timeout = params.get("timeoutMs", 0)
    found = describe(timeout) if "timeoutMs" in params else "nothing"
    allowed = f"1 to {limits.MAX_NAVIGATION_TIMEOUT_MS} milliseconds"
    if timeout <= 0:
        message = "wait_for_navigation requires params.timeoutMs > 0"
    elif timeout > limits.MAX_NAVIGATION_TIMEOUT_MS:
        most = limits.MAX_NAVIGATION_TIMEOUT_MS
        message = f"wait_for_navigation params.timeoutMs must not exceed {most}"
    else:
        return
    yield Problem("params.timeoutMs", message, found, allowed)


SCROLL_SHAPE: tuple[ActionRule, ...] = (
    one_of("direction", limits.DIRECTIONS),
    within("distanceRatio", 0, 1, decimals=True),
    within("settleDelayMs", 0, limits.MAX_SETTLE_DELAY_MS),
)

# The Operator's bounds for retry objects; what lies outside is moved to the nearest of them.
MAX_ATTEMPTS = 10
MAX_FIRST_PAUSE_MS = 30_000
MAX_PAUSE_MS = 60_000
MAX_BACKOFF = 5

_DEFAULT_SWIPES = 10
_MAX_SWIPES = 50
# What one swipe takes on top of its settling: the gesture, and a snapshot before and after it.
_SWIPE_MS = 900
_DEFAULT_SETTLE_MS = 250
# The Operator's own last search for a scroll's target, after the list has ended.
_LAST_LOOK_MS = 7_500

# The longest that the Operator's own retry rules last, in seconds.
_UI_RETRY = 7.5
_LAUNCH_RETRY = 6.1
_SCROLL_RETRY = 3.3
_RECORDING = 10.0
_NAVIGATION = 30.0
_SCROLLING = 10.0
# One reading of the tree or one gesture, on a slow phone.
_STEP = 2.0


# The waiting that an action declares, read from its wire form. A value of the wrong type counts
# as no time here; validation refuses it.


def declared_ms(params: Mapping[Any, Any]) -> float:
    """Return the waiting that the parameters of any action declare, in milliseconds."""
    # A wait_for_node ends with its timeout or its retries, whichever is first.
    looking = max(_number(params, "timeoutMs"), pauses_ms(params.get("retry")))
    declared = looking + _number(params, "durationMs") + _number(params, "maxDurationMs")
    return declared + pauses_ms(params.get("scrollRetry")) + pauses_ms(params.get("clickRetry"))


def pauses_ms(retry: Any) -> float:
    """Return the sum of the pauses of a retry object, jitter aside."""
    return sum(_pauses(retry)) if isinstance(retry, dict) else 0.0


def nothing_more(params: Mapping[Any, Any]) -> float:
    """Return 0: the action waits only as its parameters declare."""
    return 0.0


def last_look_ms(params: Mapping[Any, Any]) -> float:
    """Return the time of the last search for the target, at the end of a list."""
    return _LAST_LOOK_MS if "matcher" in params else 0.0


def swipes_ms(params: Mapping[Any, Any]) -> float:
    """Return the time of as many swipes as are allowed."""
    swipes = min(_number(params, "maxSwipes", _DEFAULT_SWIPES), _MAX_SWIPES) + 1
    settling = _number(params, "settleDelayMs", _DEFAULT_SETTLE_MS)
    return swipes * (min(settling, limits.MAX_SETTLE_DELAY_MS) + _SWIPE_MS)


def _pauses(retry: dict[Any, Any]) -> Iterator[float]:
    attempts = min(int(_number(retry, "maxAttempts", 1)), MAX_ATTEMPTS)
    pause = min(_number(retry, "initialDelayMs"), MAX_FIRST_PAUSE_MS)
    longest = min(max(_number(retry, "maxDelayMs", pause), pause), MAX_PAUSE_MS)
    factor = min(max(_number(retry, "backoffMultiplier", 1), 1), MAX_BACKOFF)
    for _ in range(attempts - 1):
        yield int(pause)
        pause = min(pause * factor, longest)


def _number(given: Mapping[Any, Any], name: str, default: float = 0.0) -> float:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        return 0.0
    return float(min(value, limits.MAX_TIMEOUT_MS))


# The longest that an action can keep the device busy, in seconds.


def one_step(params: ActionParams) -> float:
    """Return the longest time of an action that acts once, without waiting."""
    return _STEP


def looking(params: ActionParams) -> float:
    """Return the longest time of an action that looks for a node, or reads the screen."""
    return _retry(params.retry, _UI_RETRY) + _STEP


def launching(params: ActionParams) -> float:
    """Return the longest time of an action that starts an app."""
    return _retry(params.retry, _LAUNCH_RETRY) + _STEP


def sleeping(params: ActionParams) -> float:
    """Return the longest time of a sleep."""
    return _seconds(params.duration_ms, 0.0) + _STEP


def navigating(params: ActionParams) -> float:
    """Return the longest time of a wait for another screen."""
    return _seconds(params.timeout_ms, _NAVIGATION) + _STEP


def scrolling_once(params: ActionParams) -> float:
    """Return the longest time of a single scroll gesture."""
    return _gesture(params) + _retry(params.retry, 0.0)


def scrolling_until(params: ActionParams) -> float:
    """Return the longest time of a scroll that ends by its duration."""
    return _seconds(params.max_duration_ms, _SCROLLING) + _gesture(params) + 2 * _UI_RETRY


def scrolling_to_click(params: ActionParams) -> float:
    """Return the longest time of a scroll that ends by its number of swipes, and of the click."""
    swipes = (params.max_swipes if params.max_swipes is not None else _DEFAULT_SWIPES) + 1
    retries = _retry(params.scroll_retry, _SCROLL_RETRY) + _retry(params.click_retry, _UI_RETRY)
    return swipes * _gesture(params) + retries + _STEP


def recording(params: ActionParams) -> float:
    """Return the longest time of starting or ending a recording."""
    return _RECORDING + _STEP


def _gesture(params: ActionParams) -> float:
    return _seconds(params.settle_delay_ms, _DEFAULT_SETTLE_MS / 1000) + _STEP


def _seconds(milliseconds: float | None, default: float) -> float:
    return default if milliseconds is None else milliseconds / 1000


def _retry(retry: Mapping[str, Any] | None, default: float) -> float:
    """Return the longest that a retry object's pauses last."""
    if retry is None:
        return default
    jitter = retry.get("jitterRatio")
    stretch = min(max(jitter, 0), 1) if isinstance(jitter, (int, float)) else 0
    return pauses_ms(retry) / 1000 * (1 + stretch)
