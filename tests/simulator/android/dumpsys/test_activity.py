"""``dumpsys activity``."""

from __future__ import annotations

import re

from tests.doubles.simulator.android_phone import OPERATOR, Phone

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

    def test_the_top_activity_has_its_pid(self) -> None:
        """The top activity is reported with its pid."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("dumpsys activity top")

        pid = phone.out(f"pidof {SETTINGS}").strip()
        assert re.search(rf"ACTIVITY {SETTINGS}/\.Settings \w+ pid={pid} ", out)

    def test_the_app_in_front_is_the_most_recent(self) -> None:
        """What is in front is the most recent."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        assert re.search(rf"Recent #0: Task.*:{SETTINGS}\}}", phone.out("dumpsys activity recents"))

    def test_a_bound_service_is_listed(self) -> None:
        """The Operator's service is listed while it is bound."""
        phone = Phone()
        assert OPERATOR in phone.out("dumpsys activity services")

        phone.out(f"am force-stop {OPERATOR}")
        assert OPERATOR not in phone.out("dumpsys activity services")
