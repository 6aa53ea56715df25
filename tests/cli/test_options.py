"""The options that commands share: global ones, those that select a node, and numbers."""

from __future__ import annotations

import math

import pytest

from pytest_clawperator.cli.options import (
    CONTAINER,
    ELEMENT,
    TYPED_INTO,
    GlobalOptions,
    Mistake,
    read_number,
    require_selector,
    split_global_options,
)
from pytest_clawperator.errors import ClawperatorError


@pytest.mark.parametrize(
    "argv",
    [
        ["--device", "R58N1", "snapshot", "--outline"],
        ["snapshot", "--device-id", "R58N1", "--outline"],
        ["snapshot", "--outline", "--device=R58N1"],
    ],
)
def test_an_option_may_stand_anywhere(argv: list[str]) -> None:
    """Before or after the command, under each of its names, with its value apart or attached."""
    options, rest = split_global_options(argv)

    assert options.device == "R58N1"
    assert rest == ["snapshot", "--outline"]


def test_what_follows_two_dashes_belongs_to_the_command() -> None:
    """Options after ``--`` are passed on."""
    options, rest = split_global_options(["run", "--", "--device", "x"])

    assert options.device is None
    assert rest == ["run", "--", "--device", "x"]


@pytest.mark.parametrize(
    ("argv", "output", "explicit"),
    [
        ([], "json", False),
        (["--json"], "json", True),
        (["--output", "pretty"], "pretty", False),
        (["--format", "json"], "json", True),
        (["--output", "xml"], "json", False),
    ],
)
def test_the_output_is_chosen(argv: list[str], output: str, explicit: bool) -> None:
    """JSON unless people are addressed; whether it was asked for is remembered."""
    options, _ = split_global_options(argv)

    assert (options.output, options.is_json_explicit) == (output, explicit)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["snapshot", "--operator-package"], "--operator-package requires a value"),
        (["snapshot", "--operator-package", "--json"], "--operator-package requires a value"),
        (["snapshot", "--receiver-package", " "], "--receiver-package requires a value"),
        (["--device"], "--device requires a value"),
        (["--log-level", "loud"], "--log-level must be one of: debug, info, warn, error"),
    ],
)
def test_a_value_that_is_missing_or_wrong_is_told(argv: list[str], message: str) -> None:
    """The message names the option as it was written."""
    with pytest.raises(Mistake) as caught:
        split_global_options(argv)

    assert caught.value.message == message
    assert caught.value.exit_code == 1


def test_a_timeout_may_be_any_text() -> None:
    """Each command tells in its own words what is wrong with a timeout."""
    options, _ = split_global_options(["exec", "--timeout-ms", "-5"])

    assert options == GlobalOptions(timeout="-5")


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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500", 500),
        (" 1.5 ", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("-5", -5),
        ("0x10", 16),
        ("0b11", 3),
        ("0o17", 15),
        ("", 0),
        ("\ufeff7", 7),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_a_text_is_the_number_it_says(text: str, number: float) -> None:
    """White space around it does not count, and a blank text is nothing."""
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["abc", "5s", "1_000", "٥", "--5", "0x", "infinity", "NaN", "1,5"])
def test_what_is_no_number_is_none(text: str) -> None:
    """What only Python would read is none either."""
    assert math.isnan(read_number(text))
