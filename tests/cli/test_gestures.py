"""What a person does: click, type, press, scroll, open and close."""

from __future__ import annotations

from tests.cli.conftest import Cli

SEARCH = "com.android.settings:id/search_action_bar"

#: Command lines that succeed on the start screen, and the action that each one sends.
SPELLINGS = [
    (["action", "click", "--selector", '{"text": "Settings"}'], "click"),
    (["press", "home"], "press_key"),
    (["tap", "--text=Settings"], "click"),
    (["press-key", "--key", "recents"], "press_key"),
    (["press", "home"], "press_key"),
    (["click", "--text", "Settings", "--long"], "click"),
    (["back"], "press_key"),
    (["click", "--coordinate", "675", "300"], "click"),
    (["open", "com.android.settings"], "open_app"),
    (["close", "com.android.settings"], "close_app"),
    (["action", "open-app", "--app", "com.android.settings"], "open_app"),
    (["close-app", "--package", "com.android.settings"], "close_app"),
]


def test_an_action_has_several_spellings(cli: Cli) -> None:
    """Nested, by another name, with a value attached, as an argument and as an option."""
    for argv, kind in SPELLINGS:
        printed = cli(*argv)
        assert (printed.code, printed.step["actionType"]) == (0, kind), argv
    assert cli("open", "https://example.com").step["actionType"] == "open_uri"


def test_the_settings_are_searched_and_walked_through(settings: Cli) -> None:
    """Elements are clicked, typed into and scrolled to; --text of type is what is typed."""
    clicked = settings("--timeout", "20000", "click", "--text", "Connections")
    assert (clicked.code, settings("wait", "--text", "Wi-Fi").code) == (0, 0)
    settings("back")
    assert settings("wait", "--text", "Connections").code == 0
    assert settings("scroll", "down").code == settings("scroll", "--direction", "down").code == 0
    found = settings("scroll-until", "--text", "About phone")
    opened = settings("scroll-until", "down", "--text", "About phone", "--click")
    assert (found.code, opened.code) == (0, 0)
    assert settings("wait", "--text", "Android version").code == 0
    settings("back")
    settings("scroll-and-click", "up", "--id", SEARCH)

    typed = settings("type", "battery", "--role", "textfield")
    again = settings("action", "type", "--selector", '{"role": "textfield"}', "--text", "display")

    assert (typed.code, typed.step["data"]["text"]) == (0, "battery")
    assert (again.code, again.step["data"]["text"]) == (0, "display")


def test_a_missing_node_is_a_failed_envelope(settings: Cli) -> None:
    """Programs get the envelope, people one line with the nearest node; both exit with 1."""
    printed = settings("click", "--text", "Conections")
    error = settings("click", "--text", "Conections", "--output", "pretty")

    assert (printed.code, printed.json["envelope"]["status"]) == (1, "failed")
    assert error.code == 1
    assert error.err.startswith("NODE_NOT_FOUND: ")
    assert 'Nearest: button "Connections"' in error.err
    assert "snapshot" in error.err
    assert error.err.count("\n") == 1
