"""Lesson 3: a failed envelope is data; branch on its code, or let it raise."""

from __future__ import annotations

import pytest

from pytest_clawperator import (
    NodeNotFoundError,
    OperatorNotReadyError,
    ValidatorMismatchError,
    parse_result_message,
)

PREFIX = '[Clawperator-Result] {"commandId":"cmd-1","taskId":"task-1",'


def test_success() -> None:
    """Steps are found by their ids, and their data are strings."""
    envelope = parse_result_message(
        PREFIX + '"status":"success","stepResults":[{"id":"version","actionType":'
        '"read_key_value_pair","success":true,"data":{"label":"Android version","value":"16"}}],'
        '"error":null}',
        "cmd-1",
    )

    assert envelope is not None
    assert envelope.ok
    assert envelope.step("version").data["value"] == "16"


def test_a_step_failed() -> None:
    """A step's own code decides which error is raised."""
    envelope = parse_result_message(
        PREFIX + '"status":"success","stepResults":[{"id":"read1","actionType":"read_text",'
        '"success":false,"data":{"error":"VALIDATOR_MISMATCH","raw_text":"Settings"}}],'
        '"error":null}',
        "cmd-1",
    )

    assert envelope is not None
    with pytest.raises(ValidatorMismatchError) as raised:
        envelope.raise_for_status()
    print(raised.value)


def test_only_words() -> None:
    """The published Operator gives up in words; the documented code is there all the same."""
    envelope = parse_result_message(
        PREFIX + '"status":"failed","stepResults":[],"error":"Task execution failed: '
        'No UI node found matching criteria: NodeMatcher(textEquals=Conections)"}',
        "cmd-1",
    )

    assert envelope is not None
    assert envelope.code == "NODE_NOT_FOUND"
    with pytest.raises(NodeNotFoundError) as raised:
        envelope.raise_for_status()
    print(raised.value)


def test_a_broken_lab_is_no_failed_test() -> None:
    """A service that is off is an error of the lab, not an assertion."""
    envelope = parse_result_message(
        PREFIX + '"status":"failed","stepResults":[],"errorCode":"SERVICE_UNAVAILABLE",'
        '"error":"Accessibility service is not available"}',
        "cmd-1",
    )

    assert envelope is not None
    with pytest.raises(OperatorNotReadyError) as raised:
        envelope.raise_for_status()
    assert not isinstance(raised.value, AssertionError)
    print(raised.value)
