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


def test_a_page_shows_hostile_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in it is obeyed, neither by the terminal nor as markup."""
    code = show(Answer({}, [HOSTILE, Table(("a",), [(HOSTILE,)])], exit_code=3), PEOPLE)
    printed = capsys.readouterr().out

    assert code == 3
    assert printed.count(r"a\x1b[31m\x9b2J\u202e[bold]b") == 2


def test_a_page_has_no_colours_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences are for terminals."""
    show(Answer({}, [Line("good", "green")]), PEOPLE)

    assert capsys.readouterr().out == "good\n"


def test_without_a_page_people_get_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """It is indented, so that it can be read."""
    show(Answer({"a": [1]}), PEOPLE)

    assert capsys.readouterr().out == '{\n  "a": [\n    1\n  ]\n}\n'


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        (PEOPLE, "plain\n"),
        (PROGRAMS, "plain\n"),
        (GlobalOptions(is_json_explicit=True), '{"a":1}\n'),
    ],
)
def test_a_text_is_for_everybody_but_who_asks_for_json(
    options: GlobalOptions, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes into files and pipes as it is."""
    show(Answer({"a": 1}, text="plain"), options)

    assert capsys.readouterr().out == printed


def test_an_error_is_one_line_in_the_words_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the device in front and the next step at the end, however many lines it had."""
    error = NoDeviceError(
        f"none:\n  {HOSTILE}", serial="PH1", hint=Remedy(RemedyKind.USE_SIMULATOR)
    )
    code = show_error(error, PEOPLE)
    printed = capsys.readouterr()

    assert (code, printed.out) == (1, "")
    assert printed.err.startswith("NO_DEVICES: [PH1] none: ")
    assert printed.err.endswith("Start a simulated one: `clawperator-py simulate`.\n")
    assert printed.err.count("\n") == 1
    assert "\x1b" not in printed.err


def test_lines_of_a_message_stay_apart_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A line that ends without a stop is parted from the next."""
    show_error(ConfigurationError("tools are missing: emulator\n  it was looked for"), PEOPLE)

    assert "missing: emulator; it was looked for." in capsys.readouterr().err


def test_a_timeout_for_people_has_no_lines_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """It stays one short line; programs get the lines in a field of their own."""
    details = {"lastCorrelatedEvents": ["11-17 step_start"]}
    error = EnvelopeTimeoutError("none came\n  last lines:\n    11-17 step_start", details=details)

    show_error(error, PEOPLE)
    printed = capsys.readouterr().err

    assert "none came. " in printed
    assert "step_start" not in printed


def test_a_mistake_has_the_exit_code_of_the_published_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command that only tells how it is used does not fail."""
    assert show_error(Mistake("how", exit_code=0), PROGRAMS) == 0
    assert json.loads(capsys.readouterr().out) == {"code": "USAGE", "message": "how"}


def test_an_error_has_the_fields_of_the_published_program() -> None:
    """What that program has beside the code stands there, the rest in the details."""
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


def test_a_secret_is_in_no_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither for programs nor for people, nor in an error."""
    SECRETS.add("hunter2")
    show(Answer({"text": "hunter2"}, ["hunter2"], text=None), PROGRAMS)
    show(Answer({}, ["hunter2"]), PEOPLE)
    show(Answer({}, text="hunter2"), PEOPLE)
    show_error(NoDeviceError("hunter2"), PEOPLE)
    printed = capsys.readouterr()

    assert "hunter2" not in printed.out + printed.err


def test_errors_are_told_without_rich(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page needs it, and the error that says so does not."""
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.delitem(sys.modules, "pytest_clawperator.cli.terminal", raising=False)

    with pytest.raises(ConfigurationError) as caught:
        show(Answer({}, ["page"]), PEOPLE)
    show_error(caught.value, PEOPLE)

    assert "pip install 'pytest-clawperator[cli]'" in capsys.readouterr().err
