"""``input``: taps, swipes, text and keys."""

from __future__ import annotations

import asyncio
import json

from pytest_clawperator.simulator.android.input import key_code
from pytest_clawperator.simulator.screen.accessibility import UiNode
from tests.doubles.simulator.android_phone import Phone, broadcast, payload

SETTINGS = "com.android.settings"

RECORDINGS = "/sdcard/Android/data/com.clawperator.operator/files/recordings"

HOME_PACKAGE = "com.google.android.apps.nexuslauncher"


def opened() -> Phone:
    """Return a phone on which Settings is open."""
    phone = Phone()
    phone.out(f"am start -n {SETTINGS}/.Settings")
    return phone


def labels(phone: Phone) -> list[str]:
    """List what can be read on the screen."""
    root = phone.device.ui.view.active_root()
    assert root is not None
    return [node.label for node in root.walk() if node.label and node.visible_to_user]


def labelled(phone: Phone, label: str) -> UiNode:
    """Find a node by its label."""
    root = phone.device.ui.view.active_root()
    assert root is not None
    return next(node for node in root.walk() if node.label == label)


def tapped(phone: Phone) -> None:
    """Tap a row."""
    phone.out("input tap {} {}".format(*labelled(phone, "Connected devices").bounds.centre))


def test_touches_reach_a_screen_that_is_on() -> None:
    """A tap opens what it hits, a swipe scrolls; a dark screen and a fault take none of them."""
    swipe = "input touchscreen -d 0 swipe 540 1800 540 600 300"
    phone = opened()
    before = labels(phone)
    phone.out(f"input keyevent SLEEP; {swipe}; input keyevent BACK; input keyevent WAKEUP")
    phone.device.faults.set("gesture_refused")
    phone.out(swipe)
    tapped(phone)
    assert labels(phone) == before

    phone.device.faults.clear()
    phone.out(swipe)
    scrolled = labels(phone)
    phone.out(swipe.replace("1800 540 600", "600 540 1800"))
    tapped(phone)
    assert len({tuple(seen) for seen in (before, scrolled, labels(phone))}) == 3


def test_points_off_the_screen_and_unknown_keys_do_nothing() -> None:
    """They are not a failure."""
    phone = Phone()
    keys = ("0", "9999", "KEYCODE_NOPE", "MEDIA_PLAY", "-5")

    for point in ("-5 -5", "99999 99999", "1.5 2.25"):
        assert phone.out(f"input tap {point}") == ""
    assert [phone.out(f"input keyevent {key}") for key in keys] == [""] * len(keys)
    assert phone.run("input fly") == (0, "Unknown command: fly\n", "")


def test_invalid_arguments_are_an_exception_with_status_255() -> None:
    """The word that is wrong, or what is missing, is named."""
    phone = Phone()
    for arguments, complaint in {
        "tap": 'Argument expected after "tap"',
        "tap 1": 'Argument expected after "1"',
        "tap a b": "Error: Invalid arguments for command: tap",
        "tap nan 1": "Error: Invalid arguments for command: tap",
        "swipe 1 2 3 4 x": "Error: Invalid arguments for command: swipe",
        "text": 'Argument expected after "text"',
        "keyevent": 'Argument expected after "keyevent"',
    }.items():
        ended = phone.run(f"input {arguments}")
        assert ended.status == 255, arguments
        assert f"java.lang.IllegalArgumentException: {complaint}\n" in ended.err, arguments


def test_keys_have_numbers_and_names() -> None:
    """Home, back and recents lead where they should, however they are called."""
    phone = opened()
    for key in ("3", "HOME", "KEYCODE_HOME", "home", "4"):
        phone.run(f"am start -n {SETTINGS}/.Settings")
        assert phone.device.ui.view.foreground_package() == SETTINGS
        phone.out(f"input keyevent {key}")
        assert phone.device.ui.view.foreground_package() == HOME_PACKAGE, key
    phone.out("input keyevent APP_SWITCH")
    assert phone.device.ui.view.foreground_activity().endswith("RecentsActivity")
    names = ["BACK", "ENTER", "DEL", "TAB", "MENU", "SEARCH", "APP_SWITCH", "F12", "Z"]
    assert [key_code(name) for name in names] == [4, 66, 67, 61, 82, 84, 187, 142, 54]


def test_a_recorded_back_key_stands_before_its_window_change() -> None:
    """A service that filters keys sees them before the app does."""
    phone = Phone()

    async def act() -> str:
        start = payload({"type": "start_recording", "params": {"sessionId": "r"}})
        await phone.shell(f"am start -n {SETTINGS}/.Settings; {broadcast(start)}")
        await phone.logged("[Clawperator-Result]")
        await phone.shell("input keyevent BACK; sim screen")
        return (await phone.shell(f"cat {RECORDINGS}/r.ndjson")).out

    events = [json.loads(line) for line in asyncio.run(act()).splitlines()[1:]]

    assert [event["type"] for event in events] == ["press_key", "window_change"]


def test_only_the_power_key_toggles_the_screen() -> None:
    """Power toggles, SLEEP and WAKEUP do not."""
    phone = Phone()
    awake = []

    for key in ("POWER", "SLEEP", "WAKEUP", "WAKEUP", "26"):
        phone.out(f"input keyevent {key}")
        awake.append(phone.system.display.awake)

    assert awake == [False, False, True, True, False]


def test_letters_and_text_go_into_the_focused_field() -> None:
    """Letters, digits, DEL and text with %s for blanks."""
    phone = opened()
    root = phone.device.ui.view.active_root()
    assert root is not None
    phone.device.ui.nodes.focus(next(node for node in root.walk() if node.editable))

    phone.out("input text 'a%sb'; input keyevent C 7 KEYCODE_DEL")

    focused = phone.device.ui.view.focused_node()
    assert focused is not None
    assert focused.text == "a bc"
