"""Payloads, flags, envelopes and hierarchies are read as the published program reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope, parse_result_line
from pytest_clawperator.contracts.log import snapshots_from_text
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action, complete_execution, validate_execution
from pytest_clawperator.contracts.selector_flags import has_selector_flags, parse_selector_flags
from pytest_clawperator.errors import (
    EnvelopeMalformedError,
    ExecutionValidationError,
    PayloadError,
    PayloadTooLargeError,
)
from pytest_clawperator.execution import postprocess
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


@pytest.mark.parametrize("row", rows("selector_flags"))
def test_flags_are_read_as_published(row: dict[str, Any]) -> None:
    """The matcher, or the error word for word; and the validation of the matcher."""
    error: dict[str, Any] | None
    try:
        matcher, error = parse_selector_flags(row["argv"], row["kind"]), None
    except PayloadError as refused:
        refusal = {"code": str(refused.code), "message": refused.message, **refused.details}
        matcher, error = None, refusal

    assert (matcher, error) == (row["matcher"], row["error"])
    if row["selectorFlagPresent"] is not None:
        assert has_selector_flags(row["argv"], row["kind"]) is row["selectorFlagPresent"]
    if row["validated"] is not None:
        assert _validated(matcher, row["kind"]) == _without_message(row["validated"])


def _validated(matcher: Any, kind: str) -> dict[str, Any]:
    """Return the result of validating an execution with the matcher."""
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


@pytest.mark.parametrize("row", rows("envelope_parse"))
def test_a_log_line_is_parsed_as_published(row: dict[str, Any]) -> None:
    """An envelope, nothing, or malformed; and the envelope's every field."""
    if row["result"] == "malformed":
        with pytest.raises(EnvelopeMalformedError):
            parse_result_line(row["line"], row["commandId"])
        return

    envelope = parse_result_line(row["line"], row["commandId"])

    assert (None if envelope is None else envelope.to_wire()) == row["envelope"]


@pytest.mark.parametrize("row", rows("snapshot_extract"))
def test_hierarchies_are_extracted_as_published(row: dict[str, Any]) -> None:
    """All of them, and which is the last."""
    snapshots = snapshots_from_text(row["logcat"])

    assert snapshots == row["snapshots"]
    assert (snapshots[-1] if snapshots else None) == row["last"]


def action(wire: dict[str, Any]) -> Action:
    """Make an action of a row, which need not keep the contract."""
    params = wire.get("params")
    if params is None:
        return Action(wire["id"], wire["type"])
    known = ActionParams(application_id=params.get("applicationId"), path=params.get("path"))
    return Action(wire["id"], wire["type"], known)


@pytest.mark.parametrize("row", rows("envelope_postprocess"))
def test_an_envelope_is_processed_as_published(row: dict[str, Any]) -> None:
    """What is needed, what comes out, and what is warned of."""
    actions = tuple(action(wire) for wire in row["execution"]["actions"])
    envelope = ResultEnvelope.model_validate(row["envelope"])
    picture = row["screenshot"] or {"ok": False}
    collected = postprocess.Collected(
        actions=actions,
        serial=row["deviceId"],
        closed=frozenset(row["successfulCloseActionIds"]),
        snapshots=tuple(snapshots_from_text(row["logcat"] or "")),
        screenshot=postprocess.screenshot_path(actions, picture["defaultPath"])
        if picture["ok"]
        else None,
    )

    final = postprocess.postprocess(envelope, collected)

    assert final.to_wire() == row["final"]
    assert [f"{warning}\n" for warning in postprocess.warnings_of(final, collected)] == row[
        "warnings"
    ]
    assert postprocess.needs_snapshots(envelope) == row["needsLogcatDump"]
    assert postprocess.needs_screenshot(envelope) == row["needsScreencap"]
