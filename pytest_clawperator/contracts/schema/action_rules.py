"""Rules for the parameters of an action, beyond their types and lengths.

An action type lists the rules that hold for it in its row of
:mod:`pytest_clawperator.contracts.actions`. The messages are those of the reference host, word
for word, because tools match on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.text.ecmascript import is_blank, trim
from pytest_clawperator.contracts.text.regex_syntax import is_pattern
from pytest_clawperator.contracts.text.wording import closest, describe, listed
from pytest_clawperator.errors import Problem

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
    """Return the rule that a parameter, where it is given, is not blank."""

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and is_blank(params[name]):
            message = f"{kind} params.{name} must {demand}"
            yield Problem(
                f"params.{name}", message, describe(params[name]), "text, or leave it out"
            )

    return rule


def one_of(name: str, options: tuple[str, ...]) -> ActionRule:
    """Return the rule that a parameter, where it is given, is one of a few words."""

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
    """Return the rule that a number, where it is given, lies within bounds."""
    bounds = f"[{least}.0, {most}.0]" if decimals else f"[{least}, {most}]"

    def rule(kind: str, params: Params) -> Iterator[Problem]:
        if name in params and not least <= params[name] <= most:
            message = f"{kind} params.{name} must be in {bounds}"
            allowed = f"{least} to {most}"
            yield Problem(f"params.{name}", message, describe(params[name]), allowed)

    return rule


def whole_within(name: str, least: int, most: int) -> ActionRule:
    """Return the rule that a number, where it is given, is whole and lies within bounds."""

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
    """Check that a click has either a node or a point."""
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
    """Check that a scroll that ends in a click knows the node."""
    if params.get("clickAfter") and "matcher" not in params:
        message = "scroll_until params.clickAfter=true requires params.matcher"
        yield Problem("params.matcher", message, "nothing", "the matcher of the node to click")


def pressed_key(kind: str, params: Params) -> Iterator[Problem]:
    """Check that the key is one that can be pressed."""
    blank = list(needs_text("key")(kind, params))
    yield from blank or one_of("key", limits.KEYS)(kind, params)


def navigation_target(kind: str, params: Params) -> Iterator[Problem]:
    """Check that a wait for navigation knows where to."""
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
