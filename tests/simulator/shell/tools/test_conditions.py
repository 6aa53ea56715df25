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
        ("test a =", "test: =: missing second argument"),
        ("test x -eq 1", "test: x: bad number"),
    ],
)
def test_a_bad_question_has_a_status_of_its_own(script: str, message: str) -> None:
    """What is no question ends in a message and status 2."""
    assert run(script) == (2, "", f"/system/bin/sh: {message}\n")


@pytest.mark.parametrize(
    ("script", "operator"),
    [
        ("[ a -a b ]", "-a"),
        ("[ a = a -o b = b ]", "-o"),
        ("test f -nt g", "-nt"),
        ("[ -p f ]", "-p"),
        ("[[ a =~ b ]]", "=~"),
        ("[ '(' a ')' ]", "("),
    ],
)
def test_operators_that_only_a_phone_has_stop_the_script(script: str, operator: str) -> None:
    """A question that cannot be answered is not answered with no."""
    message = f"{operator} in a test is not supported by the simulated shell"

    assert run(f"{script} || echo no; echo no") == (1, "", f"/system/bin/sh: {message}\n")


def test_names_of_unsupported_operators_can_be_compared() -> None:
    """Where it is an operand, ``-a`` is a text like any other."""
    assert run("[ -a = -a ] && [ -n -o ] && [ ! -a ] || [ -a ] && echo yes").out == "yes\n"
