"""``pytest_clawperator_simulator_scenario``: how the simulated phones of a run are."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_a_conftest_says_what_phones_are_like(pytester: pytest.Pytester, run_plain: Run) -> None:
    """A conftest gives the phones another Android and a fault."""
    pytester.makeconftest(
        """
        from pytest_clawperator.plugin.phones import SimulatorScenario

        def pytest_clawperator_simulator_scenario(config):
            return SimulatorScenario(api=33, faults=["step_error type=click code=GESTURE_FAILED"])
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import StepFailedError

        def test_it(clawperator, clawperator_device):
            assert clawperator_device.api_level == 33
            with pytest.raises(StepFailedError, match="GESTURE_FAILED"):
                clawperator.click(text="Settings", timeout=0)
        """
    )

    result = run_plain("--claw-device", "sim")

    result.assert_outcomes(passed=1)
