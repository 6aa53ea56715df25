"""Which node is meant, read from the words of a command line."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.text.selector_flags import (
    flag_names,
    has_selector_flags,
    parse_selector_flags,
)
from pytest_clawperator.errors import PayloadError


def test_flags_stand_among_other_words() -> None:
    """Words that are no flags of this kind are left alone."""
    argv = ["down", "--text", "About", "--click", "--container-id", "android:id/list"]

    assert parse_selector_flags(argv) == {"textEquals": "About"}
    assert parse_selector_flags(argv, "container") == {"resourceId": "android:id/list"}


def test_without_flags_a_container_is_left_out() -> None:
    """An element that nothing describes is empty, a container is none at all."""
    assert parse_selector_flags(["down"]) == {}
    assert parse_selector_flags(["down"], "container") is None
    assert not has_selector_flags(["down", "--click"])


def test_another_spelling_is_the_flag_itself() -> None:
    """It makes the same matcher, and errors name the flag."""
    assert parse_selector_flags(["--resource-id", "a"]) == {"resourceId": "a"}
    with pytest.raises(PayloadError, match="--id must not appear more than once"):
        parse_selector_flags(["--resource-id", "a", "--id", "a"])


@pytest.mark.parametrize("value", ["-5", "--", "--json"])
def test_a_value_never_begins_with_a_dash(value: str) -> None:
    """A flag that is followed by another one has no value."""
    with pytest.raises(PayloadError) as caught:
        parse_selector_flags(["--desc", value])

    assert caught.value.message == "--desc requires a value"
    assert caught.value.code == "EXECUTION_VALIDATION_FAILED"


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "NaN", "\ufeff{}"])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    """However broken it is, the error is the same."""
    with pytest.raises(PayloadError, match="--container-selector must be valid JSON"):
        parse_selector_flags(["--container-selector", text], "container")


def test_every_flag_is_known_under_all_its_names() -> None:
    """The names are those of the element, each with the container's prefix."""
    assert [name.replace("--container-", "--") for name in flag_names("container")] == flag_names(
        "element"
    )
