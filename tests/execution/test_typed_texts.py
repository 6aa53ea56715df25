"""Typed texts are secrets where a screen, or a name, says that the field is for passwords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.payload import Execution, complete_execution
from pytest_clawperator.execution.result import LogSlice, RunResult
from pytest_clawperator.execution.typed_texts import TypedTexts
from pytest_clawperator.redaction import SECRETS
from tests.snapshot.screens import hierarchy, node

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


def result(*steps: dict[str, Any], log: Sequence[str] = ()) -> RunResult:
    """Make the result of an execution."""
    wire = {"commandId": "c", "taskId": "t", "status": "success", "stepResults": steps}
    envelope = ResultEnvelope.model_validate({**wire, "error": None})
    lines = LogSlice([line.encode() for line in log])
    return RunResult.of(envelope, serial="PH1", elapsed=0.1, log=lines)


def screen(xml: str) -> RunResult:
    """Make the result of a snapshot."""
    step = {"id": "s", "actionType": "snapshot_ui", "success": True, "data": {"text": xml}}
    return result(step)


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
    typed.received(execution, result(log=[event(CHANGED, "•" * 9)]))

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
    typed.received(execution, result(log=[told]))

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
