"""What a run returns, and the error of a failed run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.payload import Execution, complete_execution
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.result import (
    LogSlice,
    RunResult,
    TypedTexts,
    hide_passwords,
)
from pytest_clawperator.redaction import SECRETS
from tests.snapshot.screens import hierarchy, node


def result(*steps: dict[str, Any], **about: Any) -> RunResult:
    """Make the result of a run with these steps."""
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
    """Make a step result."""
    return {"id": "a", "actionType": kind, "success": success, "data": data}


def test_a_failure_raises_the_error_of_its_code() -> None:
    """The error begins with the serial and holds the result; a success is returned."""
    ran = result(step("click", success=False, error="NODE_NOT_FOUND"))
    fine = result(step("sleep"))

    with pytest.raises(errors.NodeNotFoundError, match=r"^\[PH1\] NODE_NOT_FOUND: ") as caught:
        ran.raise_for_status()

    assert caught.value.envelope is ran
    assert fine.raise_for_status() is fine


def test_a_screenshot_that_failed_names_the_cause() -> None:
    """The device is to blame for a failed picture, the test for asking for a second one."""
    shot = step("take_screenshot", success=False, error="UNSUPPORTED_RUNTIME_SCREENSHOT")

    with pytest.raises(errors.ShellError, match="no space left") as caught:
        result(shot, screenshot_error="no space left").raise_for_status()
    with pytest.raises(errors.StepFailedError, match="in a separate execution"):
        result(shot).raise_for_status()

    assert caught.value.code is ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT
    assert not isinstance(caught.value, AssertionError)
    assert "screencap" in str(caught.value.hint)


def test_a_snapshot_that_cannot_be_read_names_the_device() -> None:
    """One that is missing, and one that breaks off, have codes of their own."""
    cut = step("snapshot_ui", text="<hierarchy><node text='a' ")
    for broken, code in (
        (step("snapshot_ui"), ErrorCode.SNAPSHOT_EXTRACTION_FAILED),
        (cut, ErrorCode.SNAPSHOT_UNREADABLE),
    ):
        with pytest.raises(errors.SnapshotError) as caught:
            _ = result(broken).step("a").snapshot

        assert caught.value.code is code
        assert caught.value.serial == "PH1"
    with pytest.raises(errors.ConfigurationError, match="holds no snapshot"):
        _ = result(step("sleep")).step("a").snapshot  # the test is to blame, and not the device


def test_a_log_that_is_elsewhere_is_not_an_empty_one() -> None:
    """Reading it raises the reason; printing it shows the reason."""
    log = LogSlice(lacking="the other host keeps it")

    with pytest.raises(errors.ExecutionsOnlyError, match="the other host keeps it"):
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


def typing(text: str, *, is_proved: bool = False, **matcher: str) -> Execution:
    """Make an execution that types a text."""
    params: dict[str, Any] = {"matcher": matcher, "text": text}
    before = [{"id": "proof", "type": "snapshot_ui"}] if is_proved else []
    return complete_execution([*before, {"id": "type", "type": "enter_text", "params": params}])


def typing_result(*steps: dict[str, Any], log: Sequence[str] = ()) -> RunResult:
    """Make the result of an execution with these lines in its log."""
    return result(*steps, log=LogSlice([line.encode() for line in log]))


def screen(xml: str) -> RunResult:
    """Make the result of a snapshot."""
    return result(step("snapshot_ui", text=xml))


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


@pytest.mark.parametrize(
    ("matcher", "screens"),
    [
        ({"resourceId": CODE}, [LOGIN]),
        ({"textEquals": "Code"}, [LOGIN]),
        # A field that was seen once is known by its id when other screens were seen since.
        ({"resourceId": CODE}, [LOGIN, LOGIN.replace(CODE, "com.example:id/other")]),
        ({"resourceId": "com.example:id/new_password"}, []),
        ({"contentDescEquals": "Passcode"}, []),
        ({"textContains": "passphrase"}, []),
    ],
)
def test_text_typed_into_a_known_password_field_is_hidden(
    matcher: dict[str, str], screens: list[str]
) -> None:
    """A snapshot before shows the field as one for passwords, or its matcher names it as one."""
    typed = TypedTexts()

    for xml in screens:
        typed.received(LOOK, screen(xml))
    typed.sent(typing("hunter2", is_proved=False, **matcher))

    assert is_hidden("hunter2")


def test_a_password_field_that_is_seen_afterwards_hides_its_text() -> None:
    """An id names the same field later; another matcher may mean another one by then."""
    typed = TypedTexts()
    for execution in (typing("hunter2", resourceId=CODE), typing("grocers", role="textfield")):
        typed.sent(execution)
        typed.received(execution, typing_result())
    before = is_hidden("hunter2")

    typed.received(LOOK, screen(TYPED_LOGIN))

    assert (before, is_hidden("hunter2"), is_hidden("grocers")) == (False, True, False)


PLAIN = hierarchy(node(text="Purpose", id="com.example:id/purpose", cls="android.widget.EditText"))
PIN = hierarchy(node(text="PIN", id=CODE, cls="android.widget.EditText", password=True))


def proved(xml: str) -> RunResult:
    """Make the result of typing, with the snapshot that proves it."""
    taken = result(step("snapshot_ui", text=xml)).steps[0]
    done = result(step("enter_text")).steps[0].model_copy(update={"id": "type", "proof": taken})
    return result().model_copy(update={"steps": (done,)})


@pytest.mark.parametrize(
    ("before", "proof", "log", "hidden"),
    [
        pytest.param([], PIN, [], True, id="proved"),
        pytest.param([PIN], PLAIN, [], False, id="proved to be another field"),
        pytest.param([PLAIN], PIN, [], True, id="proved to be a password field"),
        pytest.param([PIN], "", [], True, id="looked up"),
        pytest.param([PIN, PLAIN], "", [], False, id="looked up elsewhere"),
        pytest.param([PIN, PLAIN], "", ["••••"], False, id="the log counts for less"),
        pytest.param([], "", ["••••"], True, id="logged"),
        pytest.param([], "", ["•••••••"], True, id="logged with another length"),
        pytest.param([], "", ["rent"], False, id="logged as text"),
        pytest.param([], "", ["••••", "rent"], False, id="logged as text beside a password"),
        pytest.param([], "", [], False, id="unknown"),
    ],
)
def test_the_field_decides_whether_a_text_is_a_secret(
    before: list[str], proof: str, log: list[str], hidden: bool
) -> None:
    """A text is no secret because a password is as long as it is, or was typed before."""
    typed, execution = TypedTexts(), typing("rent", is_proved=bool(proof), role="textfield")
    SECRETS.add("1234", on_screen=False)
    for xml in before:
        typed.received(LOOK, screen(xml))

    typed.sent(execution)
    lines = [event(CHANGED, text, is_password="•" in text) for text in log]
    typed.received(execution, proved(proof) if proof else typing_result(log=lines))

    assert is_hidden("rent") is hidden


def test_two_texts_of_one_length_are_told_apart() -> None:
    """In one execution the log shows which of them went into another field."""
    actions = [
        {"id": text, "type": "enter_text", "params": {"matcher": {"textEquals": "?"}, "text": text}}
        for text in ("1234", "rent")
    ]
    execution = complete_execution(actions)
    log = [event(CHANGED, "••••"), event(CHANGED, "rent", is_password=False)]

    hide_passwords(execution, None, [line.encode() for line in log])

    assert SECRETS.secrets.texts == {"1234"}


@pytest.mark.parametrize(
    ("logged", "hidden"),
    [
        (event(CHANGED, "•" * 9), True),
        (event(CHANGED, "•" * 9, is_password=False), False),
        (event(CHANGED, "hunter2😀", is_password=False), False),
        (event(CHANGED, ""), False),
        (event("TYPE_VIEW_FOCUSED", "•" * 9), False),
    ],
)
def test_a_change_of_a_password_field_in_the_log_hides_the_text(logged: str, hidden: bool) -> None:
    """Another field, a field that was emptied or another event is not a reason to hide a text."""
    typed, execution = TypedTexts(), typing("hunter2😀", resourceId=CODE)

    typed.sent(execution)
    typed.received(execution, typing_result(log=[logged]))

    assert is_hidden("hunter2😀") is hidden
    assert SECRETS.is_empty is not hidden


def test_other_texts_are_not_secrets() -> None:
    """Texts in other fields are shown; one character is not hidden; a damaged screen is skipped."""
    typed = TypedTexts()

    typed.received(LOOK, screen(LOGIN))
    typed.sent(typing("Ada Lovelace", resourceId="com.example:id/name"))
    typed.received(LOOK, screen(TYPED_LOGIN))
    typed.sent(typing("x", resourceId="com.example:id/password"))
    typed.received(LOOK, screen('<hierarchy><node password="true"'))
    typed.sent(typing("hunter2", textEquals="Code"))

    assert SECRETS.is_empty
