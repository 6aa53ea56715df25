"""What a person does: click, type, press, scroll, open and close."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli

SEARCH = "com.android.settings:id/search_action_bar"


def test_a_click_opens_what_it_hits(settings: Cli) -> None:
    """The flat spelling, with a global option before it and a selector after it."""
    printed = settings("--timeout", "20000", "click", "--text", "Connections")

    assert printed.code == 0
    assert settings("wait", "--text", "Wi-Fi").code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ["action", "click", "--selector", '{"text": "Settings"}'],
        ["tap", "--text=Settings"],
        ["click", "--text", "Settings", "--long"],
        ["click", "--coordinate", "675", "300"],
    ],
)
def test_a_click_has_several_spellings(argv: list[str], cli: Cli) -> None:
    """Nested, by another name, with a value attached, long, and by a point."""
    printed = cli(*argv)

    assert printed.step["actionType"] == "click"
    assert printed.step["success"] is True


def test_a_node_that_is_not_there_is_a_failed_envelope(cli: Cli) -> None:
    """Programs get the envelope, people one line that says what to do; both exit with 1."""
    printed = cli("click", "--text", "No such thing")
    told = cli("click", "--text", "No such thing", "--output", "pretty")

    assert (printed.code, printed.json["envelope"]["status"]) == (1, "failed")
    assert told.code == 1
    assert told.err.startswith("NODE_NOT_FOUND: ")
    assert told.err.count("\n") == 1
    assert "snapshot" in told.err


def test_people_are_told_which_node_comes_nearest(settings: Cli) -> None:
    """A slip in a text is found on the screen."""
    told = settings("click", "--text", "Conections", "--output", "pretty")

    assert 'Nearest: button "Connections"' in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["click"], "MISSING_SELECTOR"),
        (["click", "--text", "x", "--long", "--focus"], "EXECUTION_VALIDATION_FAILED"),
        (["click", "--coordinate", "1"], "EXECUTION_VALIDATION_FAILED"),
        (["type", "--id", "x"], "MISSING_ARGUMENT"),
        (["type", "two", "words", "--id", "x"], "EXECUTION_VALIDATION_FAILED"),
        (["press"], "MISSING_ARGUMENT"),
        (["press", "home", "--key", "back"], "EXECUTION_VALIDATION_FAILED"),
        (["press", "enter"], "EXECUTION_VALIDATION_FAILED"),
        (["click", "--text", "x", "--timeout", "5"], "EXECUTION_VALIDATION_FAILED"),
    ],
)
def test_a_wrong_command_line_sends_nothing(argv: list[str], code: str, cli: Cli) -> None:
    """What is wrong is told before any device is looked for."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)


def test_text_is_typed_as_argument_or_option(settings: Cli) -> None:
    """--text is what is typed, and the field is found by other flags."""
    settings("click", "--id", SEARCH)
    typed = settings("type", "battery", "--role", "textfield")
    again = settings("action", "type", "--selector", '{"role": "textfield"}', "--text", "display")

    assert (typed.code, typed.step["data"]["text"]) == (0, "battery")
    assert (again.code, again.step["data"]["text"]) == (0, "display")


def test_keys_are_pressed(cli: Cli) -> None:
    """Both spellings of the key, and back by its own name."""
    for argv in (["press", "home"], ["press-key", "--key", "recents"], ["back"]):
        assert cli(*argv).step["actionType"] == "press_key"


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


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["open", "com.android.settings"], "open_app"),
        (["action", "open-app", "--app", "com.android.settings"], "open_app"),
        (["close", "com.android.settings"], "close_app"),
        (["close-app", "--package", "com.android.settings"], "close_app"),
    ],
)
def test_apps_are_opened_and_closed(argv: list[str], kind: str, cli: Cli) -> None:
    """Under each spelling, by argument and by option."""
    printed = cli(*argv)

    assert (printed.code, printed.step["actionType"]) == (0, kind)


def test_a_link_is_opened_as_one(cli: Cli) -> None:
    """What has a scheme is no package."""
    assert cli("open", "https://example.com").step["actionType"] == "open_uri"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["open"], "MISSING_ARGUMENT"),
        (["open", "a", "--app", "b"], "EXECUTION_VALIDATION_FAILED"),
        (["close", ""], "MISSING_ARGUMENT"),
    ],
)
def test_a_target_is_required_once(argv: list[str], code: str, cli: Cli) -> None:
    """Neither none nor two."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)
