"""``dumpsys window``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"


class TestWindow:
    """``dumpsys window``."""

    def test_the_focused_window_is_the_one_in_front(self) -> None:
        """The focused window and app are those in front."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'")

        window, app = out.splitlines()
        name = f"{SETTINGS}/{SETTINGS}.Settings"
        assert re.fullmatch(rf"\s+mCurrentFocus=Window\{{\w+ u0 {name}\}}", window)
        assert re.fullmatch(
            rf"\s+mFocusedApp=ActivityRecord\{{\w+ u0 {SETTINGS}/\.Settings t\d+\}}", app
        )

    def test_displays_and_windows_can_be_printed_alone(self) -> None:
        """Displays and windows can be asked for alone."""
        phone = Phone()

        assert "cur=1080x2400" in phone.out("dumpsys window displays")
        assert "Window #0 Window{" in phone.out("dumpsys window windows")
        assert "mAwake=true" in phone.out("dumpsys window policy")

    def test_an_unknown_part_is_reported(self) -> None:
        """A part that does not exist is reported."""
        assert Phone().out("dumpsys window nope").startswith("Bad window command")
