"""``dumpsys``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.screen.actions import TOAST_SECONDS
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Phone


class TestOthers:
    """The other services."""

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


class TestServices:
    """The keyboard and the Operator's service."""

    def test_a_fault_leaves_the_service_enabled_but_not_bound(self) -> None:
        """The Operator's service is enabled, and bound unless a fault keeps it off."""
        phone = Phone()
        assert f"Enabled services:{{{{{SERVICE}}}}}" in phone.out("dumpsys accessibility")
        assert "Bound services:{Service[label=" in phone.out("dumpsys accessibility")

        phone.device.faults.set("service_off")
        assert "Bound services:{}" in phone.out("dumpsys accessibility")


TOASTER = parse_app(
    """
    package: com.example.toaster
    name: Toaster
    start: home
    screens:
      home: {title: Toaster, items: [{button: Save, on_tap: {toast: Saved}}]}
    """
)

RECORD = re.compile(
    r"^    TextToastRecord\{\w+ \d+:com\.example\.toaster/u0a\d+ .* text=Saved duration=1\}$",
    re.MULTILINE,
)


def toaster(**options: Any) -> Phone:
    """Return a phone whose app has just shown a toast."""
    phone = Phone(apps=[TOASTER], **options)
    phone.system.ui.launching.start_app("com.example.toaster")
    nodes = [node for window in phone.system.ui.view.windows() for node in window.root.walk()]
    button = next(node.bounds for node in nodes if node.text == "Save")
    phone.out(f"input tap {button.left + 5} {button.top + 5}")
    return phone


def test_a_toast_is_listed_while_it_is_up() -> None:
    """The record has the app and the text, until the toast goes."""
    phone = toaster()

    assert RECORD.search(phone.out("dumpsys notification"))

    phone.clock.now += TOAST_SECONDS + 0.1
    assert "Toast" not in phone.out("dumpsys notification")


def test_older_androids_do_not_know_the_text() -> None:
    """Before API level 30 the app draws its toasts, and the system has only a record."""
    dump = toaster(api=29).out("dumpsys notification")

    assert " ToastRecord{" in dump
    assert "Saved" not in dump


class TestPackage:
    """``dumpsys package``."""

    @pytest.mark.parametrize(
        ("variant", "name", "version"),
        [("release", OPERATOR, "0.5.3"), ("dev", f"{OPERATOR}.dev", "0.5.3-d")],
    )
    def test_the_version_lines_are_those_the_host_reads(
        self, variant: str, name: str, version: str
    ) -> None:
        """The Operator's version stands in the lines that the host program reads."""
        out = Phone(operator=variant).out(f"dumpsys package {name}")

        assert "    versionCode=503900 minSdk=21 targetSdk=35\n" in out
        assert re.findall(r"^\s*versionName=(.+)$", out, re.MULTILINE) == [version]

    def test_signatures_flags_times_and_permissions_are_printed(self) -> None:
        """Signatures, flags, times and permissions are where tools expect them."""
        out = Phone().out(f"dumpsys package {OPERATOR}")

        assert f"  Package [{OPERATOR}] (" in out
        assert re.search(r"PackageSignatures\{\w+ version:2, signatures:\[\w{8}\]", out)
        assert re.search(r"firstInstallTime=2025-10-09 \d\d:\d\d:\d\d\n", out)
        assert "pkgFlags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP ]" in out
        assert "android.permission.INTERNET: granted=true\n" in out

    def test_a_missing_package_is_reported_with_status_0(self) -> None:
        """A package that is not there is reported, and that is no failure."""
        assert Phone().out("dumpsys package com.nope") == "Unable to find package: com.nope\n"

    def test_without_a_name_every_package_is_printed(self) -> None:
        """Without a name every package is reported."""
        out = Phone().out("dumpsys package")

        assert out.count("  Package [") == len(Phone().out("pm list packages").splitlines())
