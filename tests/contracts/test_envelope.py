"""Envelopes are read from log lines, and say what they mean."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator import errors
from pytest_clawperator.contracts.envelope import (
    ResultEnvelope,
    code_of_text,
    is_garbled,
    parse_result_line,
    parse_result_message,
)
from pytest_clawperator.errors import ErrorCode


def step(id: str = "a1", success: bool = True, **data: Any) -> dict[str, Any]:
    """Make a step result in wire form."""
    return {"id": id, "actionType": "click", "success": success, "data": data}


def wire(*steps: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Make an envelope in wire form; ``...`` as a value takes a key away."""
    whole = {
        "commandId": "c",
        "taskId": "t",
        "status": "success",
        "stepResults": list(steps),
        "error": None,
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def message(*steps: dict[str, Any], **changes: Any) -> str:
    """Make the message that the Operator logs."""
    return "[Clawperator-Result] " + json.dumps(wire(*steps, **changes))


def read(*steps: dict[str, Any], **changes: Any) -> ResultEnvelope:
    """Read an envelope back."""
    envelope = parse_result_message(message(*steps, **changes), "c")
    assert envelope is not None
    return envelope


class TestReading:
    """Which lines hold an envelope."""

    def test_lines_hold_the_prefix_and_messages_begin_with_it(self) -> None:
        """Text on a screen may quote the prefix; only the Operator begins a message with it."""
        whole = message(step(text="[Clawperator-Result] {}"))
        expected = wire(step(text="[Clawperator-Result] {}"))

        for parse, text in (
            (parse_result_line, f"03-28 10:00:00.000 I/Tag( 42): {whole}\r"),
            (parse_result_line, f"[TaskScope] text={whole}"),
            (parse_result_line, whole),
            (parse_result_message, whole),
        ):
            envelope = parse(text, "c")
            assert envelope is not None
            assert envelope.to_wire() == expected
            assert parse(text, "other") is None
        assert parse_result_message(f"[TaskScope] text={whole}", "c") is None
        for text in ("", "hello", "[Clawperator-Event] {}"):
            assert parse_result_line(text, "c") is None
            assert parse_result_message(text, "c") is None

    def test_a_second_prefix_spoils_the_envelope(self) -> None:
        """The first prefix counts: a second one before the envelope spoils it."""
        for between in ("", " ", "noise ", "{} "):
            twice = f"[Clawperator-Result] {between}{message(step())}"

            for parse, text in (
                (parse_result_line, twice),
                (parse_result_message, twice),
                (parse_result_line, f"I/Tag: {twice}"),
            ):
                with pytest.raises(errors.EnvelopeMalformedError):
                    parse(text, "c")

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"commandId": 1}, "commandId must be a string, found number 1"),
            ({"taskId": ...}, "taskId is missing"),
            ({"status": "ok"}, 'status must be "success" or "failed", found "ok"'),
            ({"status": ["success"]}, "status must be"),
            ({"stepResults": {}}, "stepResults must be a list"),
            ({"stepResults": "ab"}, "stepResults must be a list"),
            ({"stepResults": [5]}, "stepResults.0"),
            ({"error": ...}, "error is missing"),
            ({"error": 5}, "error must be a string"),
            ({"errorCode": 5}, "errorCode must be a string"),
        ],
    )
    def test_a_malformed_envelope_is_raised_with_its_command(
        self, changes: dict[str, Any], reason: str
    ) -> None:
        """What is wrong with an envelope is said, with the command it claims to answer."""
        with pytest.raises(errors.EnvelopeMalformedError) as refused:
            parse_result_message(message(**changes), "c")

        assert reason in refused.value.message
        assert refused.value.code == "RESULT_ENVELOPE_MALFORMED"
        assert refused.value.details["commandId"] == ("c" if "commandId" not in changes else None)
        assert refused.value.hint

    def test_one_malformed_step_spoils_the_envelope(self) -> None:
        """One bad step spoils the envelope; of many, ten are shown and the rest counted."""
        good = {"id": "a", "actionType": "x", "success": True}
        for broken in (
            {**good, "id": 1},
            {"id": "a", "success": True},
            {**good, "success": "true"},
            {**good, "success": 1},
            None,
        ):
            with pytest.raises(errors.EnvelopeMalformedError, match=r"stepResults\.0"):
                parse_result_message(message(stepResults=[broken]), "c")
        with pytest.raises(errors.EnvelopeMalformedError) as refused:
            parse_result_message(message(stepResults=[5] * 1000), "c")

        assert "stepResults.0 must be an object" in refused.value.message
        assert refused.value.message.endswith("and 990 more")

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null", "5", '"x"', "NaN", '{"a":NaN}', "[" * 10_000, "{'a':1}", "{} {}"],
        ids=lambda text: text[:8],
    )
    def test_a_prefix_without_a_json_object_is_malformed(self, text: str) -> None:
        """The prefix with anything but a JSON object is malformed, for any command."""
        with pytest.raises(errors.EnvelopeMalformedError):
            parse_result_message(f"[Clawperator-Result] {text}", "c")

    def test_the_wire_form_is_as_received_without_unknown_keys(self) -> None:
        """A null code stays null, an absent one absent; hints and proofs are the host's."""
        for changes in ({}, {"errorCode": None}, {"errorCode": "X"}):
            assert read(step(), **changes).to_wire() == wire(step(), **changes)
        newer = {**step(), "durationMs": 5, "proof": {"id": "x"}}
        envelope = read(newer, hint="from the phone", version=7)

        assert envelope.to_wire() == wire(step())
        assert envelope.hint is None
        assert envelope.steps[0].proof is None

    def test_data_are_a_dict_of_text(self) -> None:
        """A step always has a dict of data; values become strings as the reference makes them."""
        bare = {key: value for key, value in step().items() if key != "data"}
        for other in (bare, *({**bare, "data": data} for data in (None, 5, "x", [], [["a", 1]]))):
            assert read(other).steps[0].data == {}

        odd = step(a=1, b=True, c=None, d=[1, None, "x"], e={"f": 1}, g=1e21, h="\udc00")
        assert read(odd).steps[0].data == {
            "a": "1",
            "b": "true",
            "c": "null",
            "d": "1,,x",
            "e": "[object Object]",
            "g": "1e+21",
            "h": "\udc00",
        }

    @given(st.text(st.characters(codec=None, exclude_categories=())))
    def test_no_text_raises_another_error(self, text: str) -> None:
        """No log text makes any exception but the one for malformed envelopes."""
        for line in (text, f"[Clawperator-Result]{text}", f"x [Clawperator-Result] {{{text}}}"):
            for parse in (parse_result_line, parse_result_message):
                try:
                    parse(line, "c")
                except errors.EnvelopeMalformedError as error:
                    str(error).encode()


class TestMeaning:
    """What an envelope says."""

    def test_a_success_has_no_code_and_raises_nothing(self) -> None:
        """All steps succeeded: there is no code, and nothing to raise."""
        envelope = read(step(), step("a2"))

        assert envelope.ok
        assert envelope.code is None
        assert envelope.failed_steps == ()
        assert envelope.raise_for_status() is envelope

    def test_a_failed_step_spoils_success(self) -> None:
        """The Operator reports success although a step failed softly; ``ok`` does not."""
        envelope = read(step(), step("a2", success=False, error="VALIDATOR_MISMATCH"))

        assert not envelope.ok
        assert envelope.code is ErrorCode.VALIDATOR_MISMATCH
        assert [each.id for each in envelope.failed_steps] == ["a2"]
        assert [bool(each) for each in envelope.steps] == [True, False]

    def test_order_of_codes(self) -> None:
        """The envelope's own code comes before the step's, the step's before the text's."""
        failed = step(success=False, error="NODE_NOT_FOUND")
        text = "Task execution failed: No app found with applicationId=x"

        assert read(failed, status="failed", error=text, errorCode="OWN").code == "OWN"
        assert read(failed, status="failed", error=text).code == "NODE_NOT_FOUND"
        from_text = read(status="failed", error=text)
        assert from_text.code == "APP_NOT_FOUND"
        # What was found in the text is not put into the envelope.
        assert from_text.error_code is None
        assert "errorCode" not in from_text.to_wire()
        assert read(step(success=False)).code is ErrorCode.EXECUTION_FAILED

    def test_steps_by_id(self) -> None:
        """A step is found by its id; a missing one names those that are there."""
        envelope = read(step("a1", x="1"), step("a2"), step("a1", x="2"))

        assert envelope.step("a1").data == {"x": "1"}
        with pytest.raises(KeyError, match=r'no step "a3".*"a1", "a2"'):
            envelope.step("a3")

    def test_is_a_value(self) -> None:
        """Envelopes compare, pickle and cannot be changed."""
        envelope = read(step())

        assert envelope == read(step())
        assert pickle.loads(pickle.dumps(envelope)) == envelope
        with pytest.raises(ValueError, match="frozen"):
            envelope.status = "failed"

    def test_the_text_of_a_failure_names_step_and_reason(self) -> None:
        """A step's text names id, type and outcome; a failed envelope is false."""
        assert read(step())
        assert str(read(step()).steps[0]) == 'step "a1" (click) succeeded'
        assert str(read(step(success=False, error="X")).steps[0]) == 'step "a1" (click) failed: X'
        failed = read(step("tap", success=False, error="NODE_NOT_FOUND", message="no such node"))

        assert not failed
        assert 'step "tap" (click) failed: NODE_NOT_FOUND, "no such node"' in repr(failed)


MATCHER = "NodeMatcher(resourceId=null, role=null, textEquals=OK)"
TEXTS = [
    (f"No UI node found matching criteria: {MATCHER}", "NODE_NOT_FOUND", errors.NodeNotFoundError),
    (
        f"Timeout waiting for node matching: {MATCHER} (timeoutMs=5)",
        "NODE_NOT_FOUND",
        errors.NodeNotFoundError,
    ),
    (
        f"Target node not found after scrolling: {MATCHER}",
        "NODE_NOT_FOUND",
        errors.NodeNotFoundError,
    ),
    ("Click on matching UI node failed", "NODE_NOT_CLICKABLE", errors.StepFailedError),
    ("Click at coordinate (1,2) failed", "GESTURE_FAILED", errors.StepFailedError),
    ("Failed to set text on matching UI node", "NODE_NOT_CLICKABLE", errors.StepFailedError),
    ("No scrollable container visible", "CONTAINER_NOT_FOUND", errors.ContainerNotFoundError),
    (f"Container not found for {MATCHER}", "CONTAINER_NOT_FOUND", errors.ContainerNotFoundError),
    (
        f"Scrollable container not found for {MATCHER}",
        "CONTAINER_NOT_SCROLLABLE",
        errors.StepFailedError,
    ),
    (
        "URI_NOT_HANDLED: No application found to handle uri=x:y",
        "URI_NOT_HANDLED",
        errors.StepFailedError,
    ),
    ("No app found with applicationId=com.x", "APP_NOT_FOUND", errors.StepFailedError),
    ("Matching UI node has no text content", "NODE_HAS_NO_TEXT", errors.StepFailedError),
    ("Agent command timed out after 1000ms", "EXECUTION_TIMED_OUT", errors.StepFailedError),
    ("UI tree not available", "UI_TREE_UNAVAILABLE", errors.SnapshotError),
    (
        "SNAPSHOT_HIERARCHY_UNAVAILABLE: UI hierarchy dump not available",
        "UI_TREE_UNAVAILABLE",
        errors.SnapshotError,
    ),
    ("Accessibility service is not available", "SERVICE_UNAVAILABLE", errors.OperatorNotReadyError),
    (
        "OperatorAccessibilityService is not running - cannot execute press_key",
        "SERVICE_UNAVAILABLE",
        errors.OperatorNotReadyError,
    ),
    ("Conversion = e, Flags =  ", "EXECUTION_FAILED", errors.StepFailedError),
    ("", "EXECUTION_FAILED", errors.StepFailedError),
]


def envelope(**changes: Any) -> ResultEnvelope:
    """Make a failed envelope."""
    return ResultEnvelope.model_validate(wire(status="failed", **changes))


@pytest.mark.parametrize(("text", "code", "cls"), TEXTS)
def test_each_text_of_the_operator_has_a_code_and_an_error(
    text: str, code: str, cls: type[errors.ClawperatorError]
) -> None:
    """Each text of the Operator has a code and an error of its own."""
    for prefix in ("", "Task execution failed: "):
        failed = envelope(error=prefix + text)

        with pytest.raises(cls) as raised:
            failed.raise_for_status()

        assert failed.code == code
        assert type(raised.value) is cls
        assert raised.value.code == code
        assert raised.value.hint
        assert raised.value.details["error"] == prefix + text


def test_quoted_text_does_not_mislead() -> None:
    """What a matcher quotes is not what happened."""
    for quoted in (
        "service is not running",
        "x has no text content",
        "Click on matching UI node failed",
        "URI_NOT_HANDLED: x",
        "UI tree not available",
    ):
        text = f"No UI node found matching criteria: NodeMatcher(textEquals={quoted})"

        assert code_of_text(text) == "NODE_NOT_FOUND"
        assert code_of_text(f'Something else: "{quoted}", see there') == "EXECUTION_FAILED"


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        ("NODE_NOT_FOUND", errors.NodeNotFoundError),
        ("TARGET_NOT_FOUND", errors.NodeNotFoundError),
        ("CONTAINER_NOT_FOUND", errors.ContainerNotFoundError),
        ("NAVIGATION_TIMEOUT", errors.NavigationTimeoutError),
        ("VALIDATOR_MISMATCH", errors.ValidatorMismatchError),
        ("SNAPSHOT_EXTRACTION_FAILED", errors.SnapshotError),
        ("OPERATOR_NOT_INSTALLED", errors.OperatorNotReadyError),
        ("DEVICE_ACCESSIBILITY_NOT_RUNNING", errors.OperatorNotReadyError),
        ("GLOBAL_ACTION_FAILED", errors.StepFailedError),
        ("SOMETHING_NEW", errors.StepFailedError),
    ],
)
def test_a_failed_step_raises_the_class_of_its_code(
    code: str, cls: type[errors.ClawperatorError]
) -> None:
    """A failed step raises the class of its code, with the step in the message and at hand."""
    broken = step("k", success=False, error=code, message="nothing there")
    failed = envelope(stepResults=[broken])

    with pytest.raises(cls) as raised:
        failed.raise_for_status()

    error: Any = raised.value
    assert type(error) is cls
    assert error.message == f'step "k" (click) failed: {code} - nothing there'
    assert error.details["step"] == broken
    if isinstance(error, errors.StepFailedError):
        assert error.envelope is failed
        assert error.step is failed.steps[0]


def test_the_hosts_hint_is_used_only_without_a_better_one() -> None:
    """A service that is off is not the test's failure, and has a hint; an unknown code has not."""
    off = envelope(error="Accessibility service is not available", hint="Use another tool.")
    unknown = envelope(error="What is this", error_code="NEW_CODE", hint="Update it.")

    with pytest.raises(errors.OperatorNotReadyError) as raised:
        off.raise_for_status()
    assert not isinstance(raised.value, AssertionError)
    assert "connect(grant=True)" in str(raised.value.hint)
    with pytest.raises(errors.StepFailedError) as failed:
        unknown.raise_for_status()
    assert failed.value.hint == "Update it."


def test_complaints_of_a_confused_formatter_are_recognised() -> None:
    """What a confused formatter writes is not what the Operator reports."""
    for text in (
        "Conversion = 'F'",
        "Task execution failed: Format specifier '%2$s'",
        "Message contains 4 placeholders, but 1 arguments were provided.",
        "d != java.lang.IllegalStateException",
    ):
        assert is_garbled(text), text
    assert not is_garbled("No UI node found for Conversion = 'F'")
