"""A run that only lists something touches no device, and prints nothing about devices."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

# A search for devices leaves a file.
CONFTEST = """
from pathlib import Path

def pytest_clawperator_list_devices():
    Path(__file__).with_name("touched").touch()
    raise RuntimeError("devices were searched")
"""
SUITE = """
import pytest

@pytest.mark.claw_device(form="tablet")
@pytest.mark.claw_app("com.example.absent")
def test_it(clawperator):
    raise AssertionError
"""
AUTO = ("--claw-device=auto", "-n", "auto", "--claw-strict")
# The classes depend on the devices, which only the ids of tests show.
CLASSES = ("--claw-device=auto", "--claw-matrix=each")
DEVICES = {
    "--collect-only": (
        AUTO,
        ("--claw-device=sim",),
        ("--claw-device=auto", "-n", "2"),
        ("--claw-device=sim", "--claw-matrix=form=phone,tablet"),
    ),
    "--fixtures": (AUTO, CLASSES),
}


@pytest.mark.parametrize(
    "option",
    [
        *("--fixtures", "--fixtures-per-test", "--collect-only", "--markers", "--help"),
        *("--version", "--setup-plan"),
    ],
)
def test_no_device_is_touched(pytester: pytest.Pytester, run_workers: Run, option: str) -> None:
    """Neither searched for, nor named, whatever the options ask for."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)

    for devices in DEVICES.get(option, (CLASSES,)):
        result = run_workers(option, *devices)

        assert result.ret == pytest.ExitCode.OK, devices
        assert not (pytester.path / "touched").exists(), devices
        assert "clawperator: " not in result.stdout.str() + result.stderr.str(), devices
        assert not (pytester.path / "claw-results").exists(), devices
