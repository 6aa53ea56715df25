"""How long a device may be busy with an execution."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator import complete_execution
from pytest_clawperator.execution.busy_time import longest_run

NODE = {"matcher": {"textEquals": "x"}}


def longest(kind: str, **params: Any) -> float:
    """Return the longest run of one action."""
    return longest_run(complete_execution([{"type": kind, "params": params}]))


@pytest.mark.parametrize(
    ("kind", "params", "least"),
    [
        ("sleep", {"durationMs": 20000}, 20.0),
        ("wait_for_navigation", {"expectedPackage": "a", "timeoutMs": 9000}, 9.0),
        ("click", NODE, 7.5),
        ("wait_for_node", NODE, 7.5),
        ("snapshot_ui", {}, 7.5),
        ("open_app", {"applicationId": "a"}, 5.25),
        ("scroll_until", {"maxDurationMs": 60000, **NODE}, 67.5),
        ("scroll_and_click", {"maxSwipes": 40, "settleDelayMs": 1000, **NODE}, 50.0),
        ("scroll", {"settleDelayMs": 10000}, 10.25),
        ("stop_recording", {}, 10.0),
    ],
)
def test_no_action_is_thought_shorter_than_it_can_be(
    kind: str, params: dict[str, Any], least: float
) -> None:
    """The estimate is at least what the Operator's own rules allow the action."""
    assert longest(kind, **params) >= least


@pytest.mark.parametrize(
    ("retry", "least", "most"),
    [
        ({"maxAttempts": 1}, 0.0, 3.0),
        ({"maxAttempts": 10, "initialDelayMs": 1000}, 9.0, 30.0),
        ({"maxAttempts": 99, "initialDelayMs": 1000}, 9.0, 30.0),
        ({"maxAttempts": 3, "initialDelayMs": 1000, "backoffMultiplier": 3}, 2.0, 8.0),
        (
            {
                "maxAttempts": 3,
                "initialDelayMs": 1000,
                "maxDelayMs": 9000,
                "backoffMultiplier": 3,
                "jitterRatio": 0.5,
            },
            6.0,
            14.0,
        ),
        ({"maxAttempts": "ten", "initialDelayMs": None}, 0.0, 3.0),
    ],
)
def test_a_retry_object_counts_as_the_operator_reads_it(
    retry: dict[str, Any], least: float, most: float
) -> None:
    """Attempts and pauses are held within the Operator's bounds; nonsense is its default."""
    assert least <= longest("click", retry=retry, **NODE) <= most


def test_actions_add_up() -> None:
    """The longest run is the sum over the actions."""
    action = {"type": "sleep", "params": {"durationMs": 1000}}

    once = longest_run(complete_execution([action]))
    thrice = longest_run(complete_execution([action] * 3))

    assert thrice == pytest.approx(3 * once)
