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
        print("rooms:", "pytest_clawperator.plugin.lifecycle" in sys.modules)
"""


@pytest.fixture
def run_apart(pytester: pytest.Pytester) -> Run:
    """Return the function that runs the suite in a process that has imported nothing yet."""

    def run_apart(*options: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "xdist", "-p", "no:cacheprovider", *options)

    return run_apart


def test_a_controller_without_devices_imports_no_rooms(
    pytester: pytest.Pytester, run_apart: Run
) -> None:
    """With ``-n``, too, a project that does not use the library does not pay for it."""
    pytester.makeconftest(SHOWS_ROOMS)
    pytester.makepyfile("def test_it(): pass")

    result = run_apart("-n1", "-s", "--collect-only")

    result.stdout.fnmatch_lines(["*rooms: False"])


def test_a_controller_finds_the_library_in_the_text_of_tests(
    pytester: pytest.Pytester, run_apart: Run
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

    result = run_apart("-n1", "-s", "--collect-only")

    result.stdout.fnmatch_lines(["*rooms: True"])


def test_an_import_inside_a_test_is_noticed_before_the_test(
    pytester: pytest.Pytester, run_apart: Run
) -> None:
    """What ``expect`` does at the end of a test is there for an import inside the test, too."""
    pytester.makepyfile(
        """
        def test_soft():
            from pytest_clawperator import expect

            expect.set_timeout(77)
            expect.soft.poll(lambda: 1, timeout=0.01).to_equal(2)

        def test_later():
            from pytest_clawperator import expect

            assert expect.settings.timeout != 77
        """
    )

    result = run_apart()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*CONFIGURATION_INVALID*")


def test_a_test_that_imports_the_library_indirectly_opens_the_gate_for_the_next(
    pytester: pytest.Pytester, run_apart: Run
) -> None:
    """What only another module imports while a test runs is noticed before the test after it."""
    pytester.makepyfile(
        own_helper="import pytest_clawperator.errors",
        test_it="""
        TERMINAL = "pytest_clawperator.plugin.terminal"

        def test_first(request):
            assert not request.config.pluginmanager.hasplugin(TERMINAL)
            import own_helper

        def test_second(request):
            assert request.config.pluginmanager.hasplugin(TERMINAL)
        """,
    )

    result = run_apart()

    result.assert_outcomes(passed=2)


def test_a_fixture_that_imports_the_library_late_is_noticed(
    pytester: pytest.Pytester, run_apart: Run, simulator: Simulator, adb: str
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

    result = run_apart()

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"clawperator: {serial} (*"])
