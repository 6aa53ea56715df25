"""Through a host that runs executions only, what needs more is skipped by its name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.service import RunningService, executions_only
from tests.plugin.conftest import Run

SUITE = """
import pytest
from pytest_clawperator import expect

PACKAGE = "com.android.settings"

@pytest.fixture
def quiet(clawperator):
    clawperator.device.airplane_mode = True

def test_execution(clawperator):
    clawperator.open_app(PACKAGE)

def test_shell(clawperator):
    clawperator.device.shell("id")

def test_fixture(clawperator, quiet):
    raise AssertionError("the test was not skipped")

@pytest.mark.claw_app(PACKAGE, clear=True)
def test_clear(clawperator):
    raise AssertionError("the test was not skipped")

@pytest.mark.claw_app("com.example.absent")
def test_absent(clawperator):
    raise AssertionError("the test was not skipped")

def test_log(clawperator):
    ran = clawperator.execute([{"id": "nap", "type": "sleep", "params": {"durationMs": 0}}])
    assert not any("password" in entry.message for entry in ran.log)

def test_transport(clawperator_transport):
    raise AssertionError("the test was not skipped")

def test_checkpoint(clawperator_checkpoint):
    clawperator_checkpoint("ready", build=lambda claw: None)
"""

NAMED = [
    "*test_*.py:13: device.shell is not possible here: http://* runs executions and nothing else",
    "*device.airplane_mode is not possible here: http://*",
    "*claw_app('com.android.settings'): device.clear_data is not possible here: http://*",
    "*claw_app('com.example.absent'): it is not installed on *",
    "*the log of an execution is not here: the other host keeps the device's log to itself",
    "*clawperator_transport: the device behind http://* cannot be reached directly",
    "*a device behind a url has no checkpoints",
]


@pytest.fixture
def host(simulator: Simulator) -> Iterator[RunningService]:
    """Run a host that offers what the published program does."""
    with executions_only(simulator) as host:
        yield host


def test_what_needs_adb_is_skipped_by_name(
    pytester: pytest.Pytester, run_plain: Run, host: RunningService, simulator: Simulator
) -> None:
    """Each reason names what was asked for and the host; executions run."""
    pytester.makepyfile(SUITE)

    result = run_plain("--claw-device", f"{host.url}/{simulator.serials[0]}")

    result.assert_outcomes(passed=1, skipped=7)
    for reason in NAMED:
        result.stdout.fnmatch_lines([f"SKIPPED {reason}".replace("[", "[[]")])


def test_with_strict_nothing_is_skipped(
    pytester: pytest.Pytester, run_plain: Run, host: RunningService, simulator: Simulator
) -> None:
    """A run that must be complete fails where it cannot be."""
    pytester.makepyfile(SUITE)

    result = run_plain("--claw-device", f"{host.url}/{simulator.serials[0]}", "--claw-strict")

    result.assert_outcomes(passed=1, failed=3, errors=4)


def test_what_failed_before_counts_for_more(
    pytester: pytest.Pytester, run_plain: Run, host: RunningService, simulator: Simulator
) -> None:
    """A soft failure is not hidden by a skip after it, and a teardown is not skipped."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import expect

        def test_soft(clawperator):
            expect.soft(clawperator).to_be_in_app("com.example.nowhere", timeout=0)
            clawperator.device.shell("id")

        @pytest.fixture
        def cleaning(clawperator):
            yield
            clawperator.device.shell("id")

        def test_teardown(cleaning):
            pass
        """
    )

    result = run_plain("--claw-device", f"{host.url}/{simulator.serials[0]}")

    result.assert_outcomes(failed=1, passed=1, errors=1)
