"""How long the device may be busy with an execution: the Operator never breaks one off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.contracts.waiting import pauses_ms

# The longest that the Operator's own retry rules last, in seconds.
_UI_RETRY = 7.5
_LAUNCH_RETRY = 6.1
_SCROLL_RETRY = 3.3
# One look at the tree or one gesture, on a slow phone.
_STEP = 2.0
_SETTLE = 0.25


def longest_run(execution: Execution) -> float:
    """Give the most seconds that the actions can take, one after the other."""
    return sum(_longest(action) for action in execution.actions)


def _longest(action: Action) -> float:
    params = action.params or _NOTHING
    kind = action.type
    if kind == "sleep":
        return _seconds(params.duration_ms, 0.0) + _STEP
    if kind == "wait_for_navigation":
        return _seconds(params.timeout_ms, 30.0) + _STEP
    if kind in ("open_app", "open_uri"):
        return _retry(params.retry, _LAUNCH_RETRY) + _STEP
    if kind == "scroll_until":
        return _seconds(params.max_duration_ms, 10.0) + _gesture(params) + 2 * _UI_RETRY
    if kind == "scroll_and_click":
        swipes = (params.max_swipes if params.max_swipes is not None else 10) + 1
        retries = _retry(params.scroll_retry, _SCROLL_RETRY) + _retry(params.click_retry, _UI_RETRY)
        return swipes * _gesture(params) + retries + _STEP
    if kind == "scroll":
        return _gesture(params) + _retry(params.retry, 0.0)
    if kind in ("press_key", "close_app", "take_screenshot"):
        return _STEP
    if kind in ("start_recording", "stop_recording"):
        return 10.0 + _STEP
    return _retry(params.retry, _UI_RETRY) + _STEP


def _gesture(params: ActionParams) -> float:
    return _seconds(params.settle_delay_ms, _SETTLE) + _STEP


def _seconds(milliseconds: float | None, default: float) -> float:
    return default if milliseconds is None else milliseconds / 1000


def _retry(retry: Mapping[str, Any] | None, default: float) -> float:
    """Give the longest that a retry object's pauses last."""
    if retry is None:
        return default
    jitter = retry.get("jitterRatio")
    stretch = min(max(jitter, 0), 1) if isinstance(jitter, (int, float)) else 0
    return pauses_ms(retry) / 1000 * (1 + stretch)


_NOTHING = ActionParams()
