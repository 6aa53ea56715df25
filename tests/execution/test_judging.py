"""What the client's methods send is judged more strictly than the published program does."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.judging import JUDGEMENTS
from pytest_clawperator.execution.postprocess import PROCESSORS, Collected, postprocess

SEARCH = Action("find", "scroll_until", ActionParams(matcher=NodeMatcher(text_equals="Bread")))
TO_THE_END = Action("find", "scroll_until", ActionParams())
SLEEP = Action("nap", "sleep", ActionParams(duration_ms=1))


def envelope(*steps: dict[str, Any], **changes: Any) -> ResultEnvelope:
    """Make an envelope as it comes from the device."""
    wire = {"commandId": "c", "taskId": "t", "status": "success", "error": None}
    return ResultEnvelope.model_validate({**wire, "stepResults": list(steps), **changes})


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
