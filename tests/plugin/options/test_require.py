"""``--claw-require``: what every device of the run must be like."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

TELLS_MODEL = """
def test_it(clawperator):
    print("on", clawperator.device.info.model, clawperator.serial)
"""


@pytest.mark.parametrize(
    ("options", "ini", "model"),
    [
        (["--claw-require", "model=Pixel 8"], "", "Pixel 8"),
        (["--claw-require", "model=*9; api=>=30; emulator=false; form=phone"], "", "Pixel 9"),
        ([], "claw_require = model=Pixel 8", "Pixel 8"),
        (["--claw-require", "model=Pixel 9"], "claw_require = model=Pixel 8", "Pixel 9"),
    ],
)
def test_only_a_device_that_meets_the_requirements_is_used(
    pytester: pytest.Pytester, run_plain: Run, adb: str, options: list[str], ini: str, model: str
) -> None:
    """Only a device that is like that is used; the option wins over the ini twin."""
    pytester.makepyfile(TELLS_MODEL)
    pytester.makeini(f"[pytest]\n{ini}\n")

    result = run_plain("-s", "--claw-device", "auto", "--claw-adb", adb, *options)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"clawperator: *(Google {model}, *", f"*on {model} *"])


def test_nobody_will_do(
    pytester: pytest.Pytester, run_plain: Run, adb: str, simulator: Simulator
) -> None:
    """Where no device is like that, it is said of each why."""
    pytester.makepyfile(TELLS_MODEL)
    devices = ("--claw-device", "auto", "--claw-adb", adb)

    result = run_plain(*devices, "--claw-require", "api=<30; form=tablet")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "E *NO_DEVICES: no device meets --claw-require: *",
            "*hint: Connect one that does, or ask for less.",
        ]
    )
    lacks = "api='<30' is required, the device has 36, form='tablet' is required, the device has"
    for serial in simulator.serials:
        result.stdout.fnmatch_lines([f"E *{serial}: {lacks} 'phone'*"])
