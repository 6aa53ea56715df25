"""``dumpsys``: the lines that tools look for."""

from __future__ import annotations

import re

from tests.simulator.android.phone import SERVICE, Phone


class TestOthers:
    """The other services."""

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

    def test_no_keyboard_is_shown_without_a_focused_field(self) -> None:
        """Without a focused field no keyboard is shown."""
        assert "mInputShown=false\n" in Phone().out("dumpsys input_method")

    def test_a_fault_leaves_the_service_enabled_but_not_bound(self) -> None:
        """The Operator's service is enabled, and bound unless a fault keeps it off."""
        phone = Phone()
        assert f"Enabled services:{{{{{SERVICE}}}}}" in phone.out("dumpsys accessibility")
        assert "Bound services:{Service[label=" in phone.out("dumpsys accessibility")

        phone.device.faults.set("service_off")
        assert "Bound services:{}" in phone.out("dumpsys accessibility")

    def test_surface_flinger_prints_the_display_id(self) -> None:
        """The display has an id."""
        out = Phone().out("dumpsys SurfaceFlinger --display-id")

        assert re.match(r"Display \d+ \(HWC display 0\): port=0", out)

    def test_an_unknown_service_is_reported_with_status_0(self) -> None:
        """A service that does not exist is reported on standard error, and that is no failure."""
        assert Phone().run("dumpsys birds") == (0, "", "Can't find service: birds\n")

    def test_list_prints_every_service(self) -> None:
        """The services can be listed."""
        out = Phone().out("dumpsys -l")

        assert out.startswith("Currently running services:\n")
        assert "  battery\n" in out

    def test_without_a_name_every_service_is_dumped(self) -> None:
        """Without a name every service tells about itself."""
        out = Phone().out("dumpsys")

        assert out.count("DUMP OF SERVICE ") == len(Phone().out("dumpsys -l").splitlines()) - 1
