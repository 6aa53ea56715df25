"""How long an action says it may wait, as the Operator reads its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_clawperator.contracts import limits

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


def waiting_ms(action: Any) -> float:
    """Sum up the waiting that an action in wire form declares, in milliseconds.

    It never fails: what is no number, or no object, waits for nothing.
    """
    params = action.get("params") if isinstance(action, dict) else None
    if not isinstance(params, dict):
        return 0.0
    # A wait_for_node ends with its timeout or its retries, whichever is first.
    looking = max(_number(params, "timeoutMs"), pauses_ms(params.get("retry")))
    declared = looking + _number(params, "durationMs") + _number(params, "maxDurationMs")
    scrolling = pauses_ms(params.get("scrollRetry")) + pauses_ms(params.get("clickRetry"))
    return declared + scrolling + _swiping_ms(action.get("type"), params)


def pauses_ms(retry: Any) -> float:
    """Sum up the pauses of a retry object, jitter aside."""
    return sum(_pauses(retry)) if isinstance(retry, dict) else 0.0


def _pauses(retry: dict[Any, Any]) -> Iterator[float]:
    attempts = min(int(_number(retry, "maxAttempts", 1)), MAX_ATTEMPTS)
    pause = min(_number(retry, "initialDelayMs"), MAX_FIRST_PAUSE_MS)
    longest = min(max(_number(retry, "maxDelayMs", pause), pause), MAX_PAUSE_MS)
    factor = min(max(_number(retry, "backoffMultiplier", 1), 1), MAX_BACKOFF)
    for _ in range(attempts - 1):
        yield int(pause)
        pause = min(pause * factor, longest)


def _swiping_ms(kind: Any, params: dict[Any, Any]) -> float:
    if kind == "scroll_until" and "matcher" in params:
        return _LAST_LOOK_MS
    if kind != "scroll_and_click":
        return 0.0
    swipes = min(_number(params, "maxSwipes", _DEFAULT_SWIPES), _MAX_SWIPES) + 1
    settling = _number(params, "settleDelayMs", _DEFAULT_SETTLE_MS)
    return swipes * (min(settling, limits.MAX_SETTLE_DELAY_MS) + _SWIPE_MS)


def _number(given: dict[Any, Any], name: str, default: float = 0.0) -> float:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        return 0.0
    return float(min(value, limits.MAX_TIMEOUT_MS))
