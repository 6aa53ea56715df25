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

    def test_done_by_the_host(self) -> None:
        """A step whose app the host stopped is a success."""
        result = postprocess(
            envelope(UNSUPPORTED_CLOSE), collected(CLOSE, closed=frozenset({"close"}))
        )

        assert result.ok
        assert result.step("close").data == {"application_id": "com.a"}

    def test_a_step_whose_app_was_not_stopped_stays_failed(self) -> None:
        """A step whose app was not stopped stays failed."""
        result = postprocess(envelope(UNSUPPORTED_CLOSE), collected(CLOSE))

        assert result.code == "UNSUPPORTED_RUNTIME_CLOSE"

    def test_another_error_stays(self) -> None:
        """Only the Operator's refusal is put right."""
        failed = step("close", "close_app", False, error="OTHER")

        assert (
            postprocess(envelope(failed), collected(CLOSE, closed=frozenset({"close"}))).code
            == "OTHER"
        )

    @pytest.mark.parametrize("type", ["click", "open_app", "CLOSE_APP"])
    def test_only_close_app_steps(self, type: str) -> None:
        """A step of another type keeps the refusal, whatever its id."""
        other = {**UNSUPPORTED_CLOSE, "actionType": type}

        result = postprocess(envelope(other), collected(CLOSE, closed=frozenset({"close"})))

        assert result.steps[0].to_wire() == other
        assert result.status == "failed"

    def test_only_close_app_actions(self) -> None:
        """A step that answers an action of another type keeps the refusal."""
        other = Action("close", "open_app", ActionParams(application_id="com.a"))

        result = postprocess(
            envelope(UNSUPPORTED_CLOSE), collected(other, closed=frozenset({"close"}))
        )

        assert result.steps[0].to_wire() == UNSUPPORTED_CLOSE

    def test_a_success_stays(self) -> None:
        """A step that succeeded already keeps its data."""
        fine = step("close", "close_app", error="UNSUPPORTED_RUNTIME_CLOSE", more="x")

        result = postprocess(envelope(fine), collected(CLOSE, closed=frozenset({"close"})))

        assert result.steps[0].to_wire() == fine

    def test_the_data_is_that_of_the_action(self) -> None:
        """The app is named as in the payload, by the last action of that id; the rest goes."""
        failed = step(
            "close",
            "close_app",
            False,
            error="UNSUPPORTED_RUNTIME_CLOSE",
            application_id="?",
            m="m",
        )
        later = Action("close", "close_app", ActionParams(application_id="com.b"))

        result = postprocess(envelope(failed), collected(CLOSE, later, closed=frozenset({"close"})))

        assert result.step("close").data == {"application_id": "com.b"}


class TestSnapshots:
    """Hierarchies from the log belong to the snapshot steps, newest to last."""

    def test_attached_from_the_end(self) -> None:
        """With one hierarchy too few the earliest step goes without and fails."""
        steps = [step(f"s{n}", "snapshot_ui") for n in range(3)]

        result = postprocess(envelope(*steps), collected(snapshots=("x", "y")))

        assert [each.data.get("text") for each in result.steps] == [None, "x", "y"]
        assert result.code == "SNAPSHOT_EXTRACTION_FAILED"
        assert result.error == "Step s0 (snapshot_ui) failed: SNAPSHOT_EXTRACTION_FAILED"

    def test_old_ones_are_left_over(self) -> None:
        """Hierarchies of earlier runs are older and stay unused."""
        result = postprocess(envelope(step("s", "snapshot_ui")), collected(snapshots=("old", "x")))

        assert result.step("s").data["text"] == "x"

    def test_failed_steps_get_none(self) -> None:
        """A snapshot that failed takes no hierarchy from another."""
        steps = [step("a", "snapshot_ui"), step("b", "snapshot_ui", False, error="E")]

        result = postprocess(envelope(*steps), collected(snapshots=("x",)))

        assert result.step("a").data == {"text": "x"}
        assert result.step("b").data == {"error": "E"}

    @pytest.mark.parametrize("tap", ["click", "scroll_and_click"])
    def test_warning_after_a_tap(self, tap: str) -> None:
        """A snapshot straight after a tap may show a screen in motion."""
        given = envelope(step("snap", "snapshot_ui"))

        result = postprocess(given, collected(Action("t", tap), SNAP, snapshots=("x",)))

        assert "may not have settled" in result.step("snap").data["warn"]

    @pytest.mark.parametrize(
        "actions",
        [
            (SNAP,),
            (CLICK, Action("z", "sleep"), SNAP),
            (SNAP, CLICK),
            (Action("s", "scroll"), SNAP),
        ],
    )
    def test_only_the_action_just_before_causes_a_warning(
        self, actions: tuple[Action, ...]
    ) -> None:
        """Only the action immediately before counts."""
        given = envelope(step("snap", "snapshot_ui"))

        result = postprocess(given, collected(*actions, snapshots=("x",)))

        assert "warn" not in result.step("snap").data

    def test_empty_text_is_text(self) -> None:
        """A step that brought a text of its own has one, be it empty."""
        empty = step("snap", "snapshot_ui", text="")

        result = postprocess(envelope(empty), collected(SNAP))

        assert result.ok
        assert result.steps[0].to_wire() == empty

    def test_a_lost_hierarchy(self) -> None:
        """The failed step keeps its other data and says what to check."""
        result = postprocess(
            envelope(step("snap", "snapshot_ui", actual_format="hierarchy_xml")), collected(SNAP)
        )

        assert result.step("snap").data == {
            "actual_format": "hierarchy_xml",
            "error": "SNAPSHOT_EXTRACTION_FAILED",
            "message": "UI hierarchy extraction produced no output for this step. "
            "Check clawperator version compatibility and logcat extraction health.",
        }

    @pytest.mark.parametrize("tap", ["click", "scroll_and_click"])
    def test_a_lost_hierarchy_after_a_tap_has_no_warning(self, tap: str) -> None:
        """What was never captured cannot have been captured too early."""
        given = envelope(step("t", tap), step("snap", "snapshot_ui"))

        result = postprocess(given, collected(Action("t", tap), SNAP))

        assert result.step("snap").code == "SNAPSHOT_EXTRACTION_FAILED"
        assert "warn" not in result.step("snap").data

    def test_a_failed_snapshot_after_a_tap_has_no_warning(self) -> None:
        """A failed step stays as it came."""
        failed = step("snap", "snapshot_ui", False, error="E")

        result = postprocess(envelope(failed), collected(CLICK, SNAP, snapshots=("x",)))

        assert result.steps[0].to_wire() == failed

    def test_only_snapshots_are_warned(self) -> None:
        """Other steps after a tap have nothing to settle for."""
        read = Action("read", "read_text")

        result = postprocess(envelope(step("read", "read_text")), collected(CLICK, read))

        assert result.step("read").data == {}

    @pytest.mark.parametrize(
        ("actions", "warned"),
        [((CLICK, SNAP, Action("z", "sleep"), SNAP), False), ((SNAP, CLICK, SNAP), True)],
    )
    def test_last_action_of_an_id_decides(self, actions: tuple[Action, ...], warned: bool) -> None:
        """Two snapshots that share an id are both judged by where the last one stands."""
        given = envelope(step("snap", "snapshot_ui"), step("snap", "snapshot_ui"))

        result = postprocess(given, collected(*actions, snapshots=("x", "y")))

        assert ["warn" in each.data for each in result.steps] == [warned, warned]


class TestScreenshots:
    """A run has one picture, for its first screenshot step."""

    def test_done_by_the_host(self) -> None:
        """The step gets the path and loses the Operator's refusal."""
        result = postprocess(envelope(UNSUPPORTED_SHOT), collected(SHOT, screenshot="/x.png"))

        assert result.ok
        assert result.step("shot").data == {"path": "/x.png"}

    def test_only_the_first(self) -> None:
        """A second step of a run cannot have a picture of its own."""
        second = {**UNSUPPORTED_SHOT, "id": "shot2"}

        result = postprocess(envelope(UNSUPPORTED_SHOT, second), collected(screenshot="/x.png"))

        assert result.step("shot").success
        assert result.code == "UNSUPPORTED_RUNTIME_SCREENSHOT"

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

    def test_where_it_goes(self) -> None:
        """The first screenshot action decides; without a path the default does."""
        wanted = Action("s", "take_screenshot", ActionParams(path="/mine.png"))

        assert screenshot_path([CLICK, wanted], "/default") == "/mine.png"
        assert screenshot_path([SHOT, wanted], "/default") == "/default"
        assert screenshot_path([], "/default") == "/default"


class TestStatus:
    """The steps decide the status; without steps the Operator's word stands."""

    def test_a_failed_step_fails_the_envelope(self) -> None:
        """A failed step fails the whole, keeps the code and drops a stale hint."""
        given = envelope(step("a", "x"), step("b", "y", False), errorCode="Z", hint="h")

        result = postprocess(given, collected())

        assert result.status == "failed"
        assert result.error == "Step b (y) failed"
        assert result.error_code == "Z"
        assert result.hint is None

    def test_a_step_that_the_host_fails(self) -> None:
        """The steps are judged once, at the end: until then a code that came is kept."""
        given = envelope(step("snap", "snapshot_ui"), errorCode="Z")

        result = postprocess(given, collected(SNAP))

        assert result.status == "failed"
        assert result.error_code == "Z"

    def test_success_of_all_steps_clears_the_error(self) -> None:
        """All steps well clears every trace of an error."""
        given = envelope(step("a", "x"), status="failed", error="e", errorCode="Z", hint="h")

        assert postprocess(given, collected()).to_wire() == envelope(step("a", "x")).to_wire()

    def test_a_failure_without_steps_is_left_alone(self) -> None:
        """A failure without steps is left alone."""
        given = envelope(status="failed", error="Task execution failed: UI tree not available")

        assert postprocess(given, collected()) == given

    def test_a_service_that_is_off_gets_a_hint(self) -> None:
        """A service that is off comes with the command that mends it, for this device."""
        given = envelope(status="failed", error="x", errorCode="SERVICE_UNAVAILABLE")

        assert "--device S1" in (postprocess(given, collected()).hint or "")

    @pytest.mark.parametrize(
        ("status", "code"),
        [
            ("success", "SERVICE_UNAVAILABLE"),
            ("failed", "service_unavailable"),
            ("failed", "OTHER"),
            ("failed", None),
        ],
    )
    def test_no_service_hint(self, status: str, code: str | None) -> None:
        """Only a failure with exactly that code has the hint."""
        given = envelope(status=status, error="x", errorCode=code)

        assert postprocess(given, collected()).to_wire() == given.to_wire()

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


def test_everything_at_once() -> None:
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
        closed=frozenset({"close"}),
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


def test_what_must_be_collected() -> None:
    """The envelope says beforehand whether log and screen are needed."""
    assert needs_snapshots(envelope(step("a", "snapshot_ui", False)))
    assert not needs_snapshots(envelope(step("a", "click")))
    assert needs_screenshot(envelope(step("a", "take_screenshot")))
    assert not needs_screenshot(envelope())


def test_lost_snapshot_is_warned_of() -> None:
    """The warning names the step."""
    result = postprocess(envelope(step("s1", "snapshot_ui")), collected(SNAP))

    assert 'step "s1"' in warnings_of(result, collected(SNAP))[0]


def test_subclasses_stay_what_they_are() -> None:
    """An envelope with more to it comes out with all of it."""

    class Timed(ResultEnvelope):
        elapsed: float

    wire = {**envelope(step("a", "x", False)).to_wire(), "elapsed": 1.5}
    result = postprocess(Timed.model_validate(wire), collected())

    assert isinstance(result, Timed)
    assert result.elapsed == 1.5
    assert result.status == "failed"


def test_the_chain_takes_further_processors() -> None:
    """The chain can be lengthened with a plain function."""

    def rename(result: ResultEnvelope, brought: Collected) -> ResultEnvelope:
        return result.model_copy(update={"task_id": brought.serial})

    result = postprocess(envelope(), collected(), (*PROCESSORS, rename))

    assert result.task_id == "S1"


def test_processors_change_nothing_in_place() -> None:
    """The envelope that came in is the same afterwards."""
    given = envelope(UNSUPPORTED_CLOSE, step("snap", "snapshot_ui"))
    before = given.to_wire()

    postprocess(given, collected(CLOSE, SNAP, closed=frozenset({"close"}), snapshots=("x",)))

    assert given.to_wire() == before


class TestProofs:
    """What proves an action is left out of the envelope."""

    ACTIONS = (Action("w", "wait_for_node"), Action("l", "snapshot_ui"), CLICK, SHOT)

    def processed(self, *steps: dict[str, Any]) -> ResultEnvelope:
        """Return the envelope of a click with its proof."""
        about = collected(
            *self.ACTIONS, proofs={"w": "click", "l": "click"}, snapshots=("<hierarchy/>",)
        )
        return postprocess(envelope(*steps), about)

    def test_the_look_is_kept_with_the_action(self) -> None:
        """The envelope is as if the action had been sent alone."""
        result = self.processed(
            step("w", "wait_for_node"), step("l", "snapshot_ui"), step("click", "click")
        )

        assert result.ok
        assert [one.id for one in result.steps] == ["click"]
        assert result.steps[0].look.data["text"] == "<hierarchy/>"

    def test_an_action_whose_proof_failed_has_failed(self) -> None:
        """The action was not carried out, for the same reason."""
        result = self.processed(step("w", "wait_for_node", False, error="NODE_NOT_FOUND"))

        assert [one.to_wire() for one in result.steps] == [
            step("click", "click", False, error="NODE_NOT_FOUND")
        ]
        assert result.error == "Step click (click) failed: NODE_NOT_FOUND"

    def test_a_failed_action_keeps_its_look(self) -> None:
        """What the screen was like tells why."""
        result = self.processed(
            step("w", "wait_for_node"),
            step("l", "snapshot_ui"),
            step("click", "click", False, error="NODE_NOT_CLICKABLE"),
        )

        assert result.code == "NODE_NOT_CLICKABLE"
        assert result.steps[0].look.id == "l"

    def test_what_a_scroll_brought_before_its_tap_failed_is_kept(self) -> None:
        """Its own data, and the reason of the tap."""
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
SLEEP = Action("nap", "sleep", ActionParams(duration_ms=1))


def searched(reason: str, **data: str) -> dict[str, Any]:
    """Make the result of a scroll_until that succeeded, in wire form."""
    data = {"termination_reason": reason, **data}
    return {"id": "find", "actionType": "scroll_until", "success": True, "data": data}


def judged(given: ResultEnvelope, *actions: Action) -> ResultEnvelope:
    """Process an envelope as a run of the client's methods does."""
    return postprocess(given, Collected(actions=actions, serial="S1"), (*PROCESSORS, *JUDGEMENTS))


@pytest.mark.parametrize("reason", ["EDGE_REACHED", "MAX_SCROLLS_REACHED", "CONTAINER_LOST", ""])
def test_a_search_that_ended_without_its_target_is_a_failure(reason: str) -> None:
    """Step, status and error all say that the target was not found; the data is kept."""
    nap = {"id": "nap", "actionType": "sleep", "success": True, "data": {}}

    result = judged(envelope(nap, searched(reason, scrolls_executed="3")), SLEEP, SEARCH)

    assert not result.ok
    assert result.status == "failed"
    assert result.code is ErrorCode.TARGET_NOT_FOUND
    assert result.error == "Step find (scroll_until) failed: TARGET_NOT_FOUND"
    assert result.step("find").data["scrolls_executed"] == "3"
    assert result.step("nap").success


def test_a_search_that_found_its_target_is_left_alone() -> None:
    """A success stays the envelope that came."""
    given = envelope(searched("TARGET_FOUND"))

    assert postprocess(given, Collected(actions=(SEARCH,), serial="S1"), JUDGEMENTS) is given


def test_a_scroll_to_the_end_has_no_target_to_miss() -> None:
    """Without a matcher the end of the list is what was wanted."""
    assert judged(envelope(searched("EDGE_REACHED")), TO_THE_END).ok


def test_a_search_that_the_device_calls_failed_keeps_its_error() -> None:
    """A failed step is not judged again."""
    lost = {**searched("EDGE_REACHED", error="CONTAINER_NOT_FOUND"), "success": False}

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
    """The action with the percent sign tells what the Operator meant to say."""
    garbled = envelope(status="failed", error="Task execution failed: Conversion = 'o'")

    assert judged(garbled, SLEEP, Action("do", "click", params)).code is code


def test_a_failure_in_plain_words_is_not_replaced() -> None:
    """Only a garbled error is; what the Operator said in words stays."""
    plain = envelope(status="failed", error="Task execution failed: No app found for com.a")
    with_percent = Action("do", "open_uri", ActionParams(uri="a://%"))

    assert judged(plain, with_percent).code is ErrorCode.APP_NOT_FOUND
