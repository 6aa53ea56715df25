"""Waiting for elements and apps, and for time to pass."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_a_wait_lasts_as_long_as_was_said(cli: Cli) -> None:
    """The time is sent as pauses too, because the Operator counts those."""
    printed = cli("wait", "--text", "Never", "--timeout", "900")

    assert (printed.code, printed.step["success"]) == (1, False)


def test_an_app_in_front_is_waited_for(settings: Cli) -> None:
    """Both spellings, by app and by element."""
    by_app = settings("wait-for-nav", "--app", "com.android.settings", "--timeout", "3000")
    by_node = settings("wait-for-navigation", "--text", "Settings", "--timeout", "3000")

    assert (by_app.code, by_node.code) == (0, 0)


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["wait", "--text", "x", "--timeout", "0"], "EXECUTION_VALIDATION_FAILED"),
        (["wait-for-nav", "--app", "a"], "MISSING_ARGUMENT"),
        (["wait-for-nav", "--timeout", "500"], "MISSING_ARGUMENT"),
        (["wait-for-nav", "--app", " ", "--timeout", "5"], "EXECUTION_VALIDATION_FAILED"),
        (["wait-for-nav", "--app", "a", "--timeout", "x"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep", "abc"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep", "-5"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep"], "MISSING_ARGUMENT"),
    ],
)
def test_times_are_checked(argv: list[str], code: str, cli: Cli) -> None:
    """Each command tells in its own words which times it takes."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)


def test_the_device_can_do_nothing_for_a_while(cli: Cli) -> None:
    """A sleep is an execution of its own."""
    assert cli("sleep", "10").step["data"]["duration_ms"] == "10"
