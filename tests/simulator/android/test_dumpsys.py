"""``dumpsys``: the lines that tools look for."""

from __future__ import annotations

import re

import pytest

from tests.simulator.android.phone import OPERATOR, SERVICE, Phone

SETTINGS = "com.android.settings"


class TestPackage:
    """``dumpsys package``."""

    @pytest.mark.parametrize(
        ("variant", "name", "version"),
        [("release", OPERATOR, "0.5.3"), ("dev", f"{OPERATOR}.dev", "0.5.3-d")],
    )
    def test_versions(self, variant: str, name: str, version: str) -> None:
        """The Operator's version stands in the lines that the host program reads."""
        out = Phone(operator=variant).out(f"dumpsys package {name}")

        assert "    versionCode=503900 minSdk=21 targetSdk=35\n" in out
        assert re.findall(r"^\s*versionName=(.+)$", out, re.MULTILINE) == [version]

    def test_layout(self) -> None:
        """Signatures, flags, times and permissions are where tools expect them."""
        out = Phone().out(f"dumpsys package {OPERATOR}")

        assert f"  Package [{OPERATOR}] (" in out
        assert re.search(r"PackageSignatures\{\w+ version:2, signatures:\[\w{8}\]", out)
        assert re.search(r"firstInstallTime=2025-10-09 \d\d:\d\d:\d\d\n", out)
        assert "pkgFlags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP ]" in out
        assert "android.permission.INTERNET: granted=true\n" in out

    def test_missing(self) -> None:
        """A package that is not there is told, and that is no failure."""
        assert Phone().out("dumpsys package com.nope") == "Unable to find package: com.nope\n"

    def test_all(self) -> None:
        """Without a name every package is told."""
        out = Phone().out("dumpsys package")

        assert out.count("  Package [") == len(Phone().out("pm list packages").splitlines())


class TestWindow:
    """``dumpsys window``."""

    def test_focus(self) -> None:
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

    def test_parts(self) -> None:
        """Displays and windows can be asked for alone."""
        phone = Phone()

        assert "cur=1080x2400" in phone.out("dumpsys window displays")
        assert "Window #0 Window{" in phone.out("dumpsys window windows")
        assert "mAwake=true" in phone.out("dumpsys window policy")

    def test_shade(self) -> None:
        """An open notification shade has the focus."""
        phone = Phone()

        phone.out("cmd statusbar expand-notifications")
        assert "u0 NotificationShade}" in phone.out("dumpsys window displays")

        phone.out("cmd statusbar collapse")
        assert "NotificationShade" not in phone.out("dumpsys window displays")

    def test_unknown_part(self) -> None:
        """A part that there is not is told."""
        assert Phone().out("dumpsys window nope").startswith("Bad window command")


class TestActivity:
    """``dumpsys activity``."""

    def test_resumed(self) -> None:
        """The resumed activity is the one in front."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("dumpsys activity activities")

        assert re.search(
            rf"topResumedActivity=ActivityRecord\{{\w+ u0 {SETTINGS}/\.Settings t\d+\}}", out
        )
        assert "  ResumedActivity: ActivityRecord{" in out

    def test_top(self) -> None:
        """The top activity is told with its pid."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        out = phone.out("dumpsys activity top")

        pid = phone.out(f"pidof {SETTINGS}").strip()
        assert re.search(rf"ACTIVITY {SETTINGS}/\.Settings \w+ pid={pid} ", out)

    def test_recents(self) -> None:
        """What is in front is the most recent."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        assert re.search(rf"Recent #0: Task.*:{SETTINGS}\}}", phone.out("dumpsys activity recents"))

    def test_services(self) -> None:
        """The Operator's service is listed while it is bound."""
        phone = Phone()
        assert OPERATOR in phone.out("dumpsys activity services")

        phone.out(f"am force-stop {OPERATOR}")
        assert OPERATOR not in phone.out("dumpsys activity services")


class TestBattery:
    """``dumpsys battery``."""

    def test_level(self) -> None:
        """The level can be read and set, and set back."""
        phone = Phone()
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

        phone.out("dumpsys battery set level 7")
        assert "\n  level: 7\n" in phone.out("dumpsys battery")
        assert "UPDATES STOPPED" in phone.out("dumpsys battery")

        phone.out("dumpsys battery reset")
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

    def test_unplug(self) -> None:
        """An unplugged phone is charged by nothing."""
        phone = Phone()

        phone.out("dumpsys battery unplug")

        assert "\n  USB powered: false\n" in phone.out("dumpsys battery")
        assert "mIsPowered=false" in phone.out("dumpsys power")

    @pytest.mark.parametrize("words", ["set level x", "set wings 1", "explode"])
    def test_mistakes(self, words: str) -> None:
        """What makes no sense is told, and nothing changes."""
        phone = Phone()

        assert phone.out(f"dumpsys battery {words}") != ""
        assert "\n  level: 85\n" in phone.out("dumpsys battery")


class TestOthers:
    """The other services."""

    def test_power(self) -> None:
        """The screen's state shows in the power manager."""
        phone = Phone()
        assert "mWakefulness=Awake\n" in phone.out("dumpsys power")

        phone.out("input keyevent POWER")

        out = phone.out("dumpsys power")
        assert "mWakefulness=Asleep\n" in out
        assert "mHoldingDisplaySuspendBlocker=false\n" in out

    def test_display(self) -> None:
        """The display tells how the screen is held."""
        phone = Phone()
        phone.out("settings put system user_rotation 1")

        out = phone.out("dumpsys display")

        assert "orientation=1, " in out
        assert "deviceWidth=2400, deviceHeight=1080" in out

    def test_keyboard(self) -> None:
        """Without a focused field no keyboard is shown."""
        assert "mInputShown=false\n" in Phone().out("dumpsys input_method")

    def test_accessibility(self) -> None:
        """The Operator's service is enabled, and bound unless a fault keeps it off."""
        phone = Phone()
        assert f"Enabled services:{{{{{SERVICE}}}}}" in phone.out("dumpsys accessibility")
        assert "Bound services:{Service[label=" in phone.out("dumpsys accessibility")

        phone.device.faults.set("service_off")
        assert "Bound services:{}" in phone.out("dumpsys accessibility")

    def test_surface_flinger(self) -> None:
        """The display has an id."""
        out = Phone().out("dumpsys SurfaceFlinger --display-id")

        assert re.match(r"Display \d+ \(HWC display 0\): port=0", out)

    def test_unknown(self) -> None:
        """A service that there is not is told on standard error, and that is no failure."""
        assert Phone().run("dumpsys birds") == (0, "", "Can't find service: birds\n")

    def test_list(self) -> None:
        """The services can be listed."""
        out = Phone().out("dumpsys -l")

        assert out.startswith("Currently running services:\n")
        assert "  battery\n" in out

    def test_everything(self) -> None:
        """Without a name every service tells about itself."""
        out = Phone().out("dumpsys")

        assert out.count("DUMP OF SERVICE ") == len(Phone().out("dumpsys -l").splitlines()) - 1
