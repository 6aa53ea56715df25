"""What people write to say which texts are secrets."""

from __future__ import annotations

import pytest

from pytest_clawperator.redaction.redaction import Redaction
from pytest_clawperator.redaction.rules import apply_rule, check_rule

ENVIRONMENT = {"BANK_PASSWORD": "hunter2", "MY_TOKEN": "t0ken-1", "TOKEN_AGE": "12345", "EMPTY": ""}


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
