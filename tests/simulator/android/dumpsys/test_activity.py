"""``dumpsys activity``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"


class TestActivity:
    """``dumpsys activity``."""

    def test_the_resumed_activity_is_the_one_in_front(self) -> None:
        """The resumed activity is the one in front."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("dumpsys activity activities")

        assert re.search(
            rf"topResumedActivity=ActivityRecord\{{\w+ u0 {SETTINGS}/\.Settings t\d+\}}", out
        )
        assert "  ResumedActivity: ActivityRecord{" in out
