"""Where the specification and the published app part ways."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.operator.fakes import (
    APP,
    MISSING,
    OK,
    Bench,
    action,
    button,
    command,
    node,
    screen,
)

MISSING_TEXT = (
    "NodeMatcher(resourceId=null, role=null, textEquals=missing, textContains=null, "
    "contentDescEquals=null, contentDescContains=null)"
)


def failure(bench: Bench) -> str:
    """Return the error of a run that failed as a whole."""
    (envelope,) = bench.envelopes()
    assert envelope["status"] == "failed"
    assert envelope["stepResults"] == []
    return str(envelope["error"]).removeprefix("Task execution failed: ")


class TestDocumented:
    """What only the specification says."""

    @pytest.mark.parametrize(
        ("type", "params", "code"),
        [
            ("click", {"matcher": MISSING}, "NODE_NOT_FOUND"),
            ("enter_text", {"matcher": MISSING, "text": "x"}, "NODE_NOT_FOUND"),
            ("read_text", {"matcher": MISSING}, "NODE_NOT_FOUND"),
            ("read_text", {"matcher": {"resourceId": "blank"}}, "NODE_HAS_NO_TEXT"),
            ("wait_for_node", {"matcher": MISSING}, "NODE_NOT_FOUND"),
            ("wait_for_node", {"matcher": MISSING, "timeoutMs": 900}, "NODE_NOT_FOUND"),
            ("open_app", {"applicationId": "com.none"}, "APP_NOT_FOUND"),
            ("scroll_and_click", {"matcher": OK}, "CONTAINER_NOT_FOUND"),
            ("scroll_and_click", {"matcher": OK, "container": OK}, "CONTAINER_NOT_SCROLLABLE"),
        ],
    )
    def test_failures_are_steps_with_codes(
        self, type: str, params: dict[str, Any], code: str
    ) -> None:
        """What cannot be done is a failed step, and later steps are absent."""
        tree = screen(button(), node("", resource_id="blank"))
        first = {"id": "first", "type": "doctor_ping"}

        envelope = Bench(tree).execute(first, action(type, **params), action("doctor_ping"))

        assert envelope["status"] == "failed"
        assert envelope["error"] == f"Step a1 ({type}) failed: {code}"
        assert [step["id"] for step in envelope["stepResults"]] == ["first", "a1"]
        assert envelope["stepResults"][1]["data"] == {"error": code}
        assert "errorCode" not in envelope

    def test_an_address_that_nobody_handles(self) -> None:
        """It is tried four times before the step fails."""
        bench = Bench()
        bench.ui.refuse = {"open_uri"}

        assert bench.step("open_uri", uri="x://y")["data"] == {"error": "URI_NOT_HANDLED"}
        assert len(bench.ui.done) == 4

    @pytest.mark.parametrize("values", [{"enabled": False}, {"enabled": False, "clickable": False}])
    def test_a_disabled_node_is_not_clickable(self, values: dict[str, Any]) -> None:
        """What is disabled is found, but not clicked."""
        bench = Bench(screen(button(**values)))

        assert bench.step("click", matcher=OK)["data"] == {"error": "NODE_NOT_CLICKABLE"}
        assert bench.ui.done == []

    def test_a_refused_tap_is_a_code(self) -> None:
        """A tap that the device refuses is a code, on a node and at a point."""
        for params, code in (
            ({"matcher": OK}, "NODE_NOT_CLICKABLE"),
            ({"coordinate": {"x": 1, "y": 1}}, "GESTURE_FAILED"),
        ):
            bench = Bench(screen(button(clickable=False)))
            bench.faults.set("gesture_refused")
            assert bench.step("click", **params)["data"] == {"error": code}

    def test_a_refused_tap_is_tried_again(self) -> None:
        """A fault for two occasions is over at the third try."""
        bench = Bench(screen(button(clickable=False)))
        bench.faults.set("gesture_refused", times=2)

        assert bench.step("click", matcher=OK)["success"] is True
        assert bench.ui.done == ["tap 200 1050"]

    def test_text_goes_only_into_fields(self) -> None:
        """A node that takes no text is not interactable."""
        bench = Bench(screen(button()))
        bench.ui.refuse = {"set_text"}

        step = bench.step("enter_text", matcher=OK, text="x")

        assert step["data"] == {"error": "NODE_NOT_CLICKABLE"}

    def test_submit_presses_enter(self) -> None:
        """After the text, enter is pressed."""
        bench = Bench(screen(node("Name", editable=True, focused=True)))

        bench.step("enter_text", matcher={"textEquals": "Name"}, text="x", submit=True)

        assert bench.ui.done == ["set_text Name x", "enter"]

    def test_a_screen_without_a_tree(self) -> None:
        """Without a tree, steps fail with the same code, snapshots too."""
        for name, params in (("snapshot_ui", {}), ("click", {"matcher": OK}), ("scroll_until", {})):
            bench = Bench(screen(button()))
            bench.faults.set("no_ui_tree")
            assert bench.step(name, **params)["data"] == {"error": "UI_TREE_UNAVAILABLE"}

    def test_a_tree_that_comes_back(self) -> None:
        """A fault for two looks leaves the third alone."""
        bench = Bench(screen(button()))
        bench.faults.set("no_ui_tree", times=2)

        assert bench.step("click", matcher=OK)["success"] is True

    def test_an_app_in_front_has_been_navigated_to(self) -> None:
        """The expected package only needs to be there."""
        data = Bench().step("wait_for_navigation", expectedPackage=APP, timeoutMs=500)["data"]

        assert data == {"resolved_package": APP, "elapsed_ms": "0"}

    def test_raw_text_keeps_its_lines(self) -> None:
        """What was read is in the failed step as it is."""
        bench = Bench(screen(node("two\nlines")))

        data = bench.step("read_text", matcher={"role": "text"}, validator="version")["data"]

        assert data["raw_text"] == "two\nlines"


class TestPublished:
    """What only the published app does."""

    @pytest.mark.parametrize(
        ("type", "params", "error"),
        [
            (
                "click",
                {"matcher": MISSING},
                f"No UI node found matching criteria: {MISSING_TEXT}",
            ),
            (
                "wait_for_node",
                {"matcher": MISSING, "timeoutMs": 900},
                f"Timeout waiting for node matching: {MISSING_TEXT} (timeoutMs=900)",
            ),
            (
                "read_text",
                {"matcher": {"resourceId": "blank"}},
                "Matching UI node has no text content",
            ),
            (
                "click",
                {"coordinate": {"x": 1, "y": 2}, "clickType": "focus"},
                "Click at coordinate (1,2) failed",
            ),
            ("open_app", {"applicationId": "com.none"}, "No app found with applicationId=com.none"),
            ("scroll_and_click", {"matcher": OK}, "No scrollable container visible"),
        ],
    )
    def test_hard_failures_lose_every_result(
        self, type: str, params: dict[str, Any], error: str
    ) -> None:
        """An exception ends the run with a text and nothing else."""
        bench = Bench(screen(button(), node("", resource_id="blank")), profile="0.5.3")

        bench.send(command(action("doctor_ping"), action(type, **params)))

        assert failure(bench) == error

    def test_soft_failures_do_not_stop_the_run(self) -> None:
        """A step that failed softly is followed by the next, and the envelope is a success."""
        envelope = Bench(profile="0.5.3").execute(action("scroll"), action("press_key", key="home"))

        assert envelope["status"] == "success"
        assert envelope["error"] is None
        assert [step["success"] for step in envelope["stepResults"]] == [False, True]

    def test_a_disabled_node_is_tapped(self) -> None:
        """The published app taps on what is disabled and calls it a success."""
        bench = Bench(screen(button(enabled=False)), profile="0.5.3")

        assert bench.step("click", matcher=OK)["success"] is True
        assert bench.ui.done == ["tap 200 1050"]

    def test_submit_only_clicks(self) -> None:
        """Enter is never pressed."""
        bench = Bench(screen(node("Name", editable=True, focused=True)), profile="0.5.3")

        bench.step("type_text", matcher={"textEquals": "Name"}, text="x", submit=True)

        assert bench.ui.done == ["set_text Name x", "click Name"]

    def test_an_app_in_front_is_no_navigation(self) -> None:
        """An app that was there from the start has to leave and come back."""
        bench = Bench(profile="0.5.3")

        step = bench.step("wait_for_navigation", expectedPackage=APP, timeoutMs=500)

        assert step["data"] == {"error": "NAVIGATION_TIMEOUT", "last_package": APP}

    def test_raw_text_of_several_lines_is_lost(self) -> None:
        """The published app finds no text with a line break in its own message."""
        bench = Bench(screen(node("two\nlines")), profile="0.5.3")

        data = bench.step("read_text", matcher={"role": "text"}, validator="version")["data"]

        assert data == {"error": "VALIDATOR_MISMATCH", "raw_text": ""}
