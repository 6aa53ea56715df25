"""What became of a scroll is read from its step."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.plan.scroll_outcome import (
    outcome_of_scroll,
    outcome_of_scroll_and_click,
    outcome_of_scroll_until,
)
from pytest_clawperator.execution.result import RunStep


def step(**data: str) -> RunStep:
    """Make the step of a scroll."""
    wire = {"id": "s", "actionType": "scroll", "success": True, "data": data}
    return RunStep.model_validate(wire)


@pytest.mark.parametrize(("said", "moved"), [("moved", True), ("edge_reached", False)])
def test_a_gesture_moved_or_met_the_edge(said: str, moved: bool) -> None:
    """A gesture either moved something or met the edge."""
    outcome = outcome_of_scroll(step(scroll_outcome=said, direction="up"))

    assert bool(outcome) is outcome.moved is moved
    assert outcome.edge_reached is not moved
    assert outcome.direction == "up"


@pytest.mark.parametrize(
    ("reason", "scrolls", "moved"),
    [
        ("EDGE_REACHED", "1", False),
        ("EDGE_REACHED", "2", True),
        ("MAX_SCROLLS_REACHED", "20", True),
        ("NO_POSITION_CHANGE", "0", False),
        ("MAX_DURATION_REACHED", "many", False),
    ],
)
def test_a_loop_without_a_target(reason: str, scrolls: str, moved: bool) -> None:
    """The gesture that meets the edge moves nothing."""
    data = step(termination_reason=reason, scrolls_executed=scrolls, direction="down")

    outcome = outcome_of_scroll_until(data, has_target=False)

    assert bool(outcome) is outcome.moved is moved
    assert outcome.found is None
    assert outcome.edge_reached is (reason == "EDGE_REACHED")
    assert outcome.termination_reason == reason


def test_a_loop_that_found_its_target() -> None:
    """Found is true, even if nothing had to move for it."""
    data = step(termination_reason="TARGET_FOUND", scrolls_executed="0")

    outcome = outcome_of_scroll_until(data, has_target=True)

    assert outcome
    assert outcome.found is True
    assert outcome.moved is False


def test_a_search_that_ended_with_a_tap() -> None:
    """The device does not tell whether anything moved, and spells the direction large."""
    outcome = outcome_of_scroll_and_click(step(direction="Down"))

    assert outcome
    assert outcome.moved is None
    assert outcome.direction == "down"
