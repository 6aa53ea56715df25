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
    """Build a Collected as dispatch returns it."""
    return Collected(actions=actions, serial="S1", **changes)


UNSUPPORTED_CLOSE = step(
    "close", "close_app", False, error="UNSUPPORTED_RUNTIME_CLOSE", application_id="com.a"
)
UNSUPPORTED_SHOT = step(
    "shot", "take_screenshot", False, error="UNSUPPORTED_RUNTIME_SCREENSHOT", message="m"
)


SNAPPED = step("snap", "snapshot_ui")
TAP = Action("t", "scroll_and_click")
LOST = {
    "error": "SNAPSHOT_EXTRACTION_FAILED",
    "message": "UI hierarchy extraction produced no output for this step. "
    "Check clawperator version compatibility and logcat extraction health.",
}
OTHER_SHOT = step("shot", "take_screenshot", False, error="OTHER", message="m")
LATER = Action("close", "close_app", ActionParams(application_id="com.b"))


def failed(given: dict[str, Any], **data: str) -> dict[str, Any]:
    """Return a step as a failure, with more data."""
    return {**given, "success": False, "data": {**given["data"], **data}}


# What the Operator sent, what was collected, and the steps that come of it; None: the same.
FINISHED: dict[str, tuple[list[dict[str, Any]], Collected, list[dict[str, Any]] | None]] = {
    # The host force-stops apps; the app is named by the last action of that id.
    "closed": (
        [failed(UNSUPPORTED_CLOSE, m="m")],
        collected(CLOSE, closed=CLOSED),
        [step("close", "close_app", application_id="com.a")],
    ),
    "closed last": (
        [UNSUPPORTED_CLOSE],
        collected(CLOSE, LATER, closed=CLOSED),
        [step("close", "close_app", application_id="com.b")],
    ),
    "not closed": ([UNSUPPORTED_CLOSE], collected(CLOSE), None),
    "closed, another error": (
        [step("close", "close_app", False, error="OTHER")],
        collected(CLOSE, closed=CLOSED),
        None,
    ),
    "closed, another action": (
        [UNSUPPORTED_CLOSE],
        collected(Action("close", "open_app", CLOSE.params), closed=CLOSED),
        None,
    ),
    "closed, a success": (
        [step("close", "close_app", error="UNSUPPORTED_RUNTIME_CLOSE", more="x")],
        collected(CLOSE, closed=CLOSED),
        None,
    ),
    **{
        f"closed, {kind}": (
            [{**UNSUPPORTED_CLOSE, "actionType": kind}],
            collected(CLOSE, closed=CLOSED),
            None,
        )
        for kind in ("click", "open_app", "CLOSE_APP")
    },
    # Hierarchies from the log belong to the snapshot steps, newest to last.
    "one hierarchy too few": (
        [SNAPPED] * 3,
        collected(snapshots=("x", "y")),
        [failed(SNAPPED, **LOST), *(step("snap", "snapshot_ui", text=text) for text in "xy")],
    ),
    "hierarchies beside a failure": (
        [SNAPPED, failed(SNAPPED, error="E")],
        collected(snapshots=("old", "x")),
        [step("snap", "snapshot_ui", text="x"), failed(SNAPPED, error="E")],
    ),
    "an empty text": ([step("snap", "snapshot_ui", text="")], collected(SNAP), None),
    "a failure after a tap": (
        [failed(SNAPPED, error="E")],
        collected(CLICK, SNAP, snapshots=("x",)),
        None,
    ),
    "another step after a tap": (
        [step("read", "read_text")],
        collected(CLICK, Action("read", "read_text")),
        None,
    ),
    # It keeps its other data, and has no warning after a tap.
    **{
        f"lost after {len(before)} actions": (
            [step("snap", "snapshot_ui", actual_format="xml")],
            collected(*before, SNAP),
            [step("snap", "snapshot_ui", False, actual_format="xml", **LOST)],
        )
        for before in ((), (CLICK,), (CLICK, TAP))
    },
    # A run has one picture, for its first screenshot step.
    "a picture": (
        [UNSUPPORTED_SHOT],
        collected(SHOT, screenshot="/x.png"),
        [step("shot", "take_screenshot", path="/x.png")],
    ),
    "two pictures": (
        [UNSUPPORTED_SHOT, UNSUPPORTED_SHOT],
        collected(SHOT, screenshot="/x.png"),
        [step("shot", "take_screenshot", path="/x.png"), UNSUPPORTED_SHOT],
    ),
    "no picture": ([UNSUPPORTED_SHOT], collected(SHOT, screenshot_error="offline"), None),
    "a picture, another error": (
        [OTHER_SHOT],
        collected(SHOT, screenshot="/x.png"),
        [failed(OTHER_SHOT, path="/x.png")],
    ),
}


@pytest.mark.parametrize(("given", "about", "expected"), FINISHED.values(), ids=FINISHED)
def test_steps_are_finished_by_the_host(
    given: list[dict[str, Any]], about: Collected, expected: list[dict[str, Any]] | None
) -> None:
    """The host completes what the Operator cannot do, and leaves all other steps alone."""
    result = postprocess(envelope(*given), about)

    steps = [each.to_wire() for each in result.steps]
    assert steps == (given if expected is None else expected)
    assert result.ok is all(each["success"] for each in steps)
    assert result.status == ("success" if result.ok else "failed")
    lost = sum(each["data"].get("message") == LOST["message"] for each in steps)
    warnings = warnings_of(result, about)
    assert sum('step "snap"' in words for words in warnings) == lost
    assert sum(words.endswith("offline") for words in warnings) == bool(about.screenshot_error)


@pytest.mark.parametrize(
    ("actions", "warned"),
    [
        ((CLICK, SNAP), True),
        ((TAP, SNAP), True),
        ((SNAP,), False),
        ((CLICK, SLEEP, SNAP), False),
        ((SNAP, CLICK), False),
        ((Action("s", "scroll"), SNAP), False),
        ((CLICK, SNAP, SLEEP, SNAP), False),
        ((SNAP, CLICK, SNAP), True),
    ],
)
def test_a_snapshot_straight_after_a_tap_has_a_warning(
    actions: tuple[Action, ...], warned: bool
) -> None:
    """Only the action just before counts; the last action of an id decides for all."""
    result = postprocess(envelope(SNAPPED, SNAPPED), collected(*actions, snapshots=("x", "y")))

    assert ["may not have settled" in each.data.get("warn", "") for each in result.steps] == [
        warned,
        warned,
    ]


def test_the_first_action_decides_where_the_picture_goes() -> None:
    """Without a path the default is used."""
    wanted = Action("s", "take_screenshot", ActionParams(path="/mine.png"))

    assert screenshot_path([CLICK, wanted], "/default") == "/mine.png"
    assert screenshot_path([SHOT, wanted], "/default") == "/default"
    assert screenshot_path([], "/default") == "/default"


def test_the_steps_decide_the_status() -> None:
    """The code is kept and a stale hint dropped; success of all steps clears every error."""
    given = envelope(step("a", "x"), step("b", "y", False), errorCode="Z", hint="h")
    lost = envelope(SNAPPED, errorCode="Z")
    fine = envelope(step("a", "x"), status="failed", error="e", errorCode="Z", hint="h")

    result, by_host = postprocess(given, collected()), postprocess(lost, collected(SNAP))

    assert (result.error, result.hint) == ("Step b (y) failed", None)
    assert by_host.error == "Step snap (snapshot_ui) failed: SNAPSHOT_EXTRACTION_FAILED"
    assert result.status == by_host.status == "failed"
    assert result.error_code == by_host.error_code == "Z"
    assert postprocess(fine, collected()).to_wire() == envelope(step("a", "x")).to_wire()


def test_a_failure_without_steps_is_left_alone() -> None:
    """Only a failure with exactly the code of a missing service, by its steps, gets a hint."""
    for status, code, error in (
        ("failed", None, "Task execution failed: UI tree not available"),
        ("success", "SERVICE_UNAVAILABLE", "x"),
        ("failed", "service_unavailable", "x"),
        ("failed", "OTHER", "x"),
        ("failed", None, "x"),
    ):
        given = envelope(status=status, error=error, errorCode=code)
        assert postprocess(given, collected()) == given
    off = {"error": "x", "errorCode": "SERVICE_UNAVAILABLE", "hint": "stale"}
    for steps, status, has_hint in (
        ([], "failed", True),
        ([step("a", "x", False)], "success", True),
        ([step("a", "x")], "failed", False),
    ):
        result = postprocess(envelope(*steps, **{**off, "status": status}), collected())
        assert ("--device S1" in str(result.hint)) is has_hint


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
        assert result.steps[0].proof is not None
        assert result.steps[0].proof.id == "l"
        assert result.steps[0].proof.data["text"] == "<hierarchy/>"

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
