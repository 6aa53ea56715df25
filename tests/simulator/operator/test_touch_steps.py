"""Steps that act."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.screen.accessibility import UiNode
from tests.simulator.operator.fakes import APP, OK, PROFILES, Bench, action, button, node, screen

ROW = node("", node("OK"), clickable=True, resource_id="row")
FOCUSABLE_ROW = node("", button(clickable=False), focusable=True, resource_id="row")
FIELD = node("Name", cls="android.widget.EditText", editable=True)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("tree", "refused", "type", "params", "data", "done"),
    [
        (ROW, "", "click", {"matcher": OK}, {"click_types": "click"}, ["click row"]),
        (
            *(button(clickable=False), "", "click", {"matcher": OK}),
            *({"click_types": "click"}, ["tap 200 1050"]),
        ),
        (
            *(button(), "click", "click", {"matcher": OK}),
            *({"click_types": "click"}, ["click OK", "tap 200 1050"]),
        ),
        (
            *(button(), "long_click", "click", {"matcher": OK, "clickType": "long_click"}),
            *({"click_types": "long_click"}, ["long_click OK", "long_press 200 1050"]),
        ),
        (
            *(FOCUSABLE_ROW, "", "click", {"matcher": OK, "clickType": "focus"}),
            *({"click_types": "focus"}, ["focus row"]),
        ),
        (
            *(ROW, "", "click", {"coordinate": {"x": 12, "y": 34}}),
            *({"coordinate": "(12,34)", "click_types": "click"}, ["tap 12 34"]),
        ),
        (
            *(FIELD, "", "enter_text", {"matcher": {"role": "textfield"}, "text": "Zoë"}),
            {"text": "Zoë", "submit": "false"},
            ["focus Name", "click Name", "set_text Name Zoë"],
        ),
        (ROW, "", "press_key", {"key": "back"}, {"key": "back"}, ["back"]),
        (ROW, "", "press_key", {"key": "home"}, {"key": "home"}, ["home"]),
        (ROW, "", "press_key", {"key": "recents"}, {"key": "recents"}, ["recents"]),
        (ROW, "", "open_app", {"applicationId": APP}, {"application_id": APP}, [f"start {APP}"]),
        (ROW, "", "open_uri", {"uri": "m://x"}, {"uri": "m://x"}, ["open_uri m://x"]),
    ],
)
def test_a_step_acts_on_the_screen(
    profile: Profile,
    tree: UiNode,
    refused: str,
    type: str,
    params: dict[str, Any],
    data: dict[str, str],
    done: list[str],
) -> None:
    """Specification and published app agree on these; a refused action becomes a gesture."""
    bench = Bench(screen(tree), profile=profile)
    bench.ui.refuse = {refused}

    step = bench.step(type, **params)

    assert step == {"id": "a1", "actionType": type, "success": True, "data": data}
    assert bench.ui.done == done


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("type", "params", "keys", "code"),
    [
        ("take_screenshot", {}, ["error", "message"], "UNSUPPORTED_RUNTIME_SCREENSHOT"),
        (
            *("close_app", {"applicationId": APP}, ["application_id", "error", "message"]),
            "UNSUPPORTED_RUNTIME_CLOSE",
        ),
    ],
)
def test_a_step_of_the_host_fails_and_the_run_goes_on(
    profile: Profile, type: str, params: dict[str, str], keys: list[str], code: str
) -> None:
    """The phone leaves pictures and closing apps to the host, with a code that asks for it."""
    envelope = Bench(profile=profile).execute(action(type, **params), action("doctor_ping"))

    first, second = envelope["stepResults"]
    assert (envelope["status"], first["success"], second["success"]) == ("success", False, True)
    assert (list(first["data"]), first["data"]["error"]) == (keys, code)


def test_doctor_ping_reads_the_developer_settings() -> None:
    """Developer options and USB debugging are read from the settings."""
    bench = Bench()
    bench.settings.put("global", "adb_enabled", "0")

    assert bench.step("doctor_ping")["data"] == {
        "developer_options_enabled": "true",
        "usb_debugging_enabled": "false",
    }
