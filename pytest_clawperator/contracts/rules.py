"""What each action type needs of its parameters, beyond their types and lengths.

The messages are those of the reference host, word for word, because tools match on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.ecmascript import is_blank, trim
from pytest_clawperator.contracts.patterns import is_pattern
from pytest_clawperator.contracts.wording import closest, describe, listed
from pytest_clawperator.errors import Problem

Params = Mapping[str, Any]
ActionRule = Callable[[str, Params], Iterator[Problem]]


def problems_of_action(action: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with one action; paths start at the action."""
    params = action.get("params", {})
    for rule in ACTION_RULES.get(action["type"], ()):
        yield from rule(action["type"], params)


def _missing(kind: str, name: str, allowed: str) -> Problem:
    return Problem(f"params.{name}", f"{kind} requires params.{name}", "nothing", allowed)


def _needs_text(name: str) -> ActionRule:
    def rule(kind: str, params: Params) -> Iterator[Problem]:
        value = params.get(name, "")
        if is_blank(value):
            found = describe(value) if name in params else "nothing"
            message = f"{kind} requires params.{name}"
            yield Problem(f"params.{name}", message, found, "a string that is not blank")

    return rule


def _needs_matcher(name: str) -> ActionRule:
    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name not in params:
            yield _missing(kind, name, 'a matcher such as {"textEquals": "OK"}')

    return rule


def _not_blank(name: str, demand: str) -> ActionRule:
    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and is_blank(params[name]):
            message = f"{kind} params.{name} must {demand}"
            yield Problem(
                f"params.{name}", message, describe(params[name]), "text, or leave it out"
            )

    return rule


def _one_of(name: str, options: tuple[str, ...]) -> ActionRule:
    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name not in params or is_one_of(params[name]):
            return
        allowed = listed(options)
        yield Problem(
            f"params.{name}",
            f"{kind} params.{name} must be one of: {allowed}",
            describe(params[name]),
            allowed,
            closest(params[name], options),
        )

    def is_one_of(value: str) -> bool:
        return trim(value).lower() in options

    return rule


def _within(name: str, least: int, most: int, *, decimals: bool = False) -> ActionRule:
    bounds = f"[{least}.0, {most}.0]" if decimals else f"[{least}, {most}]"

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and not least <= params[name] <= most:
            message = f"{kind} params.{name} must be in {bounds}"
            allowed = f"{least} to {most}"
            yield Problem(f"params.{name}", message, describe(params[name]), allowed)

    return rule


def _whole_within(name: str, least: int, most: int) -> ActionRule:
    def rule(kind: str, params: Params) -> Iterator[Problem]:
        value = params.get(name, least)
        if not least <= value <= most or value != int(value):
            message = f"{kind} params.{name} must be an integer in [{least}, {most}]"
            allowed = f"a whole number from {least} to {most}"
            yield Problem(f"params.{name}", message, describe(value), allowed)

    return rule


def _sleep(kind: str, params: Params) -> Iterator[Problem]:
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


def _click(kind: str, params: Params) -> Iterator[Problem]:
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


def _read_text_pattern(kind: str, params: Params) -> Iterator[Problem]:
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


def _enter_text(kind: str, params: Params) -> Iterator[Problem]:
    if not params.get("text"):
        found = describe(params["text"]) if "text" in params else "nothing"
        message = "enter_text requires non-empty params.text"
        yield Problem("params.text", message, found, "the text to type")


def _scroll_until_click(kind: str, params: Params) -> Iterator[Problem]:
    if params.get("clickAfter") and "matcher" not in params:
        message = "scroll_until params.clickAfter=true requires params.matcher"
        yield Problem("params.matcher", message, "nothing", "the matcher of the node to click")


def _press_key(kind: str, params: Params) -> Iterator[Problem]:
    blank = list(_needs_text("key")(kind, params))
    yield from blank or _one_of("key", limits.KEYS)(kind, params)


def _navigation_target(kind: str, params: Params) -> Iterator[Problem]:
    if is_blank(params.get("expectedPackage", "")) and "expectedNode" not in params:
        message = (
            "wait_for_navigation requires at least one of"
            " params.expectedPackage or params.expectedNode"
        )
        yield Problem("params", message, "neither", "a package name, a matcher, or both")


def _navigation_timeout(kind: str, params: Params) -> Iterator[Problem]:
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


_SCROLL_SHAPE: tuple[ActionRule, ...] = (
    _one_of("direction", limits.DIRECTIONS),
    _within("distanceRatio", 0, 1, decimals=True),
    _within("settleDelayMs", 0, limits.MAX_SETTLE_DELAY_MS),
)
_SESSION = (_not_blank("sessionId", "not be blank"),)

ACTION_RULES: Mapping[str, tuple[ActionRule, ...]] = {
    "open_app": (_needs_text("applicationId"),),
    "open_uri": (_needs_text("uri"),),
    "close_app": (_needs_text("applicationId"),),
    "start_recording": _SESSION,
    "stop_recording": _SESSION,
    "wait_for_node": (_needs_matcher("matcher"),),
    "click": (_click,),
    "scroll_and_click": (_needs_matcher("matcher"),),
    "scroll": _SCROLL_SHAPE,
    "scroll_until": (
        _scroll_until_click,
        *_SCROLL_SHAPE,
        _whole_within("maxScrolls", 1, limits.MAX_SCROLLS),
        _within("maxDurationMs", 0, limits.MAX_SCROLL_DURATION_MS),
        _whole_within("noPositionChangeThreshold", 1, limits.MAX_NO_POSITION_CHANGE),
    ),
    "read_text": (_needs_matcher("matcher"), _read_text_pattern),
    "enter_text": (_needs_matcher("matcher"), _enter_text),
    "snapshot_ui": (),
    "take_screenshot": (_not_blank("path", "be a non-empty string"),),
    "sleep": (_sleep,),
    "press_key": (_press_key,),
    "wait_for_navigation": (_navigation_target, _navigation_timeout),
    "read_key_value_pair": (_needs_matcher("labelMatcher"),),
}

ACTION_TYPES = tuple(ACTION_RULES)
