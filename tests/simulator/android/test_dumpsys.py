"""``dumpsys``."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.simulator.apps.load import parse_app
from pytest_clawperator.simulator.screen.actions import TOAST_SECONDS
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Phone

SETTINGS = "com.android.settings"


def test_a_service_or_package_that_does_not_exist_is_reported_with_status_0() -> None:
    """That is not a failure."""
    phone = Phone()

    assert phone.run("dumpsys birds") == (0, "", "Can't find service: birds\n")
    assert phone.out("dumpsys package com.nope") == "Unable to find package: com.nope\n"


def test_what_is_in_front_is_resumed_and_focused() -> None:
    """Activities and windows agree."""
    phone = Phone()
    phone.out(f"am start -n {SETTINGS}/.Settings")
    record = rf"ActivityRecord\{{\w+ u0 {SETTINGS}/\.Settings t\d+\}}"
    window = rf"mCurrentFocus=Window\{{\w+ u0 {SETTINGS}/{SETTINGS}\.Settings\}}"

    activities = phone.out("dumpsys activity activities")
    assert re.search(rf"topResumedActivity={record}", activities)
    assert re.search(rf"  ResumedActivity: {record}", activities)
    assert re.search(rf"\s+{window}\n\s+mFocusedApp={record}\n", phone.out("dumpsys window"))


def test_the_screen_shows_in_several_services() -> None:
    """Its size, rotation, panel, and whether it is on."""
    phone = Phone()
    for dump, line in {
        "window displays": "cur=1080x2400",
        "window windows": "Window #0 Window{",
        "window policy": "mAwake=true",
        "battery": "\n  level: 85\n",
        "power": "mWakefulness=Awake\n",
        "SurfaceFlinger --display-id": " (HWC display 0): port=0 ",
        "display": "orientation=0, deviceWidth=1080, deviceHeight=2400",
    }.items():
        assert line in phone.out(f"dumpsys {dump}"), dump

    phone.out("settings put system user_rotation 1; input keyevent POWER")

    assert "orientation=1, deviceWidth=2400" in phone.out("dumpsys display")
    assert "mWakefulness=Asleep\n" in phone.out("dumpsys power")
    assert "mHoldingDisplaySuspendBlocker=false\n" in phone.out("dumpsys power")


def test_a_fault_leaves_the_service_enabled_but_not_bound() -> None:
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
    r"^    TextToastRecord\{\w+ \d+:com\.example\.toaster/u0 .* text=Saved duration=1\}$",
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


@pytest.mark.parametrize(
    ("variant", "name", "version"),
    [("release", OPERATOR, "0.5.3"), ("dev", f"{OPERATOR}.dev", "0.5.3-d")],
)
def test_a_package_has_the_lines_that_hosts_read(variant: str, name: str, version: str) -> None:
    """Versions, signatures, flags, times and permissions; without a name every package."""
    phone = Phone(operator=variant)
    out = phone.out(f"dumpsys package {name}")

    assert f"  Package [{name}] (" in out
    assert "    versionCode=503900 minSdk=21 targetSdk=35\n" in out
    assert re.findall(r"^\s*versionName=(.+)$", out, re.MULTILINE) == [version]
    assert re.search(r"PackageSignatures\{\w+ version:2, signatures:\[\w{8}\]", out)
    assert re.search(r"firstInstallTime=2025-10-09 \d\d:\d\d:\d\d\n", out)
    assert "pkgFlags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP ]" in out
    assert "android.permission.INTERNET: granted=true\n" in out
    everything = phone.out("dumpsys package").count("  Package [")
    assert everything == len(phone.out("pm list packages").splitlines())
