"""The client: whole payloads, wrong arguments, and releasing its device."""

from __future__ import annotations

import code
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.client import client as client_module
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.contracts.actions import Click, CloseApp, OpenApp, SnapshotUi
from pytest_clawperator.contracts.events import (
    Event,
    SkillFinished,
    SkillRun,
    SkillStarted,
    StepFinished,
    StepStarted,
)
from pytest_clawperator.errors import (
    ClawperatorError,
    ClawperatorWarning,
    ErrorCode,
    PayloadError,
    SkillFailedError,
)
from tests.doubles.runner import SERIAL, SHOP, Act, Phone, client


def test_the_client_releases_its_device_after_the_block() -> None:
    """A client knows its device and lets go of it at the end of the block."""
    phone = Phone()

    with client(phone, timeout=7) as claw:
        assert claw.serial == SERIAL
        assert claw.device.serial == SERIAL
        assert claw.timeout == 7
        assert repr(claw) == "<Clawperator phone-1>"
        assert not phone.is_closed

    assert phone.is_closed


@pytest.mark.parametrize(
    "payload",
    [
        [{"type": "snapshot"}],
        [SnapshotUi()],
        {"actions": [{"type": "snapshot_ui"}]},
        '{"actions": [{"type": "snapshot"}]}',
    ],
)
def test_execute_takes_every_form_of_a_payload(payload: Any) -> None:
    """A payload may be a list of actions, an object, or text."""
    phone = Phone(SHOP)

    envelope = client(phone).execute(payload)

    assert envelope.ok
    assert envelope.step("snapshot_ui-1").snapshot.find(text="Tea")
    assert phone.executions[0].source == "pytest-clawperator"


def test_a_failed_envelope_is_data() -> None:
    """It is returned, not raised, without another execution."""
    phone = Phone(data={"click": {"error": "NODE_NOT_FOUND"}})

    envelope = client(phone).execute([Click({"text": "Tea"})])

    assert (envelope.ok, envelope.code) == (False, ErrorCode.NODE_NOT_FOUND)
    assert phone.executed == ["click"]


def test_execute_overrides_the_timeout_of_the_payload() -> None:
    """It is the execution's, in seconds; nothing is sent with one that is out of range."""
    phone = Phone()

    client(phone).execute({"timeoutMs": 5000, "actions": [SnapshotUi()]}, timeout=20)
    with pytest.raises(PayloadError, match="timeoutMs must be between 1000 and 120000"):
        client(phone).execute([SnapshotUi()], timeout=0.5)

    assert [execution.timeout_ms for execution in phone.executions] == [20_000]


def test_a_late_close_is_warned_of() -> None:
    """A close_app runs before everything, wherever it stands; the caller's line is named."""
    phone = Phone()

    client(phone).execute([CloseApp("com.a"), CloseApp("com.b"), OpenApp("com.a")])  # no warning
    with pytest.warns(ClawperatorWarning, match="before all others") as caught:
        client(phone).execute([OpenApp("com.a"), CloseApp("com.a", id="shut")])

    assert "'shut'" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert len(phone.executions) == 2


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda claw: setattr(claw, "timeout", -5), "timeout= must be"),
        (lambda claw: claw.sleep(-1), "sleep\\(\\) must be"),
        (lambda claw: claw.sleep(2500), "sleep\\(\\) is at most 600 seconds, found 2500"),
        (lambda claw: claw.node(id="a") == "b", "which has no value to compare with 'b'"),
        (lambda claw: claw.node(id="a") != "b", "which has no value to compare with 'b'"),
        (lambda claw: claw.screenshot(5), "cannot write to 5"),
        (lambda claw: claw.close_app("no package"), "not the name of"),
        (lambda claw: claw.open_app("com.%s.%s"), "not the name of"),
        (lambda claw: claw.enter_text(None, id="x"), "a field can hold"),
        (lambda claw: claw.enter_text("a\0b", id="x"), "a field can hold"),
        (lambda claw: claw.click(text="x", within=5), "click\\(within=...\\) cannot aim"),
        *[(lambda claw, title=title: claw.step(title), "needs a title")
          for title in ("", "  ", None, 5)],
        *[(lambda claw, args=args: claw.run_skill("a.b", args), "must be a list")
          for args in ("text", b"bytes", 5, {"a": 1}, None)],
        (lambda claw: claw.run_skill("a.b"), "without skills"),
        (lambda claw: claw.run_artifact("a.b", "c"), "without skills"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_before_sending(act: Act, message: str) -> None:
    """The message says what is wrong."""
    phone = Phone(SHOP)

    with pytest.raises(ClawperatorError, match=message):
        act(client(phone))

    assert phone.executions == []


def test_steps_are_reported_with_their_beginning_and_end() -> None:
    """Nested steps begin and end in their order, and a failed one has its error."""
    heard: list[Event] = []
    phone = Phone()
    phone.observers.add(heard.append)
    claw, error = client(phone), ValueError("no")

    def fail() -> None:
        with claw.step("outer"):
            with claw.step("inner"):
                pass
            raise error

    with pytest.raises(ValueError, match="no"):
        fail()

    assert [(type(event), getattr(event, "title", None)) for event in heard] == [
        (StepStarted, "outer"),
        (StepStarted, "inner"),
        (StepFinished, None),
        (StepFinished, None),
    ]
    outer, inner, inner_end, outer_end = heard
    assert isinstance(outer_end, StepFinished)
    assert outer_end.error is error
    assert [getattr(e, "id", "") for e in (outer_end, inner_end)] == [
        getattr(e, "id", "") for e in (outer, inner)
    ]


@pytest.mark.parametrize(
    ("answer", "arguments"),
    [
        (SkillRun(skill_id="a.b", output="out", complaints="err"), ("a b", 5, 1.0, True)),
        (SkillFailedError("no", details={"stdout": "out", "stderr": "err"}), ()),
        (SkillFailedError("no", details={"output": "out", "stderr": "err"}), ()),
    ],
)
def test_a_skill_is_reported_with_what_it_printed(answer: Any, arguments: Any) -> None:
    """Also a failed one; its arguments are written as the service writes them."""
    heard: list[Event] = []
    given: list[Any] = []

    def run(serial: str, skill_id: str, words: Any, **_: object) -> SkillRun:
        given.append((serial, skill_id, words))
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, SkillRun)
        return answer

    phone = Phone()
    phone.observers.add(heard.append)
    claw = client(phone, skills=lambda: SimpleNamespace(run=run))
    try:
        done: object = claw.run_skill("a.b", arguments)
    except SkillFailedError as error:
        done = error

    assert done is answer
    assert given == [(SERIAL, "a.b", ["a b", "5", "1", "true"][: len(arguments)])]
    _, begun, ended, _ = heard
    assert isinstance(begun, SkillStarted)
    assert isinstance(ended, SkillFinished)
    assert (ended.serial, ended.output, ended.complaints) == (SERIAL, "out", "err")


def idle_client() -> Clawperator:
    """Return a client that runs nothing; pytest would manage it if it came from a fixture."""
    runner: Any = SimpleNamespace(serial="PH1")
    return Clawperator(runner, device=NoDevice("PH1", "it is not there"))


def test_the_prompt_knows_the_names_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the client; leaving it ends only the prompt."""
    asked: list[dict[str, Any]] = []

    def interact(banner: str, *, local: dict[str, Any], exitmsg: str) -> None:
        asked.append({"banner": banner, **local})
        raise SystemExit

    monkeypatch.setattr(client_module, "is_interactive", lambda: True)
    monkeypatch.setattr(code, "interact", interact)
    client, mine = idle_client(), "here"

    client.pause()

    (names,) = asked
    assert (names["mine"], names["claw"]) == (mine, client)
    assert "test_client.py" in names["banner"]
    assert "PH1" in names["banner"]


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_leaving_the_prompt_keeps_the_input_open(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Python's own way out closes the terminal's stream, and the next pause would have none."""
    left: list[str] = []

    def interact(_: str, *, local: dict[str, Any], exitmsg: str) -> None:
        left.append(repr(local[word]))
        local[word]()

    with open(__file__) as stream:  # noqa: PTH123 - any stream will do
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(code, "interact", interact)

        client_module.ask(idle_client(), why="paused")

        assert not stream.closed
    assert left == [f"{word}() or Ctrl-D continues"]


def test_without_a_terminal_nothing_is_paused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script continues and prints a note; a closed stream is not a terminal."""
    monkeypatch.setattr(sys, "__stdin__", None)

    idle_client().pause()

    note = capsys.readouterr().err
    assert note.startswith("not paused at ")
    assert note.endswith("there is no terminal to ask on\n")
    with open(__file__) as stream:  # noqa: PTH123 - any stream will do
        monkeypatch.setattr(sys, "__stdin__", stream)
    assert client_module.is_interactive() is False
