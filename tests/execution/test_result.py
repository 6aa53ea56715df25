"""What running returns, and the error that stands for a failed run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.payload import Execution, complete_execution
from pytest_clawperator.errors import (
    ErrorCode,
    ExecutionsOnlyError,
    NodeNotFoundError,
    ShellError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.execution.result import LogSlice, RunResult, TypedTexts
from pytest_clawperator.redaction import SECRETS
from tests.snapshot.screens import hierarchy, node


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

    with pytest.raises(StepFailedError, match="in a separate execution"):
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


CODE = "com.example:id/code"
LOGIN = hierarchy(
    node(text="Ada", id="com.example:id/name", cls="android.widget.EditText"),
    node(text="Code", id=CODE, cls="android.widget.EditText", password=True),
)
TYPED_LOGIN = LOGIN.replace('text="Code"', 'text="•••••••"')


def typing(text: str, **matcher: str) -> Execution:
    """Make an execution that types a text."""
    params: dict[str, Any] = {"matcher": matcher, "text": text}
    return complete_execution([{"id": "type", "type": "enter_text", "params": params}])


def typing_result(*steps: dict[str, Any], log: Sequence[str] = ()) -> RunResult:
    """Make the result of an execution."""
    wire = {"commandId": "c", "taskId": "t", "status": "success", "stepResults": steps}
    envelope = ResultEnvelope.model_validate({**wire, "error": None})
    lines = LogSlice([line.encode() for line in log])
    return RunResult.of(envelope, serial="PH1", elapsed=0.1, log=lines)


def screen(xml: str) -> RunResult:
    """Make the result of a snapshot."""
    step = {"id": "s", "actionType": "snapshot_ui", "success": True, "data": {"text": xml}}
    return typing_result(step)


def event(kind: str, text: str, *, is_password: bool = True) -> str:
    """Print the log line of an accessibility event."""
    password = str(is_password).lower()
    about = f"Text: [{text}]; ContentDescription: null; Enabled: true; Password: {password};"
    said = f"onAccessibilityEvent(EventType: {kind}; EventTime: 1; [ ClassName: a; {about} ])"
    return f"11-16 10:00:00.000   812   812 D Service : [Operator-AccessibilityService] {said}"


LOOK = complete_execution([{"id": "s", "type": "snapshot_ui"}])
CHANGED = "TYPE_VIEW_TEXT_CHANGED"


def is_hidden(text: str) -> bool:
    """Whether a text has become a secret."""
    return text in SECRETS.secrets.texts


@pytest.mark.parametrize("matcher", [{"resourceId": CODE}, {"textEquals": "Code"}])
def test_a_field_that_was_seen_before(matcher: dict[str, str]) -> None:
    """A snapshot before the text was typed shows the field as one for passwords."""
    typed = TypedTexts()

    typed.received(LOOK, screen(LOGIN))
    typed.sent(typing("hunter2", **matcher))

    assert is_hidden("hunter2")


def test_a_field_that_is_seen_afterwards() -> None:
    """A snapshot after the text was typed tells as well."""
    typed = TypedTexts()

    typed.sent(typing("hunter2", resourceId=CODE))
    before = is_hidden("hunter2")
    typed.received(LOOK, screen(TYPED_LOGIN))

    assert (before, is_hidden("hunter2")) == (False, True)


def test_a_field_that_no_longer_shows_what_it_was_found_by() -> None:
    """A field found by its hint shows bullets later, as many as characters were typed."""
    typed = TypedTexts()

    typed.sent(typing("hunter2", textEquals="Code"))
    typed.sent(typing("hunter2 and more", textEquals="Elsewhere"))
    typed.received(LOOK, screen(TYPED_LOGIN))

    assert (is_hidden("hunter2"), is_hidden("hunter2 and more")) == (True, False)


def test_the_log_says_that_a_password_field_changed() -> None:
    """No snapshot is needed where the Operator's log has the event."""
    typed, execution = TypedTexts(), typing("hunter2😀", resourceId=CODE)

    typed.sent(execution)
    typed.received(execution, typing_result(log=[event(CHANGED, "•" * 9)]))

    assert is_hidden("hunter2😀")


@pytest.mark.parametrize(
    "told",
    [
        event(CHANGED, "•" * 8),
        event(CHANGED, "•" * 7, is_password=False),
        event(CHANGED, "hunter2", is_password=False),
        event("TYPE_VIEW_FOCUSED", "•" * 7),
    ],
)
def test_the_log_tells_of_another_field(told: str) -> None:
    """Another field, another length or another event is no reason to hide a text."""
    typed, execution = TypedTexts(), typing("hunter2", resourceId=CODE)

    typed.sent(execution)
    typed.received(execution, typing_result(log=[told]))

    assert SECRETS.is_empty


def test_a_field_that_is_remembered_by_its_id() -> None:
    """A field that was seen once is known when other screens were seen since."""
    typed = TypedTexts()
    other = LOGIN.replace(CODE, "com.example:id/other")

    typed.received(LOOK, screen(LOGIN))
    typed.received(LOOK, screen(other))
    typed.sent(typing("hunter2", resourceId=CODE))

    assert is_hidden("hunter2")


def test_other_fields_beside_a_password_are_no_secrets() -> None:
    """What is typed into other fields of the same screen is shown as ever."""
    typed = TypedTexts()

    typed.received(LOOK, screen(LOGIN))
    typed.sent(typing("Ada Lovelace", resourceId="com.example:id/name"))
    typed.received(LOOK, screen(TYPED_LOGIN))

    assert SECRETS.is_empty


@pytest.mark.parametrize(
    "matcher",
    [
        {"resourceId": "com.example:id/new_password"},
        {"contentDescEquals": "Passcode"},
        {"textContains": "passphrase"},
    ],
)
def test_a_field_that_is_named_as_one(matcher: dict[str, str]) -> None:
    """A field whose matcher speaks of a password needs no snapshot."""
    TypedTexts().sent(typing("hunter2", **matcher))

    assert is_hidden("hunter2")


def test_one_character_is_no_secret() -> None:
    """The character that empties a field is hidden nowhere."""
    TypedTexts().sent(typing("x", resourceId="com.example:id/password"))

    assert SECRETS.is_empty


def test_a_screen_that_cannot_be_read_harms_nothing() -> None:
    """A damaged hierarchy tells what it can, and fails no run."""
    typed = TypedTexts()

    typed.received(LOOK, screen('<hierarchy><node password="true"'))
    typed.sent(typing("hunter2", textEquals="Code"))

    assert not is_hidden("hunter2")
