"""Where the specification and the published app part ways."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.screen.accessibility import UiNode
from tests.simulator.operator.fakes import APP, MISSING, OK, Bench, action, button, node, screen

MISSING_TEXT = (
    "NodeMatcher(resourceId=null, role=null, textEquals=missing, textContains=null, "
    "contentDescEquals=null, contentDescContains=null)"
)
NOT_FOUND = f"No UI node found matching criteria: {MISSING_TEXT}"
NAME = {"textEquals": "Name"}
ANY_TEXT = {"role": "text"}


@pytest.mark.parametrize(
    ("type", "params", "code", "text"),
    [
        ("click", {"matcher": MISSING}, "NODE_NOT_FOUND", NOT_FOUND),
        ("enter_text", {"matcher": MISSING, "text": "x"}, "NODE_NOT_FOUND", NOT_FOUND),
        ("read_text", {"matcher": MISSING}, "NODE_NOT_FOUND", NOT_FOUND),
        (
            *("read_text", {"matcher": {"resourceId": "blank"}}, "NODE_HAS_NO_TEXT"),
            "Matching UI node has no text content",
        ),
        ("wait_for_node", {"matcher": MISSING}, "NODE_NOT_FOUND", NOT_FOUND),
        (
            *("wait_for_node", {"matcher": MISSING, "timeoutMs": 900}, "NODE_NOT_FOUND"),
            f"Timeout waiting for node matching: {MISSING_TEXT} (timeoutMs=900)",
        ),
        (
            *("open_app", {"applicationId": "com.none"}, "APP_NOT_FOUND"),
            "No app found with applicationId=com.none",
        ),
        (
            *("scroll_and_click", {"matcher": OK}, "CONTAINER_NOT_FOUND"),
            "No scrollable container visible",
        ),
        (
            *("click", {"coordinate": {"x": 1, "y": 2}, "clickType": "focus"}, "GESTURE_FAILED"),
            "Click at coordinate (1,2) failed",
        ),
    ],
)
def test_a_failure_is_a_step_or_the_end_of_everything(
    type: str, params: dict[str, Any], code: str, text: str
) -> None:
    """The specification has a failed step with a code; the published app loses all results."""
    tree = screen(button(), node("", resource_id="blank"))
    steps = ({"id": "first", "type": "doctor_ping"}, action(type, **params), action("doctor_ping"))

    documented = Bench(tree).execute(*steps)
    published = Bench(tree, profile="0.5.3").execute(*steps)

    assert (documented["status"], published["status"]) == ("failed", "failed")
    assert documented["error"] == f"Step a1 ({type}) failed: {code}"
    assert [step["id"] for step in documented["stepResults"]] == ["first", "a1"]
    assert documented["stepResults"][1]["data"] == {"error": code}
    assert "errorCode" not in documented
    assert published["error"] == f"Task execution failed: {text}"
    assert published["stepResults"] == []


@pytest.mark.parametrize(
    ("tree", "type", "params", "documented", "published"),
    [
        (
            *(button(enabled=False), "click", {"matcher": OK}),
            ({"error": "NODE_NOT_CLICKABLE"}, []),
            ({"click_types": "click"}, ["tap 200 1050"]),
        ),
        (
            node("Name", editable=True, focused=True),
            *("type_text", {"matcher": NAME, "text": "x", "submit": True}),
            ({"text": "x", "submit": "true"}, ["set_text Name x", "enter"]),
            ({"text": "x", "submit": "true"}, ["set_text Name x", "click Name"]),
        ),
        (
            *(button(), "wait_for_navigation", {"expectedPackage": APP, "timeoutMs": 500}),
            ({"resolved_package": APP, "elapsed_ms": "0"}, []),
            ({"error": "NAVIGATION_TIMEOUT", "last_package": APP}, []),
        ),
        (
            *(node("two\nlines"), "read_text", {"matcher": ANY_TEXT, "validator": "version"}),
            ({"error": "VALIDATOR_MISMATCH", "raw_text": "two\nlines"}, []),
            ({"error": "VALIDATOR_MISMATCH", "raw_text": ""}, []),
        ),
    ],
    ids=["disabled", "submit", "in front", "two lines"],
)
def test_a_step_that_each_does_in_its_own_way(
    tree: UiNode, type: str, params: dict[str, Any], documented: Any, published: Any
) -> None:
    """Disabled nodes, submitting, navigation and texts of several lines differ."""
    benches = [Bench(screen(tree)), Bench(screen(tree), profile="0.5.3")]

    found = [(bench.step(type, **params)["data"], bench.ui.done) for bench in benches]

    assert found == [documented, published]


@pytest.mark.parametrize(
    ("tree", "fault", "type", "params", "code"),
    [
        (
            button(clickable=False),
            "gesture_refused",
            "click",
            {"matcher": OK},
            "NODE_NOT_CLICKABLE",
        ),
        (
            *(button(), "gesture_refused", "click", {"coordinate": {"x": 1, "y": 1}}),
            "GESTURE_FAILED",
        ),
        (button(), "no_ui_tree", "snapshot_ui", {}, "UI_TREE_UNAVAILABLE"),
        (button(), "no_ui_tree", "click", {"matcher": OK}, "UI_TREE_UNAVAILABLE"),
        (button(), "no_ui_tree", "scroll_until", {}, "UI_TREE_UNAVAILABLE"),
    ],
)
def test_a_fault_is_a_code_until_it_is_over(
    tree: UiNode, fault: str, type: str, params: dict[str, Any], code: str
) -> None:
    """A refused gesture and a missing tree fail a step; a retry after the fault succeeds."""
    broken, better = Bench(screen(tree)), Bench(screen(tree))
    broken.faults.set(fault)
    better.faults.set(fault, times=2)

    assert broken.step(type, **params)["data"] == {"error": code}
    if type == "click":
        assert better.step(type, **params)["success"] is True


def test_an_address_that_no_app_handles_is_tried_four_times() -> None:
    """It is tried four times before the step fails."""
    bench = Bench()
    bench.ui.refuse = {"open_uri"}

    assert bench.step("open_uri", uri="x://y")["data"] == {"error": "URI_NOT_HANDLED"}
    assert len(bench.ui.done) == 4


def test_text_goes_only_into_fields() -> None:
    """A node that takes no text is not interactable."""
    bench = Bench(screen(button()))
    bench.ui.refuse = {"set_text"}

    step = bench.step("enter_text", matcher=OK, text="x")

    assert step["data"] == {"error": "NODE_NOT_CLICKABLE"}


def test_soft_failures_do_not_stop_the_published_app() -> None:
    """A step that failed softly is followed by the next, and the envelope is a success."""
    envelope = Bench(profile="0.5.3").execute(action("scroll"), action("press_key", key="home"))

    assert (envelope["status"], envelope["error"]) == ("success", None)
    assert [step["success"] for step in envelope["stepResults"]] == [False, True]
