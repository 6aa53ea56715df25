"""The waiting that an action declares is counted as the Operator counts it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.completion import complete_execution, waiting_ms
from pytest_clawperator.contracts.durations import pauses_ms

FIVE_SECONDS = {"maxAttempts": 6, "initialDelayMs": 1000}


@pytest.mark.parametrize(
    ("attempts", "first", "longest", "factor", "total"),
    [
        (5, 500, 3000, 2, 6500),
        (3, 500, None, None, 1000),
        (3, 100, None, 2, 200),
        (3, 100, 150, 9, 250),
        (99, 10, None, None, 90),
        (2, 99_000, None, None, 30_000),
        (3, 20_000, 99_000, 5, 80_000),
        (3, 100, 10, 0.5, 200),
        ("3", 100, None, None, 0),
        (True, 100, None, None, 0),
        (None, 100, None, None, 0),
    ],
)
def test_pauses_within_the_operators_bounds(
    attempts: Any, first: Any, longest: Any, factor: Any, total: float
) -> None:
    """The pauses of a retry object sum up to what the Operator makes of it."""
    given = {
        "maxAttempts": attempts,
        "initialDelayMs": first,
        "maxDelayMs": longest,
        "backoffMultiplier": factor,
    }

    retry = {key: value for key, value in given.items() if value is not None}

    assert pauses_ms(retry) == total


@pytest.mark.parametrize("nonsense", [None, "often", 5, [], {}])
def test_no_retry_object_pauses_for_nothing(nonsense: Any) -> None:
    """Without a retry object there are no pauses."""
    assert pauses_ms(nonsense) == 0


@pytest.mark.parametrize(
    ("kind", "params", "total"),
    [
        ("click", {"retry": FIVE_SECONDS}, 5_000),
        ("wait_for_node", {"retry": FIVE_SECONDS, "timeoutMs": 6_000}, 6_000),
        ("wait_for_node", {"retry": FIVE_SECONDS, "timeoutMs": 1_000}, 5_000),
        ("scroll_until", {"maxDurationMs": 20_000}, 20_000),
        ("scroll_until", {"maxDurationMs": 20_000, "matcher": {}}, 27_500),
        ("scroll_and_click", {"maxSwipes": 1, "settleDelayMs": 100}, 2_000),
        ("scroll_and_click", {"scrollRetry": FIVE_SECONDS, "clickRetry": FIVE_SECONDS}, 22_650),
        ("sleep", {"durationMs": 3_000}, 3_000),
        ("sleep", {"durationMs": float("nan")}, 0),
        ("sleep", {"durationMs": 10**400}, 120_000),
    ],
)
def test_waiting_of_an_action(kind: str, params: dict[str, Any], total: float) -> None:
    """Pauses, sleeping and scrolling count; a timeout and the retries it ends count once."""
    assert waiting_ms({"type": kind, "params": params}) == total


@pytest.mark.parametrize("nonsense", [None, 5, [], {}, {"params": 5}, {"params": None}])
def test_nonsense_waits_for_nothing(nonsense: Any) -> None:
    """What is no action is for the judge to refuse, not for this to trip over."""
    assert waiting_ms(nonsense) == 0


def test_an_execution_lasts_as_long_as_its_retries() -> None:
    """The derived timeout leaves time for retry objects, too."""
    retry = {"maxAttempts": 2, "initialDelayMs": 30_000}
    click = {"type": "click", "params": {"matcher": {"text": "OK"}, "retry": retry}}

    execution = complete_execution([click, click])

    assert execution.timeout_ms == 65_000
