"""The gate: the rooms are imported when a run uses devices or the library, and not before."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

# Run in processes of their own: what is imported here would be imported there, too.
SHOWS_ROOMS = """
import sys

def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        print("rooms:", "pytest_clawperator.plugin.rooms" in sys.modules)
"""


def test_a_controller_without_devices_imports_no_rooms(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """With ``-n``, too, a project that does not use the library does not pay for it."""
    pytester.makeconftest(SHOWS_ROOMS)
    pytester.makepyfile("def test_it(): pass")

    result = run_workers("-n1", "-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*rooms: False"])


def test_a_controller_finds_the_library_in_the_text_of_tests(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """A suite that imports the library and uses no device has its summaries with ``-n``."""
    pytester.makeconftest(SHOWS_ROOMS)
    pytester.makepyfile(
        """
        from pytest_clawperator import expect

        def test_it():
            expect.set_timeout(1)
        """
    )

    result = run_workers("-n1", "-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*rooms: True"])


def test_a_test_that_imports_the_library_opens_the_gate_for_the_next(
    pytester: pytest.Pytester, run_workers: Run
) -> None:
    """What is imported only while a test runs is noticed before the test after it."""
    pytester.makepyfile(
        """
        TERMINAL = "pytest_clawperator.plugin.reporting.terminal"

        def test_first(request):
            assert not request.config.pluginmanager.hasplugin(TERMINAL)
            import pytest_clawperator.errors

        def test_second(request):
            assert request.config.pluginmanager.hasplugin(TERMINAL)
        """
    )

    result = run_workers()

    result.assert_outcomes(passed=2)


def test_a_fixture_that_imports_the_library_late_is_noticed(
    pytester: pytest.Pytester, run_workers: Run, simulator: Simulator, adb: str
) -> None:
    """The client of such a fixture has its device named, as any other."""
    serial = simulator.serials[0]
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def phone():
            from pytest_clawperator import connect

            with connect(serial={serial!r}, adb={adb!r}) as client:
                yield client

        def test_it(phone): pass
        """
    )

    result = run_workers()

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"clawperator: {serial} (*"])
