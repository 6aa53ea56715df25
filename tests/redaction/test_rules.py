"""What people write to say which texts are secrets."""

from __future__ import annotations

import pytest

from pytest_clawperator.redaction.redaction import Redaction
from pytest_clawperator.redaction.rules import apply_rule, check_rule

ENVIRONMENT = {"BANK_PASSWORD": "hunter2", "MY_TOKEN": "t0ken-1", "TOKEN_AGE": "12345", "EMPTY": ""}
ORDINARY = {"A_TOKEN": "true", "B_TOKEN": "1", "C_TOKEN": "dev", "D_TOKEN": " Production\n"}


@pytest.mark.parametrize(
    ("rule", "hidden"),
    [
        ("sk-[a-z]+", "[***] hunter2 t0ken-1 12345"),
        ("env:BANK_PASSWORD", "sk-abc [***] t0ken-1 12345"),
        ("env:*_TOKEN", "sk-abc hunter2 [***] 12345"),
        ("env:EMPTY", "sk-abc hunter2 t0ken-1 12345"),
        ("env:NOT_THERE", "sk-abc hunter2 t0ken-1 12345"),
    ],
)
def test_a_rule_is_a_pattern_or_names_variables(rule: str, hidden: str) -> None:
    """A rule hides what its pattern matches, or the values of the variables that it names."""
    secrets = Redaction()

    apply_rule(check_rule(rule), secrets, ENVIRONMENT)

    assert secrets.hide("sk-abc hunter2 t0ken-1 12345") == hidden


def test_an_ordinary_value_of_a_variable_is_not_hidden() -> None:
    """A variable that is a switch hides no text; the caller learns its name."""
    secrets = Redaction()

    left_out = apply_rule("env:*_TOKEN", secrets, {**ENVIRONMENT, **ORDINARY})

    assert left_out == [*ORDINARY]
    assert secrets.secrets.texts == {"t0ken-1"}


@pytest.mark.parametrize("rule", [".", ".+", r"\w+", "t", r"\d+", "[A-Za-z0-9]+", ":", "-", r"\b"])
def test_a_pattern_of_ordinary_text_is_refused(rule: str) -> None:
    """What would hide most of every report cannot be meant; the message shows what it matches."""
    with pytest.raises(ValueError, match="ordinary text") as caught:
        check_rule(rule)

    problem, _, advice = str(caught.value).partition(", which is ordinary text")
    assert problem.startswith(f"{rule!r} matches ")
    assert "'\\bsk-[A-Za-z0-9]+'" in advice
    assert "[0-9a-f]{32}" in advice


@pytest.mark.parametrize("rule", ["[0-9a-f]{32}", r"\d{6}", "[A-Za-z0-9_-]{20,}", "password=\\S+"])
def test_a_narrow_pattern_is_taken(rule: str) -> None:
    """A length, or what stands before the secret, is enough."""
    assert check_rule(rule) == rule


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("sk-[a-z", "'sk-[a-z' is no regular expression: unterminated character set"),
        ("a*", "'a*' matches an empty text, which is everywhere; allowed is"),
        ("env:", "found 'env:', allowed is env: and the name of an environment variable"),
        ("env:A-B", "found 'env:A-B', allowed is env: and the name of an environment variable"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: str, problem: str) -> None:
    """The message names the rule and what is wrong with it."""
    with pytest.raises(ValueError, match=r"allowed|no regular expression") as caught:
        check_rule(rule)

    assert str(caught.value).startswith(problem)
