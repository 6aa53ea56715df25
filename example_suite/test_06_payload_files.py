"""Lesson 6: payloads. Lists of actions in files, which other tools can send too.

`pytest --claw-validate` validates all of them without a device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from example_suite.pages.conformance import PACKAGE as CONFORMANCE
from pytest_clawperator import (
    Clawperator,
    Execution,
    ExecutionValidationError,
    complete_execution,
    expect,
)

FILES = sorted((Path(__file__).parent / "payloads").glob("*.json"))
MISTAKES: dict[str, list[dict[str, Any]]] = {
    "maxScrolls": [{"type": "scroll_until", "params": {"maxScroll": 5}}],
    "click": [{"type": "clik", "params": {"matcher": {"text": "OK"}}}],
    "down": [{"type": "scroll", "params": {"direction": "dwon"}}],
}


@pytest.mark.claw_payload("payloads/about_phone.json")
def test_a_payload_file(clawperator: Clawperator, clawperator_payload: Execution) -> None:
    """The marker names the file, the fixture reads it, the client runs it."""
    envelope = clawperator.execute(clawperator_payload)

    expect(envelope).to_have_succeeded()
    expect(envelope.step("snap").snapshot).to_have_node(text_contains="Android")


@pytest.mark.claw_app(CONFORMANCE, launch=False, missing="skip")
@pytest.mark.claw_payload("payloads/count_to_two.json")
def test_a_payload_may_leave_out_fields(
    clawperator: Clawperator, clawperator_payload: Execution
) -> None:
    """Ids, source and timeout are filled in if a payload leaves them out."""
    envelope = clawperator.execute(clawperator_payload)

    assert clawperator_payload.source == "pytest-clawperator"
    expect(envelope).to_have_data("count", text="Counter: 2")


@pytest.mark.claw_payload({"actions": [{"id": "snap", "type": "snapshot_ui"}]})
def test_a_payload_in_the_test(clawperator: Clawperator, clawperator_payload: Execution) -> None:
    """A short payload can stand in the test."""
    envelope = clawperator.execute(clawperator_payload)

    assert envelope.step("snap").snapshot.foreground_package


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_is_valid(file: Path) -> None:
    """A payload is validated before it is sent; that needs no device."""
    execution = complete_execution(file.read_bytes())

    assert execution.plan()["actionCount"] == len(execution.actions)


@pytest.mark.parametrize("meant", MISTAKES)
def test_a_mistake_is_refused_with_a_suggestion(meant: str) -> None:
    """The error names the place, what was found, what is allowed, and the probable meaning."""
    with pytest.raises(ExecutionValidationError, match=f"did you mean `{meant}`?") as refused:
        complete_execution(MISTAKES[meant])

    assert all(problem.path and problem.found for problem in refused.value.problems)
