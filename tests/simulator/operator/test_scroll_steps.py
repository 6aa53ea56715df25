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

LIST_ID = f"{APP}:id/list"
LIST = {"resourceId": LIST_ID}
BOX = {"resourceId": "box"}
ROW_25 = {"textEquals": "Row 25"}
both_profiles = pytest.mark.parametrize("profile", PROFILES)


@both_profiles
@pytest.mark.parametrize(
    ("params", "outcome", "points"),
    [
        ({}, "moved", "(540,1440) (540,880)"),
        ({"direction": "up"}, "edge_reached", "(540,1360) (540,1920)"),
        ({"direction": "left"}, "edge_reached", "(518,1400) (821,1400)"),
        ({"direction": "right"}, "edge_reached", "(562,1400) (259,1400)"),
    ],
)
def test_the_finger_moves_against_the_direction(
    profile: Profile, params: dict[str, Any], outcome: str, points: str
) -> None:
    """A list is swiped along its middle; one that does not move has ended."""
    bench = scrolling(profile=profile)

    step = bench.step("scroll", **params)

    assert step["success"] is True
    assert step["data"] == {
        "scroll_outcome": outcome,
        "direction": params.get("direction", "down"),
        "distance_ratio": "0.7",
        "settle_delay_ms": "250",
        "resolved_container": LIST_ID,
    }
    assert bench.ui.done == [f"swipe {points}"]


@both_profiles
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "CONTAINER_NOT_FOUND"),
        ({"container": MISSING}, "CONTAINER_NOT_FOUND"),
        ({"container": OK}, "CONTAINER_NOT_SCROLLABLE"),
    ],
)
def test_without_something_that_scrolls_a_step_fails(
    profile: Profile, params: dict[str, Any], code: str
) -> None:
    """Scroll and scroll_until both have the code."""
    scroll, until = (
        Bench(screen(button()), profile=profile).step(name, **params)
        for name in ("scroll", "scroll_until")
    )

    assert (scroll["success"], until["success"]) == (False, False)
    assert scroll["data"] == {"error": code, "direction": "down", "settle_delay_ms": "250"}
    assert (until["data"]["termination_reason"], until["data"]["error"]) == (code, code)


@both_profiles
def test_the_first_scrollable_child_is_used(profile: Profile) -> None:
    """If allowed, a container that does not scroll is replaced by the scrollable node inside it."""
    tree = screen(node("", rows(3), bounds=(0, 0, 1080, 2400), resource_id="box"))

    deep, strict = (
        Bench(tree, profile=profile).step("scroll", container=BOX, findFirstScrollableChild=allowed)
        for allowed in (True, False)
    )

    assert deep["data"]["resolved_container"] == LIST_ID
    assert strict["data"]["error"] == "CONTAINER_NOT_SCROLLABLE"


@both_profiles
def test_a_refused_swipe_fails_the_step(profile: Profile) -> None:
    """In a loop refused swipes count, and end it at the threshold."""
    bench, loop = scrolling(profile=profile), scrolling(profile=profile)
    bench.faults.set("gesture_refused")
    loop.faults.set("gesture_refused")

    step = bench.step("scroll")
    data = loop.step("scroll_until", noPositionChangeThreshold=2)["data"]

    assert step["success"] is False
    assert (step["data"]["scroll_outcome"], step["data"]["error"]) == (
        *("gesture_failed", "GESTURE_FAILED"),
    )
    assert data["termination_reason"] == "NO_POSITION_CHANGE"
    assert data["scrolls_executed"] == "2"
    text = "NO_POSITION_CHANGE after 2 scrolls (threshold=2)"
    assert text in "\n".join(loop.lines())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("scroll", {"scroll_outcome": "edge_reached"}),
        ("scroll_and_click", {"error": "NODE_NOT_FOUND"}),
        ("scroll_until", {"error": "CONTAINER_LOST", "termination_reason": "CONTAINER_LOST"}),
    ],
)
def test_a_list_that_is_lost(name: str, found: dict[str, str]) -> None:
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


# -- scroll_until --------------------------------------------------------------------------------


@both_profiles
@pytest.mark.parametrize(
    ("params", "reason", "scrolls", "line"),
    [
        ({}, "EDGE_REACHED", "11", "EDGE_REACHED after 11 scrolls"),
        ({"maxScrolls": 4}, "MAX_SCROLLS_REACHED", "4", "MAX_SCROLLS_REACHED (4)"),
        (
            *({"maxDurationMs": 1200}, "MAX_DURATION_REACHED", "3"),
            "MAX_DURATION_REACHED after 3 scrolls",
        ),
        (
            *({"maxDurationMs": 0}, "MAX_DURATION_REACHED", "0"),
            "MAX_DURATION_REACHED after 0 scrolls",
        ),
        ({"matcher": ROW_25}, "TARGET_FOUND", "6", "TARGET_FOUND after 6 scrolls"),
        (
            *({"matcher": {"textEquals": "Row 1"}}, "TARGET_FOUND", "0"),
            "TARGET_FOUND before scrolling",
        ),
    ],
)
def test_scroll_until_ends_for_a_reason(
    profile: Profile, params: dict[str, Any], reason: str, scrolls: str, line: str
) -> None:
    """Without a target every end is a success; the log has the words of the app."""
    bench = scrolling(profile=profile)

    step = bench.step("scroll_until", **params)

    assert step["success"] is True
    assert step["data"]["termination_reason"] == reason
    assert step["data"]["scrolls_executed"] == scrolls
    assert ("resolved_container" in step["data"]) == ("before" not in line)
    logged = [each for each in bench.lines() if "scrollLoop: " in each]
    assert logged[-1] == f"D [TaskUiScope] scrollLoop: {line}"


@both_profiles
def test_scroll_until_clicks_its_target(profile: Profile) -> None:
    """The loop ends as soon as the node shows up, and clicks it if asked to."""
    bench = scrolling(profile=profile)

    step = bench.step("scroll_until", matcher=ROW_25, clickAfter=True)

    assert step["data"] == {
        "termination_reason": "TARGET_FOUND",
        "scrolls_executed": "6",
        "direction": "down",
        "click_after": "true",
        "click_types": "click",
        "resolved_container": LIST_ID,
    }
    assert bench.ui.done[-1].startswith("tap 540 ")


@both_profiles
def test_the_log_names_lost_and_missing_lists(profile: Profile) -> None:
    """Each has its own words, which are those of the app."""
    lost, nothing = scrolling(profile=profile), Bench(screen(button()), profile=profile)
    lost.faults.set("container_lost", times=1)

    step = lost.step("scroll_until", container=LIST)
    nothing.step("scroll_until")

    assert (step["success"], step["data"]["scrolls_executed"]) == (False, "1")
    assert step["data"]["error"] == step["data"]["termination_reason"] == "CONTAINER_LOST"
    assert "container lost mid-loop, returning ContainerLost" in "\n".join(lost.lines())
    text = "scrollLoop: ContainerNotFound - No scrollable container visible"
    assert f"W [TaskUiScope] {text}" in nothing.lines()


def test_a_target_that_is_missed_fails_the_published_app_only() -> None:
    """The published app looks once more for a long while; the specification has a success."""
    documented, published = scrolling(), scrolling(profile="0.5.3")

    steps = [bench.step("scroll_until", matcher=MISSING) for bench in (documented, published)]

    assert [step["success"] for step in steps] == [True, False]
    assert [step["data"]["termination_reason"] for step in steps] == ["EDGE_REACHED"] * 2
    assert [step["data"].get("error") for step in steps] == [None, "TARGET_NOT_FOUND"]
    assert sum("stage-retry" in line for line in published.lines()) == 4


def test_a_target_that_comes_late_is_found() -> None:
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

    assert bench.step("scroll_until", matcher=MISSING)["data"]["termination_reason"] == (
        "TARGET_FOUND"
    )


def test_a_list_that_vanishes_has_ended_for_the_published_app() -> None:
    """A list that is gone right after a swipe counts as having ended."""
    bench = Bench(lambda ui: screen(*([] if ui.done else [rows(9)])), profile="0.5.3")

    assert bench.step("scroll_until")["data"]["termination_reason"] == "EDGE_REACHED"


# -- scroll_and_click ----------------------------------------------------------------------------


@both_profiles
def test_a_row_far_down_is_brought_up_and_clicked(profile: Profile) -> None:
    """The click can be left out."""
    bench, without = scrolling(profile=profile), scrolling(profile=profile)

    step = bench.step("scroll_and_click", matcher={"textEquals": "Row 20"}, container=LIST)
    without.step("scroll_and_click", matcher={"textEquals": "Row 2"}, clickAfter=False)

    assert step["data"] == {
        "max_swipes": "10",
        "direction": "down" if profile == "documented" else "Down",
        "click_types": "click",
        "click_after": "true",
    }
    assert [what.partition(" ")[0] for what in bench.ui.done] == ["swipe"] * 4 + ["tap"]
    assert without.ui.done == []


@both_profiles
def test_a_target_that_never_comes_up(profile: Profile) -> None:
    """The log has the words of the app, and how often nothing moved."""
    bench = scrolling(10, profile=profile)
    params = {"matcher": MISSING, "maxSwipes": 5}

    envelope = bench.execute({"id": "a1", "type": "scroll_and_click", "params": params})

    assert envelope["status"] == "failed"
    if profile == "documented":
        assert envelope["stepResults"][0]["data"] == {"error": "NODE_NOT_FOUND"}
    logged = [line.partition("scrollUntil ")[2] for line in bench.lines() if "stuck=" in line]
    assert logged == ["⚠️ no movement (stuck=1)", "⚠️ no movement (stuck=2)"]
    assert "exhausted scrolling (no further movement)" in "\n".join(bench.lines())
