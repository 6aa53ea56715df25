"""The flags of the command line make the matchers that the published program makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.contracts.selector_flags import has_selector_flags, parse_selector_flags
from pytest_clawperator.errors import ExecutionValidationError, PayloadError
from tests.conformance.vectors import rows


@pytest.mark.parametrize("row", rows("selector_flags"))
def test_flags_are_read_as_published(row: dict[str, Any]) -> None:
    """The matcher, or the error word for word; and what validation says of the matcher."""
    error: dict[str, Any] | None
    try:
        matcher, error = parse_selector_flags(row["argv"], row["kind"]), None
    except PayloadError as refused:
        told = {"code": str(refused.code), "message": refused.message, **refused.details}
        matcher, error = None, told

    assert (matcher, error) == (row["matcher"], row["error"])
    if row["selectorFlagPresent"] is not None:
        assert has_selector_flags(row["argv"], row["kind"]) is row["selectorFlagPresent"]
    if row["validated"] is not None:
        assert _validated(matcher, row["kind"]) == _without_message(row["validated"])


def _validated(matcher: Any, kind: str) -> dict[str, Any]:
    """Return what the validation of an execution says of the matcher."""
    key = "matcher" if kind == "element" else "container"
    params = {"matcher": {"textEquals": "x"}, key: matcher}
    try:
        execution = complete_execution([{"id": "a", "type": "read_text", "params": params}])
    except ExecutionValidationError as error:
        return {"ok": False, "error": {"code": str(error.code), "path": error.path}}
    return {"ok": True, "matcher": execution.to_wire()["actions"][0]["params"][key]}


def _without_message(validated: dict[str, Any]) -> dict[str, Any]:
    """Leave the wording of type and length checks out, which is ours."""
    if validated["ok"]:
        return validated
    error = {key: value for key, value in validated["error"].items() if key != "message"}
    return {"ok": False, "error": error}
