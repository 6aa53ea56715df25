"""The options that every command has."""

from __future__ import annotations

import pytest

from pytest_clawperator.cli.options import GlobalOptions, Mistake, split_global_options


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
