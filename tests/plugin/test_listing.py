"""Whoever asks pytest only what there is touches no device, and reads nothing about devices."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

# Whoever looks for devices leaves a file.
CONFTEST = """
from pathlib import Path

import pytest

def pytest_clawperator_list_devices():
    Path(__file__).with_name("touched").touch()
    raise RuntimeError("nobody may ask")
"""
SUITE = """
import pytest

@pytest.mark.claw_device(form="tablet")
@pytest.mark.claw_app("com.example.absent")
def test_it(clawperator):
    raise AssertionError
"""
LISTINGS = (
    "--fixtures",
    "--fixtures-per-test",
    "--collect-only",
    "--markers",
    "--help",
    "--version",
    "--setup-plan",
)


@pytest.mark.parametrize("option", LISTINGS)
@pytest.mark.parametrize(
    "more",
    [
        ["--claw-device=sim"],
        ["--claw-device=auto", "--claw-strict"],
        ["--claw-device=sim", "--claw-matrix=form=phone,tablet"],
    ],
    ids=" ".join,
)
def test_no_device_is_touched(
    pytester: pytest.Pytester, run_plain: Run, option: str, more: list[str]
) -> None:
    """What lists something looks for no device and prints no line about devices."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)

    result = run_plain(option, *more)

    assert result.ret == pytest.ExitCode.OK
    assert not (pytester.path / "touched").exists()
    assert "clawperator: " not in result.stdout.str() + result.stderr.str()
    assert not (pytester.path / "claw-results").exists()


@pytest.mark.parametrize("option", [one for one in LISTINGS if one != "--collect-only"])
def test_not_even_for_the_classes_of_a_matrix(
    pytester: pytest.Pytester, run_plain: Run, option: str
) -> None:
    """Which devices there are matters only to the ids of tests, which these do not list."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)

    result = run_plain(option, "--claw-device=auto", "--claw-matrix=each")

    assert result.ret == pytest.ExitCode.OK
    assert not (pytester.path / "touched").exists()
