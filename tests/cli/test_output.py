"""Answers and errors, for programs and for people."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import (
    Answer,
    Line,
    Table,
    as_json,
    error_document,
    show,
    show_error,
)
from pytest_clawperator.errors import ConfigurationError, EnvelopeTimeoutError, NoDeviceError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.remedies import Remedy, RemedyKind

PEOPLE, PROGRAMS = GlobalOptions(output="pretty"), GlobalOptions(output="json")
HOSTILE = "a\x1b[31m\x9b2J\u202e[bold]b"


def test_json_means_the_same_and_hides_nothing() -> None:
    """Text of any script stays readable; what a terminal obeys is escaped."""
    text = as_json({"text": HOSTILE, "other": "Настройки"})

    assert json.loads(text) == {"text": HOSTILE, "other": "Настройки"}
    assert "\x9b" not in text
    assert "\u202e" not in text
    assert "Настройки" in text


@pytest.mark.parametrize(
    ("answer", "options", "printed"),
    [
        (Answer({}, [Line("good", "green")]), PEOPLE, "good\n"),
        (Answer({"a": [1]}), PEOPLE, '{\n  "a": [\n    1\n  ]\n}\n'),
        (Answer({"a": 1}, text="plain"), PEOPLE, "plain\n"),
        (Answer({"a": 1}, text="plain"), PROGRAMS, "plain\n"),
        (Answer({"a": 1}, text="plain"), GlobalOptions(is_json_explicit=True), '{"a":1}\n'),
        (Answer({}, [HOSTILE]), PEOPLE, r"a\x1b[31m\x9b2J\u202e[bold]b" + "\n"),
        (Answer({}, [Table((), [])]), PEOPLE, "\n"),
    ],
    ids=["no colours", "indented", "text", "text in a pipe", "explicit JSON", "hostile", "empty"],
)
def test_an_answer_is_printed_for_its_reader(
    answer: Answer, options: GlobalOptions, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a page, as a document or as plain text."""
    assert show(answer, options) == 0

    assert capsys.readouterr().out == printed


def test_a_table_shows_hostile_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in a cell is obeyed, neither by the terminal nor as markup."""
    assert show(Answer({}, [Table(("a",), [(HOSTILE,)])], exit_code=3), PEOPLE) == 3

    assert r"a\x1b[31m\x9b2J\u202e[bold]b" in capsys.readouterr().out


def test_an_error_is_one_line_in_the_words_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the device in front and the next step at the end, and without lines of the log."""
    error = NoDeviceError(
        f"tools are missing\n  {HOSTILE}", serial="PH1", hint=Remedy(RemedyKind.USE_SIMULATOR)
    )
    details = {"lastCorrelatedEvents": ["11-17 step_start"]}
    late = EnvelopeTimeoutError("none came\n  last lines:\n    11-17 step_start", details=details)

    assert (show_error(error, PEOPLE), show_error(late, PEOPLE)) == (1, 1)
    printed = capsys.readouterr()
    first, second = printed.err.splitlines()

    assert printed.out == ""
    assert first.startswith(r"NO_DEVICES: [PH1] tools are missing; a\x1b")
    assert first.endswith("Start a simulated one: `clawperator-py simulate`.")
    assert "\x1b" not in first
    assert "none came. " in second
    assert "step_start" not in second


def test_an_error_has_the_fields_of_the_published_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those stand beside the code, the rest in the details; usage alone is not a failure."""
    details = {
        "broadcastDispatchStatus": "sent",
        "operatorPackage": "a.b",
        "lastCorrelatedEvents": ["x"],
        "lastActionId": "z",
        "odd": {1, 2},
    }
    document = error_document(EnvelopeTimeoutError("late", serial="PH1", details=details))

    assert document["broadcastDispatchStatus"] == "sent"
    assert document["deviceId"] == "PH1"
    assert document["details"]["odd"] == [1, 2]
    assert "payload-last only" in document["details"]["lastActionCaveat"]
    assert show_error(Mistake("how", exit_code=0), PROGRAMS) == 0
    assert json.loads(capsys.readouterr().out) == {"code": "USAGE", "message": "how"}


def test_a_secret_is_in_no_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither for programs nor for people, nor in an error."""
    SECRETS.add("hunter2")
    show(Answer({"text": "hunter2"}, ["hunter2"], text=None), PROGRAMS)
    show(Answer({}, ["hunter2"]), PEOPLE)
    show(Answer({}, text="hunter2"), PEOPLE)
    show_error(NoDeviceError("hunter2"), PEOPLE)
    printed = capsys.readouterr()

    assert "hunter2" not in printed.out + printed.err


def test_errors_are_printed_without_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page needs it, and the error about that does not."""
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.delitem(sys.modules, "pytest_clawperator.cli.terminal", raising=False)

    with pytest.raises(ConfigurationError) as caught:
        show(Answer({}, ["page"]), PEOPLE)
    show_error(caught.value, PEOPLE)

    assert "pip install 'pytest-clawperator[cli]'" in capsys.readouterr().err
