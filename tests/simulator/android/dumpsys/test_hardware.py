"""``dumpsys battery``."""

from __future__ import annotations

import re

import pytest

from tests.doubles.simulator.android_phone import Phone


class TestBattery:
    """``dumpsys battery``."""

    def test_the_battery_level_is_read_set_and_reset(self) -> None:
        """The level can be read and set, and set back."""
        phone = Phone()
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

        phone.out("dumpsys battery set level 7")
        assert "\n  level: 7\n" in phone.out("dumpsys battery")
        assert "UPDATES STOPPED" in phone.out("dumpsys battery")

        phone.out("dumpsys battery reset")
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

    def test_an_unplugged_phone_does_not_charge(self) -> None:
        """An unplugged phone is charged by nothing."""
        phone = Phone()

        phone.out("dumpsys battery unplug")

        assert "\n  USB powered: false\n" in phone.out("dumpsys battery")
        assert "mIsPowered=false" in phone.out("dumpsys power")

    @pytest.mark.parametrize("words", ["set level x", "set wings 1", "explode"])
    def test_an_invalid_battery_value_changes_nothing(self, words: str) -> None:
        """What is invalid is reported, and nothing changes."""
        phone = Phone()

        assert phone.out(f"dumpsys battery {words}") != ""
        assert "\n  level: 85\n" in phone.out("dumpsys battery")


class TestScreen:
    """Power, display and SurfaceFlinger."""

    def test_power_shows_whether_the_screen_is_on(self) -> None:
        """The screen's state shows in the power manager."""
        phone = Phone()
        assert "mWakefulness=Awake\n" in phone.out("dumpsys power")

        phone.out("input keyevent POWER")

        out = phone.out("dumpsys power")
        assert "mWakefulness=Asleep\n" in out
        assert "mHoldingDisplaySuspendBlocker=false\n" in out

    def test_display_shows_the_rotation(self) -> None:
        """The display tells how the screen is held."""
        phone = Phone()
        phone.out("settings put system user_rotation 1")

        out = phone.out("dumpsys display")

        assert "orientation=1, " in out
        assert "deviceWidth=2400, deviceHeight=1080" in out

    def test_surface_flinger_prints_the_display_id(self) -> None:
        """The display has an id."""
        out = Phone().out("dumpsys SurfaceFlinger --display-id")

        assert re.match(r"Display \d+ \(HWC display 0\): port=0", out)
