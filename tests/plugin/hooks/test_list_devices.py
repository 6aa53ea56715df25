"""``pytest_clawperator_list_devices``: another inventory."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run


def test_listed_devices_are_used_and_no_others(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """Devices that a conftest lists are used, and no others are looked for."""
    pytester.makeconftest(
        f"""
        from pytest_clawperator.contracts.device_info import DeviceInfo
        from pytest_clawperator.devices.pool import Candidate

        def pytest_clawperator_list_devices(config):
            info = DeviceInfo(serial={simulator.serials[1]!r}, key="farm-7", model="Farm phone")
            return [Candidate(info=info, adb={adb!r})]
        """
    )
    pytester.makepyfile("def test_it(clawperator):\n    print('on', clawperator.serial)\n")

    result = run_plain("-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            f"clawperator: {simulator.serials[1]} (Farm phone), no Operator, adb {adb}",
            f"*on {simulator.serials[1]}*",
        ]
    )


def test_none_leaves_it_to_others(pytester: pytest.Pytester, run: Run) -> None:
    """A hook that gives None lets the built-in one look."""
    pytester.makeconftest("def pytest_clawperator_list_devices(config):\n    return None\n")
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run()

    result.assert_outcomes(passed=1)


def test_an_empty_farm(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A farm without devices is an error that says so."""
    pytester.makeconftest("def pytest_clawperator_list_devices(config):\n    return []\n")
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run_plain()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*NO_DEVICES: 1 worker needs 1 device, but there are 0: none"])
