"""What a person does: click, type, press, scroll, open and close."""

from __future__ import annotations

import json

from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli

SEARCH = "com.android.settings:id/search_action_bar"
WHOLE = {
    "commandId": "c1",
    "taskId": "t1",
    "source": "test",
    "expectedFormat": "android-ui-automator",
    "timeoutMs": 30_000,
}

#: Command lines that succeed on the start screen, and the action that each one sends.
SPELLINGS = [
    (["action", "click", "--selector", '{"text": "Settings"}'], "click"),
    (["press", "home"], "press_key"),
    (["tap", "--text=Settings"], "click"),
    (["press-key", "--key", "recents"], "press_key"),
    (["press", "home"], "press_key"),
    (["click", "--text", "Settings", "--long", "--matchers", "first"], "click"),
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


def test_an_element_must_be_the_only_match(settings: Cli) -> None:
    """Unless the first is to win, as on the device; what is sent as a payload is sent as it is."""
    several = ["--id", "android:id/title"]
    for argv in (
        ["click", *several],
        ["click", *several, "--long"],
        ["click", *several, "--focus"],
        ["read", *several],
        ["scroll-and-click", *several],
        ["read-value", "--label-id", "android:id/title"],
    ):
        printed = settings(*argv)
        assert printed.error == (1, "NODE_AMBIGUOUS"), argv
        assert "--matchers first" in printed.json["hint"]
        assert len(printed.json["details"]["nodes"]) > 1
        settings("close", "com.android.settings")
        settings("open", "com.android.settings")
        assert settings("wait", "--text", "Connections").code == 0

    first = settings("read", *several, "--matchers", "first")
    every = settings("read", *several, "--all", "--json")
    payload = {"type": "read_text", "params": {"matcher": {"resourceId": "android:id/title"}}}
    sent = settings("exec", json.dumps({**WHOLE, "actions": [{"id": "a", **payload}]}))

    assert (first.code, every.code, sent.code) == (0, 0, 0)
    assert first.step["data"]["text"] == sent.step["data"]["text"] == "Connections"
    assert settings("read", *several, "--matchers", "all").error == (1, "USAGE")


def test_a_disabled_element_is_not_clicked(settings: Cli, phone: AdbTransport) -> None:
    """The published Operator reports the tap as a success."""
    phone.shell("sim profile 0.5.3")
    settings("click", "--text", "Connections")
    disabled = ["click", "--text", "SIM manager"]
    assert settings("wait", "--text", "SIM manager").code == 0

    assert settings(*disabled).error == (1, "NODE_NOT_CLICKABLE")
    assert settings(*disabled, "--matchers", "first").code == 0


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
