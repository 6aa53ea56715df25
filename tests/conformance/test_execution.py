"""Validation answers as the published program does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_clawperator.contracts.payload import validate_execution
from pytest_clawperator.errors import ExecutionValidationError, PayloadError, PayloadTooLargeError
from tests.conformance.vectors import rows

# How messages of plain type and length checks begin; ours say more.
PLAIN = (
    "Required",
    "Expected",
    "String must contain",
    "Number must be",
    "Array must contain",
    "Invalid literal value",
    "Invalid enum value",
    "Unrecognized key(s)",
)


@pytest.mark.parametrize("row", rows("execution"))
def test_a_payload_is_validated_as_published(row: dict[str, Any]) -> None:
    """Accepted or refused, normalised form, code, every path in order, and the rules' messages."""
    if row["category"] == "regex_dialect":
        # JavaScript's dialect of patterns is not ours to judge; an answer there must be.
        judge(row["input"])
        return

    result = judge(row["input"])

    assert (result if isinstance(result, dict) else None) == row["normalized"]
    assert isinstance(result, dict) == row["ok"]
    if not isinstance(result, dict):
        assert result.code == row["error"]["code"]
        compare_refusal(result, row)


def judge(given: Any) -> dict[str, Any] | PayloadError:
    """Validate a row's input; a string in it is a JSON string, not JSON text."""
    try:
        return validate_execution(json.dumps(given) if isinstance(given, str) else given).to_wire()
    except PayloadError as error:
        return error


def compare_refusal(error: PayloadError, row: dict[str, Any]) -> None:
    """Compare a refusal with the published one."""
    expected = row["error"]
    if isinstance(error, PayloadTooLargeError):
        assert error.message == expected["message"]
        return
    assert isinstance(error, ExecutionValidationError)
    assert [problem.path for problem in error.problems] == [i["path"] for i in row["issues"]]
    for problem, issue in zip(error.problems, row["issues"], strict=True):
        if not issue["message"].startswith(PLAIN):
            assert problem.message == issue["message"]
    details = {key: value for key, value in expected["details"].items() if key != "reason"}
    assert error.details == details
