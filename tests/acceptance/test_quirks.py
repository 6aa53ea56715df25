"""Tests on phones of many makers: the same work under each quirk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.connecting import connect
from pytest_clawperator.devices.health import screen_state
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.phone_kinds import QUIRKS
from tests.doubles.pytest_process import TOP, run_pytest

SETTINGS = "com.android.settings"
SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
# Here nothing can work: what the Operator answers never comes into the log.
HOPELESS = {"log-suppressed"}
# Phones that only take longer, so they are tried in long runs; lessons about time fail on them.
SLOW = {"slow-am", "slow-dump"}
WORKING = [name for name in QUIRKS if name not in HOPELESS | (set() if SOAK else SLOW)]
# The quirks that change what a run of pytest has to do; every other is tried on a client below,
# and runs the lessons in long runs.
LESSONS_ALWAYS = ("two-displays", "old-toybox", "guarded-adb", "secure-screen")
FEW = [f"example_suite/test_{name}.py" for name in ("01_first_test", "08_goldens", "11_devices")]
GUARDED = "USB debugging \\(Security settings\\)"
OTHER_PICTURE = "to match screenshot.*pixels that differ"
#: The lessons that fail on such a phone, and what they say: that it is the phone.
FAILING: Mapping[str, Mapping[str, str]] = {
    "guarded-adb": {
        "test_emptying_a_field": GUARDED,
        "test_a_permission_given_before": GUARDED,
        "test_the_device_is_turned": GUARDED,
        "test_keys_and_shell": GUARDED,
    },
    "secure-screen": {"test_a_golden_picture": "found a black picture(.*\n)*.*FLAG_SECURE"},
    "rtl": {"test_a_golden_picture": OTHER_PICTURE},
    "cutout": {"test_a_golden_picture": OTHER_PICTURE},
}


@pytest.mark.parametrize("quirk", WORKING if SOAK else LESSONS_ALWAYS)
def test_the_lessons_pass_on_a_phone_with_the_quirk(quirk: str, tmp_path: Path) -> None:
    """The example suite passes, except for what such a phone cannot do, which is reported."""
    expected = FAILING.get(quirk, {})
    lessons = ["example_suite"] if SOAK and quirk not in SLOW else FEW

    ran = run_lessons(lessons, f"sim:phone+{quirk}", tmp_path)

    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", ran.stdout, re.MULTILINE))
    assert failed == {name for name in expected if name in ran.stdout}, ran.stdout + ran.stderr
    passed = re.findall(r"^PASSED ", ran.stdout, re.MULTILINE)
    assert len(passed) >= 8, ran.stdout
    for name in failed:
        assert re.search(expected[name], ran.stdout), ran.stdout


def run_lessons(lessons: list[str], device: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lessons on a quick phone of a kind, in a copy: failures write pictures beside it."""
    shutil.copytree(TOP / "example_suite", folder / "example_suite")
    options = ["-o", "claw_sim_time_scale=0.02", "-o", "claw_timeout=2", "-rA"]
    # Lessons for newer phones are skipped on old ones, also if the variable CI is set.
    options += ["--claw-device", device, "--claw-no-strict", "--claw-output", "results"]
    return run_pytest(*options, *lessons, folder=folder, columns=300)


@pytest.fixture(scope="module")
def phones() -> Iterator[Simulator]:
    """Start a phone for each quirk that lets a phone work."""
    kinds = ",".join(f"phone+{quirk}" for quirk in WORKING)
    with Simulator(devices=kinds, time_scale=0.1) as phones:
        yield phones


@pytest.mark.parametrize("quirk", WORKING)
def test_pictures_and_the_state_of_the_screen_are_right(quirk: str, phones: Simulator) -> None:
    """The picture is not dark, and the phone reports whether its screen is on."""
    serial = phones.serials[WORKING.index(quirk)]
    with connect(serial, adb=f"{phones.adb_host}:{phones.adb_port}") as claw:
        claw.open_app(SETTINGS)
        claw.scroll_and_click(text="About phone")
        expect(claw.node(text="Android version")).to_be_visible()
        picture = claw.screenshot()
        awake = screen_state(claw.device)
        slept = claw.device.shell("input keyevent SLEEP")
        asleep = screen_state(claw.device)

    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(picture) > 10_000
    assert (awake.on, asleep.on) == (True, "INJECT_EVENTS" in slept.stderr)
