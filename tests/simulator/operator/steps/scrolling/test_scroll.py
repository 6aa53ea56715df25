"""The step scroll."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.operator.scroll_steps import float_text
from tests.simulator.operator.fakes import (
    APP,
    MISSING,
    OK,
    PROFILES,
    Bench,
    button,
    node,
    rows,
    screen,
    scrolling,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestScroll:
    """What the specification and the published app agree upon."""

    def test_a_list_is_swiped_along_its_middle(self, profile: Profile) -> None:
        """A list is swiped along its middle, and moves."""
        bench = scrolling(profile=profile)

        step = bench.step("scroll")

        assert step["success"] is True
        assert step["data"] == {
            "scroll_outcome": "moved",
            "direction": "down",
            "distance_ratio": "0.7",
            "settle_delay_ms": "250",
            "resolved_container": f"{APP}:id/list",
        }
        assert bench.ui.done == ["swipe (540,1440) (540,880)"]

    def test_scroll_at_the_end(self, profile: Profile) -> None:
        """A list that does not move has ended, which is no failure."""
        bench = scrolling(profile=profile)

        step = bench.step("scroll", direction="up", distanceRatio=0.5)

        assert (step["success"], step["data"]["scroll_outcome"]) == (True, "edge_reached")
        assert step["data"]["distance_ratio"] == "0.5"

    @pytest.mark.parametrize(
        ("direction", "points"),
        [
            ("up", "(540,1360) (540,1920)"),
            ("left", "(518,1400) (821,1400)"),
            ("right", "(562,1400) (259,1400)"),
        ],
    )
    def test_the_finger_moves_against_the_direction(
        self, profile: Profile, direction: str, points: str
    ) -> None:
        """The direction is that of what is to be seen; the finger moves the other way."""
        bench = scrolling(profile=profile)

        bench.step("scroll", direction=direction)

        assert bench.ui.done == [f"swipe {points}"]

    @pytest.mark.parametrize(
        ("params", "code"),
        [
            ({}, "CONTAINER_NOT_FOUND"),
            ({"container": MISSING}, "CONTAINER_NOT_FOUND"),
            ({"container": OK}, "CONTAINER_NOT_SCROLLABLE"),
        ],
    )
    def test_nothing_to_scroll(self, profile: Profile, params: dict[str, Any], code: str) -> None:
        """Without something that scrolls the step fails."""
        step = Bench(screen(button()), profile=profile).step("scroll", **params)

        assert step["success"] is False
        assert step["data"] == {"error": code, "direction": "down", "settle_delay_ms": "250"}

    def test_the_first_scrollable_child_is_used(self, profile: Profile) -> None:
        """A container that does not scroll stands for what scrolls inside, unless told not to."""
        tree = screen(node("", rows(3), bounds=(0, 0, 1080, 2400), resource_id="box"))
        box = {"resourceId": "box"}
        deep = Bench(tree, profile=profile).step("scroll", container=box)
        strict = Bench(tree, profile=profile).step(
            "scroll", container=box, findFirstScrollableChild=False
        )

        assert deep["data"]["resolved_container"] == f"{APP}:id/list"
        assert strict["data"]["error"] == "CONTAINER_NOT_SCROLLABLE"

    def test_a_refused_swipe(self, profile: Profile) -> None:
        """A swipe that the device refuses fails the step."""
        bench = scrolling(profile=profile)
        bench.faults.set("gesture_refused")

        step = bench.step("scroll")

        assert step["success"] is False
        assert step["data"]["scroll_outcome"] == "gesture_failed"
        assert step["data"]["error"] == "GESTURE_FAILED"


class TestScrollDocumented:
    """What only the specification says."""

    @pytest.mark.parametrize(
        ("name", "found"),
        [
            ("scroll", {"scroll_outcome": "edge_reached"}),
            ("scroll_and_click", {"error": "NODE_NOT_FOUND"}),
        ],
    )
    def test_other_actions_that_lose_their_list(self, name: str, found: dict[str, str]) -> None:
        """Only scroll_until has a word for it."""
        bench = scrolling()
        bench.faults.set("container_lost", times=1)

        data = bench.step(name, matcher=MISSING)["data"]

        assert data | found == data


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.7, "0.7"), (1.0, "1.0"), (0.0, "0.0"), (1 / 3, "0.33333334"), (2e-4, "2.0E-4")],
)
def test_numbers_are_printed_as_floats(value: float, text: str) -> None:
    """A ratio is printed with the digits of a single-precision number."""
    assert float_text(value) == text
