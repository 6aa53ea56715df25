"""``dumpsys battery``, ``power``, ``display`` and ``SurfaceFlinger``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import Phone


class TestScreen:
    """Power, display and SurfaceFlinger."""

    def test_the_battery_has_a_level(self) -> None:
        """The battery is charged by the cable, and never changes."""
        assert "\n  level: 85\n" in Phone().out("dumpsys battery")

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
