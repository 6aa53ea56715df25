"""How long actions take: what they declare, and the longest that the Operator may need.

An action type names the functions that hold for it in its row of
:mod:`pytest_clawperator.contracts.actions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.params import ActionParams

# The Operator's bounds for retry objects; what lies outside is moved to the nearest of them.
MAX_ATTEMPTS = 10
MAX_FIRST_PAUSE_MS = 30_000
MAX_PAUSE_MS = 60_000
MAX_BACKOFF = 5

_DEFAULT_SWIPES = 10
_MAX_SWIPES = 50
# What one swipe takes besides its settling: the gesture, and a look before and after it.
_SWIPE_MS = 900
_DEFAULT_SETTLE_MS = 250
# The Operator's own last look for a scroll's target, after the list has ended.
_LAST_LOOK_MS = 7_500

# The longest that the Operator's own retry rules last, in seconds.
_UI_RETRY = 7.5
_LAUNCH_RETRY = 6.1
_SCROLL_RETRY = 3.3
_RECORDING = 10.0
_NAVIGATION = 30.0
_SCROLLING = 10.0
# One look at the tree or one gesture, on a slow phone.
_STEP = 2.0


# What an action declares, read from its wire form. Nothing here fails on a value of a wrong
# type: it counts as no time at all, and is refused elsewhere.


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
    """Return 0: the action waits only for what its parameters declare."""
    return 0.0


def last_look_ms(params: Mapping[Any, Any]) -> float:
    """Return the time of the look for the target at the end of a list."""
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
    """Return the longest of an action that acts once and waits for nothing."""
    return _STEP


def looking(params: ActionParams) -> float:
    """Return the longest of an action that looks for a node, or reads the screen."""
    return _retry(params.retry, _UI_RETRY) + _STEP


def launching(params: ActionParams) -> float:
    """Return the longest of an action that starts an app."""
    return _retry(params.retry, _LAUNCH_RETRY) + _STEP


def sleeping(params: ActionParams) -> float:
    """Return the longest of a sleep."""
    return _seconds(params.duration_ms, 0.0) + _STEP


def navigating(params: ActionParams) -> float:
    """Return the longest of a wait for another screen."""
    return _seconds(params.timeout_ms, _NAVIGATION) + _STEP


def scrolling_once(params: ActionParams) -> float:
    """Return the longest of a single scroll gesture."""
    return _gesture(params) + _retry(params.retry, 0.0)


def scrolling_until(params: ActionParams) -> float:
    """Return the longest of a scroll that ends by its duration."""
    return _seconds(params.max_duration_ms, _SCROLLING) + _gesture(params) + 2 * _UI_RETRY


def scrolling_to_click(params: ActionParams) -> float:
    """Return the longest of a scroll that ends by its number of swipes, and of the click."""
    swipes = (params.max_swipes if params.max_swipes is not None else _DEFAULT_SWIPES) + 1
    retries = _retry(params.scroll_retry, _SCROLL_RETRY) + _retry(params.click_retry, _UI_RETRY)
    return swipes * _gesture(params) + retries + _STEP


def recording(params: ActionParams) -> float:
    """Return the longest of starting or ending a recording."""
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
