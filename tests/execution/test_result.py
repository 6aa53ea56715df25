"""What running returns, and the error that stands for a failed run."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.errors import (
    ErrorCode,
    ExecutionsOnlyError,
    NodeNotFoundError,
    ShellError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.execution.result import LogSlice, RunResult


def result(*steps: dict[str, Any], **about: Any) -> RunResult:
    """Make what running returned with these steps."""
    wire = {
        "commandId": "cmd-1",
        "taskId": "t",
        "status": "success" if all(step["success"] for step in steps) else "failed",
        "stepResults": list(steps),
        "error": None,
    }
    envelope = ResultEnvelope.model_validate(wire)
    return RunResult.of(envelope, serial="PH1", elapsed=0.1, **about)


def step(kind: str, *, success: bool = True, **data: str) -> dict[str, Any]:
    """Word a step result."""
    return {"id": "a", "actionType": kind, "success": success, "data": data}


def test_success_is_given_back() -> None:
    """A run without failure is itself again."""
    ran = result(step("sleep"))

    assert ran.raise_for_status() is ran


def test_a_failure_names_the_device() -> None:
    """The error has the class of its code, and begins with the serial."""
    ran = result(step("click", success=False, error="NODE_NOT_FOUND"))

    with pytest.raises(NodeNotFoundError, match=r"^\[PH1\] NODE_NOT_FOUND: ") as caught:
        ran.raise_for_status()

    assert caught.value.envelope is ran


def test_a_screenshot_that_failed_tells_why() -> None:
    """The device is to blame, not the test, and what it said is told."""
    shot = step("take_screenshot", success=False, error="UNSUPPORTED_RUNTIME_SCREENSHOT")
    ran = result(shot, screenshot_error="no space left")

    with pytest.raises(ShellError, match="no space left") as caught:
        ran.raise_for_status()

    assert caught.value.code is ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT
    assert not isinstance(caught.value, AssertionError)
    assert "screencap" in str(caught.value.hint)


def test_a_second_screenshot_is_the_tests_fault() -> None:
    """Where the picture was taken, a step without one asked for too much."""
    shot = step("take_screenshot", success=False, error="UNSUPPORTED_RUNTIME_SCREENSHOT")

    with pytest.raises(StepFailedError, match="an execution of its own"):
        result(shot).raise_for_status()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({}, ErrorCode.SNAPSHOT_EXTRACTION_FAILED),
        ({"text": "<hierarchy><node text='a' "}, ErrorCode.SNAPSHOT_UNREADABLE),
    ],
)
def test_a_snapshot_that_cannot_be_had_names_the_device(
    data: dict[str, str], code: ErrorCode
) -> None:
    """One that is missing, and one that breaks off."""
    ran = result({**step("snapshot_ui"), "data": data})

    with pytest.raises(SnapshotError) as caught:
        _ = ran.step("a").snapshot

    assert caught.value.code is code
    assert caught.value.serial == "PH1"


def test_a_log_that_is_elsewhere_is_not_taken_for_an_empty_one() -> None:
    """Reading it raises the reason; printing it says the reason."""
    log = LogSlice(lacking="the other host keeps it")

    with pytest.raises(ExecutionsOnlyError, match="the other host keeps it"):
        any("crash" in entry.message for entry in log)

    assert repr(log) == "<LogSlice of 0 lines: the other host keeps it>"


def test_a_result_prints_as_one_line() -> None:
    """Printing a result does not print the device's log."""
    ran = result(step("sleep"), log=LogSlice([b"noise"] * 3))

    assert str(ran) == repr(ran) == "<RunResult success, 1 step>"
    assert repr(ran.log) == "<LogSlice of 3 lines>"
    assert "noise" not in f"{ran.steps[0]}"
