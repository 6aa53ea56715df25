"""``dumpsys meminfo`` and ``dumpsys gfxinfo``."""

from __future__ import annotations

import re

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone


def test_the_memory_of_an_app_is_told_in_columns() -> None:
    """Clients read the numbers of the line TOTAL; they are the sums of those above."""
    phone = Phone()
    pid = phone.out(f"pidof {OPERATOR}").strip()

    text = phone.out(f"dumpsys meminfo {OPERATOR}")

    assert f"** MEMINFO in pid {pid} [{OPERATOR}] **" in text
    names = "Native Heap|Dalvik Heap|EGL mtrack|Unknown|TOTAL"
    rows = re.findall(rf"^ +({names}) +([0-9]+) ", text, re.MULTILINE)
    *parts, (_, total) = rows
    assert abs(sum(int(number) for _, number in parts) - int(total)) < 4


def test_the_memory_of_all_is_told_by_process() -> None:
    """Every process is there, and the total."""
    text = Phone().out("dumpsys meminfo")

    assert re.search(r"^ +[0-9,]+K: system_server \(pid [0-9]+\)$", text, re.MULTILINE)
    assert re.search("^Total RAM: 7,811,328K", text, re.MULTILINE)


def test_frames_are_counted() -> None:
    """Clients look for jank."""
    text = Phone().out(f"dumpsys gfxinfo {OPERATOR}")

    assert re.search(r"^Janky frames: [0-9]+ \([0-9.]+%\)$", text, re.MULTILINE)


@pytest.mark.parametrize("service", ["meminfo", "gfxinfo"])
def test_an_app_that_does_not_run_is_named(service: str) -> None:
    """It is no error, as on a phone."""
    assert Phone().out(f"dumpsys {service} com.nope") == "No process found for: com.nope\n"


def test_the_input_manager_tells_how_the_screen_is_turned() -> None:
    """The orientation is that of the display."""
    phone = Phone()
    phone.out("settings put system accelerometer_rotation 0; settings put system user_rotation 1")

    assert "SurfaceOrientation: 1\n" in phone.out("dumpsys input")
