"""The client: whole payloads, wrong arguments, and releasing its device."""

from __future__ import annotations

import code
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.client import client as client_module
from pytest_clawperator.client.client import Clawperator, NoSkills
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
    ConfigurationError,
    ErrorCode,
    PayloadError,
    SkillFailedError,
)
from tests.doubles.runner import SERIAL, SHOP, Phone, client


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


class TestExecute:
    """Whole payloads."""

    @pytest.mark.parametrize(
        "payload",
        [
            [{"type": "snapshot"}],
            [SnapshotUi()],
            {"actions": [{"type": "snapshot_ui"}]},
            '{"actions": [{"type": "snapshot"}]}',
        ],
    )
    def test_execute_takes_every_form_of_a_payload(self, payload: Any) -> None:
        """A payload may be a list of actions, an object, or text."""
        phone = Phone(SHOP)

        envelope = client(phone).execute(payload)

        assert envelope.ok
        assert envelope.step("snapshot_ui-1").snapshot.find(text="Tea")
        assert phone.executions[0].source == "pytest-clawperator"

    def test_a_failed_envelope_is_data(self) -> None:
        """What failed is given back, not raised."""
        phone = Phone(data={"click": {"error": "NODE_NOT_FOUND"}})

        envelope = client(phone).execute([Click({"text": "Tea"})])

        assert not envelope.ok
        assert envelope.code is ErrorCode.NODE_NOT_FOUND
        assert phone.types == [["click"]]

    def test_execute_overrides_the_payloads_timeout(self) -> None:
        """The timeout is the execution's, in seconds."""
        phone = Phone()

        client(phone).execute({"timeoutMs": 5000, "actions": [SnapshotUi()]}, timeout=20)

        assert phone.executions[0].timeout_ms == 20_000

    def test_a_timeout_out_of_range(self) -> None:
        """Nothing is sent with a timeout that cannot be."""
        phone = Phone()

        with pytest.raises(PayloadError, match="timeoutMs must be between 1000 and 120000"):
            client(phone).execute([SnapshotUi()], timeout=0.5)

        assert phone.executions == []

    def test_a_late_close_is_warned_of(self) -> None:
        """A close_app runs before everything, wherever it stands; the caller's line is named."""
        phone = Phone()

        with pytest.warns(ClawperatorWarning, match="before all others") as caught:
            client(phone).execute([OpenApp("com.a"), CloseApp("com.a", id="shut")])

        assert "'shut'" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert len(phone.executions) == 1

    def test_an_early_close_is_not(self) -> None:
        """Those that stand before everything run before everything."""
        phone = Phone()

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            client(phone).execute([CloseApp("com.a"), CloseApp("com.b"), OpenApp("com.a")])

        assert phone.types == [["close_app", "close_app", "open_app"]]


class TestWrongArguments:
    """What cannot be meant is refused where it is written, before anything is sent."""

    @pytest.mark.parametrize(
        ("call", "words"),
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
        ],
    )
    def test_wrong_arguments_are_refused_before_sending(self, call: Any, words: str) -> None:
        """The message says what is wrong."""
        phone = Phone(SHOP)

        with pytest.raises(ClawperatorError, match=words):
            call(client(phone))

        assert phone.types == []


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


@pytest.mark.parametrize("title", ["", "  ", None, 5])
def test_a_step_needs_a_title(title: str) -> None:
    """A step without a title is refused, with an example."""
    client = Clawperator.__new__(Clawperator)

    with pytest.raises(ConfigurationError, match="needs a title"):
        client.step(title)


class TestSkills:
    """``run_skill()``: what the script gets, and what observers hear."""

    def _run(self, answer: Any, args: Any = ()) -> tuple[Any, list[Event], list[Any]]:
        """Run a skill that answers so; return its result, the events, and its arguments."""
        heard: list[Event] = []
        given: list[Any] = []

        def run(serial: str, skill_id: str, words: Any, **_: object) -> SkillRun:
            given.append((serial, skill_id, words))
            if isinstance(answer, Exception):
                raise answer
            return SkillRun(**answer)

        phone = Phone()
        phone.observers.add(lambda event: heard.append(event))
        claw = client(phone, skills=lambda: SimpleNamespace(run=run))
        try:
            return claw.run_skill("a.b", args), heard, given
        except SkillFailedError as error:
            return error, heard, given

    def test_what_it_printed_is_reported(self) -> None:
        """Observers hear when it begins, and at its end what it printed."""
        answer: Any = {"skill_id": "a.b", "output": "out", "complaints": "err"}

        done, heard, _ = self._run(answer)

        assert done == SkillRun(**answer)
        _, begun, ended, _ = heard
        assert isinstance(begun, SkillStarted)
        assert isinstance(ended, SkillFinished)
        assert (ended.serial, ended.output, ended.complaints) == (SERIAL, "out", "err")

    @pytest.mark.parametrize("name", ["stdout", "output"])
    def test_what_a_failed_one_printed_is_reported(self, name: str) -> None:
        """Its error has the output."""
        failed = SkillFailedError("no", details={name: "out", "stderr": "err"})

        error, heard, _ = self._run(failed)

        assert error is failed
        ended = heard[-2]
        assert isinstance(ended, SkillFinished)
        assert (ended.output, ended.complaints) == ("out", "err")

    def test_arguments_become_texts(self) -> None:
        """They are written as the service writes them."""
        _, _, given = self._run({"skill_id": "a.b", "output": ""}, ("a b", 5, 1.0, True))

        assert given == [(SERIAL, "a.b", ["a b", "5", "1", "true"])]

    @pytest.mark.parametrize("args", ["text", b"bytes", 5, {"a": 1}, None])
    def test_arguments_are_a_list(self, args: Any) -> None:
        """A text would be a list of its letters."""
        with pytest.raises(ConfigurationError, match="must be a list"):
            self._run({}, args)


def test_a_client_without_skills_says_so() -> None:
    """With who makes clients that have them."""
    for ask in (NoSkills().run, NoSkills().compile):
        with pytest.raises(ConfigurationError, match="without skills"):
            ask()


def idle_client() -> Clawperator:
    """Return a client that runs nothing; as a fixture's value, pytest would look after it."""
    runner: Any = SimpleNamespace(serial="PH1")
    return Clawperator(runner, device=NoDevice("PH1", "it is not there"))


def test_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt knows the caller's names and the client, and leaving it ends only the prompt."""
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


def test_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script without a terminal continues, and prints a note."""
    monkeypatch.setattr(sys, "__stdin__", None)

    idle_client().pause()

    said = capsys.readouterr().err
    assert said.startswith("not paused at ")
    assert said.endswith("there is no terminal to ask on\n")


def test_a_closed_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed stream is not a terminal."""
    with open(__file__) as stream:  # noqa: PTH123 - any stream will do
        pass
    monkeypatch.setattr(sys, "__stdin__", stream)

    assert client_module.is_interactive() is False
