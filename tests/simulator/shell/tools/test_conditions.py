"""``test``, ``[`` and ``[[``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.shell.scripts import real_sh, run

QUESTIONS = [
    *("a = a", "a = b", "a != b", '"" = ""', '-n ""', '-z ""', "-n a", "", "a", '""', "! a = a"),
    *("5 -gt 3", "3 -ge 4", "-1 -lt 0", "2 -le 2", "7 -eq 07", "1 -ne 1", "! -e no", "! ! a"),
    *("-f f", "-d f", "-d .", "-e f", "-s f", "-s empty", "-x f", "-r f", "-w f", "-L link"),
    *("-e link", "-e ''", "! = a", "-n = -n"),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_are_answered_as_on_this_machine(question: str, tmp_path: Path) -> None:
    """The exit status is the answer."""
    script = f"echo x > f; touch empty; ln -s f link; [ {question} ]"

    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


def test_double_brackets_compare_like_single_ones() -> None:
    """``[[`` takes the same questions, with ``==`` too."""
    assert run("[[ a == a ]] && test a == a && [[ ! -e nope ]] && echo yes").out == "yes\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("[ a", "[: missing ]"),
        ("[[ a", "[[: missing ]]"),
        ("[ a -foo b ]", "[: -foo: unexpected operator/operand"),
        ("[ a = a -a b = b ]", "[: =: unexpected operator/operand"),
        ("test a =", "test: =: missing second argument"),
        ("test x -eq 1", "test: x: bad number"),
    ],
)
def test_a_bad_question_has_a_status_of_its_own(script: str, message: str) -> None:
    """What is no question ends in a message and status 2."""
    assert run(script) == (2, "", f"/system/bin/sh: {message}\n")
