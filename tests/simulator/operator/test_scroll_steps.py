"""Steps that scroll."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.operator.scroll_steps import float_text
from pytest_clawperator.simulator.screen.accessibility import UiNode
from tests.simulator.operator.fakes import (
    APP,
    MISSING,
    OK,
    PROFILES,
    Bench,
    FakeUi,
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
        """A list that does not move has ended, which is not a failure."""
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
        """A container that does not scroll stands for what scrolls inside, where allowed."""
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


LIST = {"resourceId": f"{APP}:id/list"}


@pytest.mark.parametrize("profile", PROFILES)
class TestScrollUntil:
    """What the specification and the published app agree upon."""

    def test_scroll_until_the_target(self, profile: Profile) -> None:
        """The loop ends as soon as the node shows up, and clicks it if asked to."""
        bench = scrolling(profile=profile)

        step = bench.step("scroll_until", matcher={"textEquals": "Row 25"}, clickAfter=True)

        assert step["success"] is True
        assert step["data"] == {
            "termination_reason": "TARGET_FOUND",
            "scrolls_executed": "6",
            "direction": "down",
            "click_after": "true",
            "click_types": "click",
            "resolved_container": f"{APP}:id/list",
        }
        assert bench.ui.done[-1].startswith("tap 540 ")

    def test_scroll_until_a_visible_target(self, profile: Profile) -> None:
        """What is there already needs no scroll and no list."""
        data = Bench(screen(button()), profile=profile).step("scroll_until", matcher=OK)["data"]

        assert (data["termination_reason"], data["scrolls_executed"]) == ("TARGET_FOUND", "0")
        assert "resolved_container" not in data

    @pytest.mark.parametrize(
        ("params", "reason", "scrolls"),
        [
            ({}, "EDGE_REACHED", "11"),
            ({"maxScrolls": 4}, "MAX_SCROLLS_REACHED", "4"),
            ({"maxDurationMs": 1200}, "MAX_DURATION_REACHED", "3"),
            ({"maxDurationMs": 0}, "MAX_DURATION_REACHED", "0"),
        ],
    )
    def test_scroll_until_the_end(
        self, profile: Profile, params: dict[str, Any], reason: str, scrolls: str
    ) -> None:
        """Without a target every end is a success."""
        step = scrolling(profile=profile).step("scroll_until", **params)

        assert step["success"] is True
        assert step["data"]["termination_reason"] == reason
        assert step["data"]["scrolls_executed"] == scrolls

    def test_scroll_until_nothing_moves(self, profile: Profile) -> None:
        """Refused swipes count, and end the loop at the threshold."""
        bench = scrolling(profile=profile)
        bench.faults.set("gesture_refused")

        data = bench.step("scroll_until", noPositionChangeThreshold=2)["data"]

        assert data["termination_reason"] == "NO_POSITION_CHANGE"
        assert data["scrolls_executed"] == "2"

    @pytest.mark.parametrize(
        ("params", "code"),
        [
            ({}, "CONTAINER_NOT_FOUND"),
            ({"container": OK}, "CONTAINER_NOT_SCROLLABLE"),
        ],
    )
    def test_scroll_until_without_a_list(
        self, profile: Profile, params: dict[str, Any], code: str
    ) -> None:
        """Without something that scrolls the step fails and says so twice."""
        step = Bench(screen(button()), profile=profile).step("scroll_until", **params)

        assert step["success"] is False
        assert (step["data"]["termination_reason"], step["data"]["error"]) == (code, code)

    @pytest.mark.parametrize(
        ("params", "line"),
        [
            ({}, "EDGE_REACHED after 11 scrolls"),
            ({"maxScrolls": 4}, "MAX_SCROLLS_REACHED (4)"),
            ({"maxDurationMs": 1200}, "MAX_DURATION_REACHED after 3 scrolls"),
            ({"matcher": {"textEquals": "Row 25"}}, "TARGET_FOUND after 6 scrolls"),
            ({"matcher": {"textEquals": "Row 1"}}, "TARGET_FOUND before scrolling"),
        ],
    )
    def test_the_last_line_says_why_it_ended(
        self, profile: Profile, params: dict[str, Any], line: str
    ) -> None:
        """The log has the words of the app."""
        bench = scrolling(profile=profile)

        bench.step("scroll_until", **params)

        said = [each for each in bench.lines() if "scrollLoop: " in each]
        assert said[-1] == f"D [TaskUiScope] scrollLoop: {line}"

    def test_the_log_names_refused_swipes_and_lost_lists(self, profile: Profile) -> None:
        """Each has its own words, which are those of the app."""
        refused, lost = scrolling(profile=profile), scrolling(profile=profile)
        refused.faults.set("gesture_refused")
        lost.faults.set("container_lost", times=1)
        nothing = Bench(screen(button()), profile=profile)

        refused.step("scroll_until", noPositionChangeThreshold=2)
        lost.step("scroll_until", container=LIST)
        nothing.step("scroll_until")

        assert "NO_POSITION_CHANGE after 2 scrolls (threshold=2)" in "\n".join(refused.lines())
        assert "container lost mid-loop, returning ContainerLost" in "\n".join(lost.lines())
        assert (
            "W [TaskUiScope] scrollLoop: ContainerNotFound - No scrollable container visible"
            in nothing.lines()
        )

    def test_a_lost_list(self, profile: Profile) -> None:
        """A list that goes away in the middle of a loop fails the step."""
        bench = scrolling(profile=profile)
        bench.faults.set("container_lost", times=1)

        step = bench.step("scroll_until", container=LIST)

        assert step["success"] is False
        assert step["data"]["error"] == step["data"]["termination_reason"] == "CONTAINER_LOST"
        assert step["data"]["scrolls_executed"] == "1"


class TestScrollUntilDocumented:
    """What only the specification says."""

    def test_an_ended_list_is_a_success(self) -> None:
        """Not finding the target is not a failure of scroll_until."""
        step = scrolling().step("scroll_until", matcher=MISSING)

        assert step["success"] is True
        assert step["data"]["termination_reason"] == "EDGE_REACHED"
        assert "error" not in step["data"]

    def test_a_target_that_comes_late_is_found(self) -> None:
        """At the end the screen is looked at once more."""
        bench = scrolling(12)
        build = bench.ui.build

        def with_late_row(ui: FakeUi) -> UiNode | None:
            has_ended = any("EDGE_REACHED after" in line for line in bench.lines())
            tree = build(ui)
            if tree is not None and has_ended:
                tree.add(node(MISSING["textEquals"]))
            return tree

        bench.ui.build = with_late_row

        data = bench.step("scroll_until", matcher=MISSING)["data"]

        assert data["termination_reason"] == "TARGET_FOUND"


class TestScrollUntilPublished:
    """What only the published app does."""

    def test_a_missed_target(self) -> None:
        """A list that ended without the target is a soft failure, after a long last wait."""
        bench = scrolling(profile="0.5.3")

        step = bench.step("scroll_until", matcher=MISSING)

        assert step["success"] is False
        assert step["data"]["error"] == "TARGET_NOT_FOUND"
        assert step["data"]["termination_reason"] == "EDGE_REACHED"
        assert sum("stage-retry" in line for line in bench.lines()) == 4

    def test_a_list_that_vanishes_has_ended(self) -> None:
        """A list that is gone right after a swipe counts as having ended."""
        bench = Bench(lambda ui: screen(*([] if ui.done else [rows(9)])), profile="0.5.3")

        data = bench.step("scroll_until")["data"]

        assert data["termination_reason"] == "EDGE_REACHED"


@pytest.mark.parametrize("profile", PROFILES)
class TestScrollAndClick:
    """What the specification and the published app agree upon."""

    def test_scroll_and_click(self, profile: Profile) -> None:
        """A row far down is brought up and clicked."""
        bench = scrolling(profile=profile)

        step = bench.step("scroll_and_click", matcher={"textEquals": "Row 20"}, container=LIST)

        assert step["data"] == {
            "max_swipes": "10",
            "direction": "down" if profile == "documented" else "Down",
            "click_types": "click",
            "click_after": "true",
        }
        assert [what.partition(" ")[0] for what in bench.ui.done] == ["swipe"] * 4 + ["tap"]

    def test_a_list_that_stands_still_is_counted_in_the_log(self, profile: Profile) -> None:
        """The log has the words of the app, and how often nothing moved."""
        bench = scrolling(10, profile=profile)

        bench.execute(
            {"id": "a1", "type": "scroll_and_click", "params": {"matcher": MISSING, "maxSwipes": 5}}
        )

        said = [line.partition("scrollUntil ")[2] for line in bench.lines() if "stuck=" in line]
        assert said == ["⚠️ no movement (stuck=1)", "⚠️ no movement (stuck=2)"]
        assert "exhausted scrolling (no further movement)" in "\n".join(bench.lines())

    def test_scroll_without_click(self, profile: Profile) -> None:
        """The click can be left out."""
        bench = scrolling(profile=profile)

        bench.step("scroll_and_click", matcher={"textEquals": "Row 2"}, clickAfter=False)

        assert bench.ui.done == []


class TestScrollAndClickDocumented:
    """What only the specification says."""

    def test_a_missing_target_of_scroll_and_click(self) -> None:
        """A target that never comes up is not found."""
        step = scrolling().step("scroll_and_click", matcher=MISSING, maxSwipes=3)

        assert step["data"] == {"error": "NODE_NOT_FOUND"}
