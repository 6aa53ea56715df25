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


def test_global_options_may_stand_anywhere() -> None:
    """Under each of their names, with values apart or attached; not after two dashes."""
    for argv in (
        ["--device", "R58N1", "snapshot", "--outline"],
        ["snapshot", "--device-id", "R58N1", "--outline"],
        ["snapshot", "--outline", "--device=R58N1"],
    ):
        options, rest = split_global_options(argv)
        assert (options.device, rest) == ("R58N1", ["snapshot", "--outline"])
    after = ["run", "--", "--device", "x"]
    assert split_global_options(after) == (GlobalOptions(), after)
    assert split_global_options(["--timeout-ms", "-5"])[0] == GlobalOptions(timeout="-5")


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
    """JSON unless people are addressed; an explicit request is remembered."""
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
def test_a_missing_or_wrong_value_is_refused(argv: list[str], message: str) -> None:
    """The message names the option as it was written."""
    with pytest.raises(Mistake) as caught:
        split_global_options(argv)

    assert (caught.value.message, caught.value.exit_code) == (message, 1)


def test_selector_flags_are_taken_out_of_the_command_line() -> None:
    """Each kind takes its own; what follows ``--`` is never a flag."""
    words = ["down", "--text", "a", "--click", "--resource-id=b", "--", "--role", "c"]
    container, rest = CONTAINER.take(["--text", "a", "--container-desc", "b"])
    typed = ["--text", "a", "--role", "textfield"]

    matcher = {"textEquals": "a", "resourceId": "b"}
    assert ELEMENT.take(words) == (matcher, ["down", "--click", "--", "--role", "c"])
    assert container == {"contentDescEquals": "b"}
    assert ELEMENT.take(rest) == ({"textEquals": "a"}, [])
    assert TYPED_INTO.take(typed) == ({"role": "textfield"}, ["--text", "a"])
    assert ELEMENT.take(["down"]) == (None, ["down"])
    assert ELEMENT.take(["--selector", "{}"]) == ({}, [])


def test_a_missing_selector_is_reported_with_the_possible_flags() -> None:
    """Without those that mean something else for the command."""
    with pytest.raises(ClawperatorError) as caught:
        require_selector("type", None, without=["text"])

    assert caught.value.code == "MISSING_SELECTOR"
    assert "--role" in str(caught.value.hint)
    assert "--text," not in str(caught.value.hint)


NUMBERS = {
    "500": 500,
    " 1.5 ": 1.5,
    ".5": 0.5,
    "5.": 5,
    "1e3": 1000,
    "-5": -5,
    "0x10": 16,
    "0b11": 3,
    "0o17": 15,
    "": 0,
    "\ufeff7": 7,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "1e999": math.inf,
}


def test_numbers_are_read_as_in_javascript() -> None:
    """A blank text is 0; what only Python reads as a number is not one."""
    for text, number in NUMBERS.items():
        assert read_number(text) == number, text
    for text in ("abc", "5s", "1_000", "٥", "--5", "0x", "infinity", "NaN", "1,5"):
        assert math.isnan(read_number(text)), text
