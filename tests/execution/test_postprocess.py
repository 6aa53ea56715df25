"""Each processor does one thing to an envelope, and the chain has the reference's effect."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.postprocess import (
    JUDGEMENTS,
    PROCESSORS,
    Collected,
    needs_screenshot,
    needs_snapshots,
    postprocess,
    screenshot_path,
    warnings_of,
)

CLOSE = Action("close", "close_app", ActionParams(application_id="com.a"))
SNAP = Action("snap", "snapshot_ui")
CLICK = Action("click", "click")
SHOT = Action("shot", "take_screenshot")
SLEEP = Action("nap", "sleep", ActionParams(duration_ms=1))
CLOSED = frozenset({"close"})


def step(id: str, type: str, success: bool = True, **data: str) -> dict[str, Any]:
    """Make a step result in wire form."""
    return {"id": id, "actionType": type, "success": success, "data": data}


def envelope(*steps: dict[str, Any], **changes: Any) -> ResultEnvelope:
    """Make an envelope as it comes from the device."""
    wire = {"commandId": "c", "taskId": "t", "status": "success", "error": None}
    return ResultEnvelope.model_validate({**wire, "stepResults": list(steps), **changes})


def collected(*actions: Action, **changes: Any) -> Collected:
    """Make what dispatch brought back."""
    return Collected(actions=actions, serial="S1", **changes)


UNSUPPORTED_CLOSE = step(
    "close", "close_app", False, error="UNSUPPORTED_RUNTIME_CLOSE", application_id="com.a"
)
UNSUPPORTED_SHOT = step(
    "shot", "take_screenshot", False, error="UNSUPPORTED_RUNTIME_SCREENSHOT", message="m"
)


class TestCloseApp:
    """The host force-stops apps, because the Operator cannot."""

    def test_a_step_whose_app_the_host_stopped_is_a_success(self) -> None:
        """The app is named as in the payload, by the last action of that id; the rest goes."""
        later = Action("close", "close_app", ActionParams(application_id="com.b"))
        failed = {**UNSUPPORTED_CLOSE, "data": {**UNSUPPORTED_CLOSE["data"], "m": "m"}}

        for actions, app in (((CLOSE,), "com.a"), ((CLOSE, later), "com.b")):
            result = postprocess(envelope(failed), collected(*actions, closed=CLOSED))

            assert result.ok
            assert result.step("close").data == {"application_id": app}

    @pytest.mark.parametrize(
        ("given", "action", "closed"),
        [
            (UNSUPPORTED_CLOSE, CLOSE, frozenset()),
            (step("close", "close_app", False, error="OTHER"), CLOSE, CLOSED),
            *(
                ({**UNSUPPORTED_CLOSE, "actionType": kind}, CLOSE, CLOSED)
                for kind in ("click", "open_app", "CLOSE_APP")
            ),
            (UNSUPPORTED_CLOSE, Action("close", "open_app", CLOSE.params), CLOSED),
            (
                step("close", "close_app", error="UNSUPPORTED_RUNTIME_CLOSE", more="x"),
                CLOSE,
                CLOSED,
            ),
        ],
    )
    def test_other_steps_stay_as_they_came(
        self, given: dict[str, Any], action: Action, closed: frozenset[str]
    ) -> None:
        """Only the refusal of a close_app whose app the host stopped is replaced."""
        result = postprocess(envelope(given), collected(action, closed=closed))

        assert result.steps[0].to_wire() == given
        assert result.ok is given["success"]
        assert result.status == ("success" if given["success"] else "failed")


class TestSnapshots:
    """Hierarchies from the log belong to the snapshot steps, newest to last."""

    def test_hierarchies_are_attached_from_the_end(self) -> None:
        """With one too few the earliest step fails; older ones and failed steps are left out."""
        steps = [step(f"s{n}", "snapshot_ui") for n in range(3)]
        failed = step("b", "snapshot_ui", False, error="E")

        result = postprocess(envelope(*steps), collected(snapshots=("x", "y")))
        beside_failed = postprocess(envelope(steps[0], failed), collected(snapshots=("old", "x")))

        assert [each.data.get("text") for each in result.steps] == [None, "x", "y"]
        assert result.code == "SNAPSHOT_EXTRACTION_FAILED"
        assert result.error == "Step s0 (snapshot_ui) failed: SNAPSHOT_EXTRACTION_FAILED"
        assert [each.data for each in beside_failed.steps] == [{"text": "x"}, {"error": "E"}]

    @pytest.mark.parametrize(
        ("actions", "warned"),
        [
            ((CLICK, SNAP), True),
            ((Action("t", "scroll_and_click"), SNAP), True),
            ((SNAP,), False),
            ((CLICK, SLEEP, SNAP), False),
            ((SNAP, CLICK), False),
            ((Action("s", "scroll"), SNAP), False),
            ((CLICK, SNAP, SLEEP, SNAP), False),
            ((SNAP, CLICK, SNAP), True),
        ],
    )
    def test_a_snapshot_straight_after_a_tap_has_a_warning(
        self, actions: tuple[Action, ...], warned: bool
    ) -> None:
        """Only the action just before counts; the last action of an id decides for all."""
        given = envelope(step("snap", "snapshot_ui"), step("snap", "snapshot_ui"))

        result = postprocess(given, collected(*actions, snapshots=("x", "y")))

        assert ["warn" in each.data for each in result.steps] == [warned, warned]
        if warned:
            assert "may not have settled" in result.steps[0].data["warn"]

    def test_steps_that_need_nothing_stay_as_they_came(self) -> None:
        """A text that is empty is a text; failed steps and steps of other types get no warning."""
        for given, about in (
            (step("snap", "snapshot_ui", text=""), collected(SNAP)),
            (
                step("snap", "snapshot_ui", False, error="E"),
                collected(CLICK, SNAP, snapshots=("x",)),
            ),
            (step("read", "read_text"), collected(CLICK, Action("read", "read_text"))),
        ):
            assert postprocess(envelope(given), about).steps[0].to_wire() == given

    def test_a_lost_hierarchy_fails_its_step(self) -> None:
        """The step keeps its other data and names what to check, without a warning after a tap."""
        given = envelope(step("snap", "snapshot_ui", actual_format="hierarchy_xml"))
        for actions in ((SNAP,), (CLICK, SNAP), (Action("t", "scroll_and_click"), SNAP)):
            result = postprocess(given, collected(*actions))

            assert result.step("snap").data == {
                "actual_format": "hierarchy_xml",
                "error": "SNAPSHOT_EXTRACTION_FAILED",
                "message": "UI hierarchy extraction produced no output for this step. "
                "Check clawperator version compatibility and logcat extraction health.",
            }
            assert 'step "snap"' in warnings_of(result, collected(SNAP))[0]


class TestScreenshots:
    """A run has one picture, for its first screenshot step."""

    def test_the_first_step_gets_the_picture(self) -> None:
        """It gets the path and loses the Operator's refusal; a second step stays failed."""
        second = {**UNSUPPORTED_SHOT, "id": "shot2"}
        taken = collected(SHOT, screenshot="/x.png")

        alone = postprocess(envelope(UNSUPPORTED_SHOT), taken)
        both = postprocess(envelope(UNSUPPORTED_SHOT, second), taken)

        assert alone.ok
        assert alone.step("shot").data == both.step("shot").data == {"path": "/x.png"}
        assert both.code == "UNSUPPORTED_RUNTIME_SCREENSHOT"

    def test_a_step_without_a_picture_stays_failed(self) -> None:
        """Without a picture the step stays as it came, and the reason is a warning."""
        lost = collected(SHOT, screenshot_error="device offline")

        result = postprocess(envelope(UNSUPPORTED_SHOT), lost)

        assert not result.ok
        assert warnings_of(result, lost)[0].endswith("device offline")

    def test_another_error_stays(self) -> None:
        """The picture is named even in a step that failed for another reason."""
        failed = step("shot", "take_screenshot", False, error="OTHER", message="m")

        result = postprocess(envelope(failed), collected(SHOT, screenshot="/x.png"))

        assert result.code == "OTHER"
        assert result.step("shot").data == {"error": "OTHER", "message": "m", "path": "/x.png"}

    def test_the_first_action_decides_where_the_picture_goes(self) -> None:
        """Without a path the default is used."""
        wanted = Action("s", "take_screenshot", ActionParams(path="/mine.png"))

        assert screenshot_path([CLICK, wanted], "/default") == "/mine.png"
        assert screenshot_path([SHOT, wanted], "/default") == "/default"
        assert screenshot_path([], "/default") == "/default"


class TestStatus:
    """The steps decide the status; without steps the Operator's word stands."""

    def test_a_failed_step_fails_the_envelope(self) -> None:
        """The code is kept and a stale hint dropped, also if the host fails the step."""
        given = envelope(step("a", "x"), step("b", "y", False), errorCode="Z", hint="h")
        lost = envelope(step("snap", "snapshot_ui"), errorCode="Z")

        result, by_host = postprocess(given, collected()), postprocess(lost, collected(SNAP))

        assert result.error == "Step b (y) failed"
        assert result.hint is None
        assert result.status == by_host.status == "failed"
        assert result.error_code == by_host.error_code == "Z"

    def test_success_of_all_steps_clears_the_error(self) -> None:
        """All steps well clears every trace of an error."""
        given = envelope(step("a", "x"), status="failed", error="e", errorCode="Z", hint="h")

        assert postprocess(given, collected()).to_wire() == envelope(step("a", "x")).to_wire()

    @pytest.mark.parametrize(
        ("status", "code", "error"),
        [
            ("failed", None, "Task execution failed: UI tree not available"),
            ("success", "SERVICE_UNAVAILABLE", "x"),
            ("failed", "service_unavailable", "x"),
            ("failed", "OTHER", "x"),
            ("failed", None, "x"),
        ],
    )
    def test_a_failure_without_steps_is_left_alone(
        self, status: str, code: str | None, error: str
    ) -> None:
        """Only a failure with exactly the code of a missing service gets a hint."""
        given = envelope(status=status, error=error, errorCode=code)
        off = envelope(status="failed", error="x", errorCode="SERVICE_UNAVAILABLE")

        assert postprocess(given, collected()) == given
        assert "--device S1" in (postprocess(off, collected()).hint or "")

    def test_service_hint_follows_the_steps(self) -> None:
        """The status that counts is the one that the steps decide."""
        failed = envelope(step("a", "x", False), errorCode="SERVICE_UNAVAILABLE", hint="stale")
        fine = envelope(step("a", "x"), status="failed", errorCode="SERVICE_UNAVAILABLE")

        assert postprocess(failed, collected()).hint == (
            "Accessibility service not running. Run 'clawperator doctor --fix --device S1'"
            " to diagnose and repair, or 'clawperator operator setup --apk <path-to-apk>"
            " --device S1' to reinstall."
        )
        assert postprocess(fine, collected()).hint is None


def test_all_processors_together() -> None:
    """Apps, hierarchies, warnings, the picture, the status and the hint, in this order."""
    given = envelope(
        UNSUPPORTED_CLOSE,
        step("lost", "snapshot_ui"),
        step("click", "click"),
        step("snap", "snapshot_ui"),
        UNSUPPORTED_SHOT,
        errorCode="SERVICE_UNAVAILABLE",
    )
    brought = collected(
        CLOSE,
        CLICK,
        Action("lost", "snapshot_ui"),
        CLICK,
        SNAP,
        SHOT,
        closed=CLOSED,
        snapshots=("<hierarchy/>",),
        screenshot="/x.png",
    )

    assert postprocess(given, brought).to_wire() == {
        "commandId": "c",
        "taskId": "t",
        "status": "failed",
        "stepResults": [
            step("close", "close_app", application_id="com.a"),
            step(
                "lost",
                "snapshot_ui",
                False,
                error="SNAPSHOT_EXTRACTION_FAILED",
                message="UI hierarchy extraction produced no output for this step. "
                "Check clawperator version compatibility and logcat extraction health.",
            ),
            step("click", "click"),
            step(
                "snap",
                "snapshot_ui",
                text="<hierarchy/>",
                warn="snapshot captured without a preceding sleep step; UI may not have settled"
                " - consider adding a sleep step between click and snapshot_ui",
            ),
            step("shot", "take_screenshot", path="/x.png"),
        ],
        "error": "Step lost (snapshot_ui) failed: SNAPSHOT_EXTRACTION_FAILED",
        "errorCode": "SERVICE_UNAVAILABLE",
        "hint": "Accessibility service not running. Run 'clawperator doctor --fix --device S1'"
        " to diagnose and repair, or 'clawperator operator setup --apk <path-to-apk>"
        " --device S1' to reinstall.",
    }


def test_the_envelope_decides_whether_log_and_screen_are_needed() -> None:
    """Snapshots are collected for snapshot steps, a picture for screenshot steps."""
    assert needs_snapshots(envelope(step("a", "snapshot_ui", False)))
    assert not needs_snapshots(envelope(step("a", "click")))
    assert needs_screenshot(envelope(step("a", "take_screenshot")))
    assert not needs_screenshot(envelope())


def test_processors_change_nothing_in_place_and_keep_subclasses() -> None:
    """The envelope that came in is the same afterwards; one with more to it keeps all of it."""

    class Timed(ResultEnvelope):
        elapsed: float

    wire = envelope(UNSUPPORTED_CLOSE, step("snap", "snapshot_ui")).to_wire()
    given = Timed.model_validate({**wire, "elapsed": 1.5})

    result = postprocess(given, collected(CLOSE, SNAP, closed=CLOSED))

    assert isinstance(result, Timed)
    assert (result.elapsed, result.status) == (1.5, "failed")
    assert given.to_wire() == wire


def test_the_chain_takes_further_processors() -> None:
    """The chain can be lengthened with a plain function."""

    def rename(result: ResultEnvelope, brought: Collected) -> ResultEnvelope:
        return result.model_copy(update={"task_id": brought.serial})

    result = postprocess(envelope(), collected(), (*PROCESSORS, rename))

    assert result.task_id == "S1"


class TestProofs:
    """What proves an action is left out of the envelope."""

    ACTIONS = (Action("w", "wait_for_node"), Action("l", "snapshot_ui"), CLICK, SHOT)

    def processed(self, *steps: dict[str, Any]) -> ResultEnvelope:
        """Return the envelope of a click with its proof."""
        about = collected(
            *self.ACTIONS, proofs={"w": "click", "l": "click"}, snapshots=("<hierarchy/>",)
        )
        return postprocess(envelope(*steps), about)

    @pytest.mark.parametrize("error", [{}, {"error": "NODE_NOT_CLICKABLE"}])
    def test_the_proof_is_kept_with_the_action(self, error: dict[str, str]) -> None:
        """The envelope is as if the action had been sent alone, whether it failed or not."""
        click = {**step("click", "click", not error), "data": error}

        result = self.processed(step("w", "wait_for_node"), step("l", "snapshot_ui"), click)

        assert [one.to_wire() for one in result.steps] == [click]
        assert result.code == error.get("error")
        assert result.steps[0].look is not None
        assert result.steps[0].look.id == "l"
        assert result.steps[0].look.data["text"] == "<hierarchy/>"

    def test_an_action_whose_proof_failed_has_failed(self) -> None:
        """The action was not carried out, for the same reason."""
        result = self.processed(step("w", "wait_for_node", False, error="NODE_NOT_FOUND"))

        assert [one.to_wire() for one in result.steps] == [
            step("click", "click", False, error="NODE_NOT_FOUND")
        ]
        assert result.error == "Step click (click) failed: NODE_NOT_FOUND"

    def test_a_scroll_keeps_its_data_if_its_tap_fails(self) -> None:
        """The step has the data of the scroll and the reason of the tap."""
        about = collected(Action("s", "scroll_until"), Action("t", "click"), proofs={"t": "s"})
        given = envelope(
            step("s", "scroll_until", termination_reason="TARGET_FOUND"),
            step("t", "click", False, error="NODE_NOT_CLICKABLE"),
        )

        (only,) = postprocess(given, about).steps

        assert not only.success
        assert only.data == {
            "termination_reason": "TARGET_FOUND",
            "error": "NODE_NOT_CLICKABLE",
        }


SEARCH = Action("find", "scroll_until", ActionParams(matcher=NodeMatcher(text_equals="Bread")))
TO_THE_END = Action("find", "scroll_until", ActionParams())


def searched(reason: str, **data: str) -> dict[str, Any]:
    """Make the result of a scroll_until that succeeded, in wire form."""
    data["termination_reason"] = reason
    return {**step("find", "scroll_until"), "data": data}


def judged(given: ResultEnvelope, *actions: Action) -> ResultEnvelope:
    """Process an envelope as a run of the client's methods does."""
    return postprocess(given, Collected(actions=actions, serial="S1"), (*PROCESSORS, *JUDGEMENTS))


@pytest.mark.parametrize("reason", ["EDGE_REACHED", "MAX_SCROLLS_REACHED", "CONTAINER_LOST", ""])
def test_a_search_that_ended_without_its_target_is_a_failure(reason: str) -> None:
    """Step, status and error report that the target was not found; the data is kept."""
    result = judged(
        envelope(step("nap", "sleep"), searched(reason, scrolls_executed="3")), SLEEP, SEARCH
    )

    assert not result.ok
    assert result.status == "failed"
    assert result.code is ErrorCode.TARGET_NOT_FOUND
    assert result.error == "Step find (scroll_until) failed: TARGET_NOT_FOUND"
    assert result.step("find").data["scrolls_executed"] == "3"
    assert result.step("nap").success


def test_other_searches_are_left_alone() -> None:
    """A target that was found, the end of a list without one, and the device's own failure."""
    found = envelope(searched("TARGET_FOUND"))
    lost = {**searched("EDGE_REACHED", error="CONTAINER_NOT_FOUND"), "success": False}

    assert postprocess(found, Collected(actions=(SEARCH,), serial="S1"), JUDGEMENTS) is found
    assert judged(envelope(searched("EDGE_REACHED")), TO_THE_END).ok
    assert judged(envelope(lost), SEARCH).code is ErrorCode.CONTAINER_NOT_FOUND


@pytest.mark.parametrize(
    ("params", "code"),
    [
        (ActionParams(matcher=NodeMatcher(text_equals="50 % off")), ErrorCode.NODE_NOT_FOUND),
        (ActionParams(label_matcher=NodeMatcher(text_contains="%")), ErrorCode.NODE_NOT_FOUND),
        (ActionParams(expected_node=NodeMatcher(role="%")), ErrorCode.NODE_NOT_FOUND),
        (ActionParams(uri="shop://50%25"), ErrorCode.URI_NOT_HANDLED),
        (ActionParams(matcher=NodeMatcher(text_equals="Sale")), ErrorCode.EXECUTION_FAILED),
        (None, ErrorCode.EXECUTION_FAILED),
    ],
)
def test_a_garbled_failure_gets_the_code_that_was_meant(
    params: ActionParams | None, code: ErrorCode
) -> None:
    """The action with the percent sign shows what the Operator meant; plain words stay."""
    garbled = envelope(status="failed", error="Task execution failed: Conversion = 'o'")
    plain = envelope(status="failed", error="Task execution failed: No app found for com.a")

    assert judged(garbled, SLEEP, Action("do", "click", params)).code is code
    assert judged(plain, Action("do", "open_uri", params)).code is ErrorCode.APP_NOT_FOUND
