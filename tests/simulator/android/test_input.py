"""``input``: taps, swipes, text and keys."""

from __future__ import annotations

import asyncio
import json

import pytest

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


class TestTouch:
    """Fingers."""

    def test_a_tap_opens_what_it_hits(self) -> None:
        """A tap opens what it meets."""
        phone = opened()
        before = labels(phone)
        target = labelled(phone, "Connected devices").bounds.centre

        phone.out("input tap {} {}".format(*target))

        assert labels(phone) != before

    def test_a_swipe_scrolls_the_list(self) -> None:
        """A swipe scrolls."""
        phone = opened()
        before = labels(phone)

        phone.out("input swipe 540 1800 540 600 300")

        assert labels(phone) != before

    def test_a_screen_that_is_off_takes_no_touch(self) -> None:
        """A screen that is off feels nothing."""
        phone = opened()
        before = labels(phone)

        phone.out("input keyevent SLEEP; input swipe 540 1800 540 600; input keyevent BACK")

        assert labels(phone) == before

    def test_a_fault_refuses_every_gesture(self) -> None:
        """With the fault, the device refuses every gesture."""
        phone = opened()
        phone.device.faults.set("gesture_refused")
        before = labels(phone)

        phone.out("input swipe 540 1800 540 600")

        assert labels(phone) == before

    @pytest.mark.parametrize("point", ["-5 -5", "99999 99999", "1.5 2.25"])
    def test_points_off_the_screen_are_accepted(self, point: str) -> None:
        """Points beside the screen or between its pixels are no failure."""
        assert Phone().out(f"input tap {point}") == ""

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("tap", 'Argument expected after "tap"'),
            ("tap 1", 'Argument expected after "1"'),
            ("tap a b", "Error: Invalid arguments for command: tap"),
            ("tap nan 1", "Error: Invalid arguments for command: tap"),
            ("swipe 1 2 3", 'Argument expected after "3"'),
            ("swipe 1 2 3 4 x", "Error: Invalid arguments for command: swipe"),
            ("text", 'Argument expected after "text"'),
            ("keyevent", 'Argument expected after "keyevent"'),
        ],
    )
    def test_invalid_arguments_are_an_exception_with_status_255(
        self, arguments: str, complaint: str
    ) -> None:
        """A mistake in the arguments is an exception, with status 255."""
        ended = Phone().run(f"input {arguments}")

        assert ended.status == 255
        assert f"java.lang.IllegalArgumentException: {complaint}\n" in ended.err

    def test_an_unknown_command_is_named_with_status_0(self) -> None:
        """A command that does not exist is named, and that is no failure."""
        assert Phone().run("input fly") == (0, "Unknown command: fly\n", "")

    def test_source_and_display(self) -> None:
        """The kind of device and the display may be given before the command."""
        assert Phone().out("input touchscreen -d 0 tap 5 5") == ""


class TestKeys:
    """Keys by number and name."""

    @pytest.mark.parametrize("key", ["3", "HOME", "KEYCODE_HOME", "home"])
    def test_the_home_key_goes_home(self, key: str) -> None:
        """Home goes home, however it is called."""
        phone = opened()

        phone.out(f"input keyevent {key}")

        assert phone.device.ui.view.foreground_package() == HOME_PACKAGE

    def test_the_back_key_leaves_the_app(self) -> None:
        """Back leaves the app."""
        phone = opened()

        phone.out("input keyevent 4")

        assert phone.device.ui.view.foreground_package() == HOME_PACKAGE

    def test_a_recorded_back_key_stands_before_its_window_change(self) -> None:
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

    def test_only_the_power_key_toggles_the_screen(self) -> None:
        """Power toggles, SLEEP and WAKEUP do not."""
        phone = Phone()
        awake = []

        for key in ("POWER", "SLEEP", "WAKEUP", "WAKEUP", "26"):
            phone.out(f"input keyevent {key}")
            awake.append(phone.system.display.awake)

        assert awake == [False, False, True, True, False]

    def test_the_recents_key_shows_the_recent_apps(self) -> None:
        """The key for the recent apps shows them."""
        phone = opened()

        phone.out("input keyevent APP_SWITCH")

        assert phone.device.ui.view.foreground_activity().endswith("RecentsActivity")

    def test_several_keys_are_pressed_in_order(self) -> None:
        """Several keys are pressed one after the other."""
        phone = Phone()

        phone.out("input keyevent VOLUME_UP VOLUME_UP 25")

        assert phone.out("settings get system volume_music") == "6\n"

    def test_letters_and_text_go_into_the_focused_field(self) -> None:
        """Letters, digits, DEL and text with %s for blanks go into the focused field."""
        phone = opened()
        root = phone.device.ui.view.active_root()
        assert root is not None
        field = next(node for node in root.walk() if node.editable)
        phone.device.ui.nodes.focus(field)

        phone.out("input text 'a%sb'; input keyevent C 7 KEYCODE_DEL")

        focused = phone.device.ui.view.focused_node()
        assert focused is not None
        assert focused.text == "a bc"

    @pytest.mark.parametrize("key", ["0", "9999", "KEYCODE_NOPE", "MEDIA_PLAY", "-5"])
    def test_a_key_without_a_meaning_does_nothing(self, key: str) -> None:
        """A key that means nothing here does nothing."""
        assert Phone().out(f"input keyevent {key}") == ""

    def test_the_key_codes_are_androids(self) -> None:
        """The codes are Android's."""
        names = ["BACK", "ENTER", "DEL", "TAB", "MENU", "SEARCH", "APP_SWITCH", "F12", "Z"]

        assert [key_code(name) for name in names] == [4, 66, 67, 61, 82, 84, 187, 142, 54]
