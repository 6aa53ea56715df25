"""Skills of a client: what is told of them, and what is no argument."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.client.skill_use import NoSkills, as_words, telling
from pytest_clawperator.contracts.events import Event, SkillFinished, SkillRun, SkillStarted
from pytest_clawperator.errors import ConfigurationError, SkillFailedError


def test_a_script_is_told_with_what_it_printed() -> None:
    """When it begins, and when it ended."""
    heard: list[Event] = []
    done = SkillRun(skill_id="a.b", output="out", complaints="err")

    assert telling(heard.append, "phone-1", "a.b", lambda: done) is done

    [begun, ended] = heard
    assert isinstance(begun, SkillStarted)
    assert isinstance(ended, SkillFinished)
    assert (ended.serial, ended.output, ended.complaints) == ("phone-1", "out", "err")


@pytest.mark.parametrize("name", ["stdout", "output"])
def test_a_script_that_failed_is_told_with_what_it_printed(name: str) -> None:
    """Which its error has."""
    heard: list[Event] = []

    def run() -> SkillRun:
        raise SkillFailedError("no", details={name: "out", "stderr": "err"})

    with pytest.raises(SkillFailedError):
        telling(heard.append, "phone-1", "a.b", run)

    ended = heard[-1]
    assert isinstance(ended, SkillFinished)
    assert (ended.output, ended.complaints) == ("out", "err")


def test_arguments_become_texts() -> None:
    """As the service makes them."""
    assert as_words(("a b", 5, 1.0, True)) == ["a b", "5", "1", "true"]


@pytest.mark.parametrize("args", ["text", b"bytes", 5, {"a": 1}, None])
def test_arguments_are_a_list(args: Any) -> None:
    """A text would be a list of its letters."""
    with pytest.raises(ConfigurationError, match="must be a list"):
        as_words(args)


def test_a_client_without_skills_says_so() -> None:
    """With who makes clients that have them."""
    for ask in (NoSkills().run, NoSkills().compile):
        with pytest.raises(ConfigurationError, match="without skills"):
            ask()
