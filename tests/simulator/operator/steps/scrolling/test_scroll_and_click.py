"""The step scroll_and_click."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    APP,
    MISSING,
    PROFILES,
    scrolling,
)

LIST = {"resourceId": f"{APP}:id/list"}


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
