"""The flags of commands that say which node is meant."""

from __future__ import annotations

import pytest

from pytest_clawperator.cli.options import CONTAINER, ELEMENT, TYPED_INTO, require_selector
from pytest_clawperator.errors import ClawperatorError


def test_flags_are_taken_out_of_the_command_line() -> None:
    """What is left is the command's own; what follows ``--`` is never a flag."""
    words = ["down", "--text", "a", "--click", "--resource-id=b", "--", "--role", "c"]

    matcher, rest = ELEMENT.take(words)

    assert matcher == {"textEquals": "a", "resourceId": "b"}
    assert rest == ["down", "--click", "--", "--role", "c"]


def test_elements_and_containers_do_not_mix() -> None:
    """Each takes its own flags."""
    container, rest = CONTAINER.take(["--text", "a", "--container-desc", "b"])

    assert container == {"contentDescEquals": "b"}
    assert ELEMENT.take(rest) == ({"textEquals": "a"}, [])


def test_the_text_of_typing_is_no_selector() -> None:
    """It is left to the command."""
    assert TYPED_INTO.take(["--text", "a", "--role", "textfield"]) == (
        {"role": "textfield"},
        ["--text", "a"],
    )


def test_no_flags_are_no_matcher() -> None:
    """An empty one was given; none was not."""
    assert ELEMENT.take(["down"]) == (None, ["down"])
    assert ELEMENT.take(["--selector", "{}"]) == ({}, [])


def test_a_missing_selector_is_told_with_the_flags_there_are() -> None:
    """Without those that mean something else for the command."""
    with pytest.raises(ClawperatorError) as caught:
        require_selector("type", None, without=["text"])

    assert caught.value.code == "MISSING_SELECTOR"
    assert "--role" in str(caught.value.hint)
    assert "--text," not in str(caught.value.hint)
