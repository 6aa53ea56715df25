"""Scrolling once, until an element is there, and to click it."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize("argv", [["scroll", "down"], ["scroll", "--direction", "down"]])
def test_a_screen_is_scrolled_once(argv: list[str], settings: Cli) -> None:
    """The direction is an argument or an option."""
    assert settings(*argv).code == 0


def test_an_element_is_scrolled_to(settings: Cli) -> None:
    """An element further down is found; with --click it is clicked as well."""
    found = settings("scroll-until", "--text", "About phone")
    clicked = settings("scroll-until", "down", "--text", "About phone", "--click")

    assert (found.code, clicked.code) == (0, 0)
    assert settings("wait", "--text", "Android version").code == 0


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["scroll"], "MISSING_ARGUMENT"),
        (["scroll", "north"], "MISSING_ARGUMENT"),
        (["scroll", "up", "--direction", "down"], "EXECUTION_VALIDATION_FAILED"),
        (["scroll", "up", "--container-id", ""], "EXECUTION_VALIDATION_FAILED"),
        (["scroll", "up", "--timeout", "x"], "EXECUTION_VALIDATION_FAILED"),
        (["scroll-and-click", "north", "--text", "x"], "MISSING_ARGUMENT"),
        (["scroll-and-click"], "MISSING_SELECTOR"),
    ],
)
def test_directions_and_containers_are_checked(argv: list[str], code: str, cli: Cli) -> None:
    """What is wrong is told before any device is looked for."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)
