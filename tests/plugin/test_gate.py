"""The gate: the modules behind it are imported when a run uses the library, and not before."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run

# Before anything is collected; runs are separate processes: what is imported here would be
# imported there, too.
SHOWS_GATE = """
import sys

def pytest_sessionstart(session):
    print("open:", "pytest_clawperator.plugin.lifecycle" in sys.modules)
"""


@pytest.fixture
def run_apart(pytester: pytest.Pytester) -> Run:
    """Return the function that runs the suite in a process that has imported nothing yet."""

    def run_apart(*options: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "xdist", "-p", "no:cacheprovider", *options)

    return run_apart


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("def test_it(): pass", False), ("from pytest_clawperator import expect", True)],
)
def test_a_controller_finds_the_library_in_the_text_of_tests(
    pytester: pytest.Pytester, run_apart: Run, text: str, is_open: bool
) -> None:
    """With ``-n``, too, a project that does not use the library does not pay for it."""
    pytester.makeconftest(SHOWS_GATE)
    pytester.makepyfile(text)

    result = run_apart("-n1", "-s", "--collect-only")

    result.stdout.fnmatch_lines([f"*open: {is_open}"])


def test_an_import_inside_a_test_is_noticed_before_the_test(
    pytester: pytest.Pytester, run_apart: Run
) -> None:
    """What ``expect`` does at the end of a test happens for an import inside the test, too."""
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


def test_a_late_import_opens_the_gate(
    pytester: pytest.Pytester, run_apart: Run, simulator: Simulator, adb: str
) -> None:
    """For the next test, if another module imports the library; a fixture's device is named."""
    serial = simulator.serials[0]
    pytester.makepyfile(
        own_helper="import pytest_clawperator.errors",
        test_it=f"""
        import pytest

        TERMINAL = "pytest_clawperator.plugin.terminal"

        def test_first(request):
            assert not request.config.pluginmanager.hasplugin(TERMINAL)
            import own_helper

        def test_second(request):
            assert request.config.pluginmanager.hasplugin(TERMINAL)

        @pytest.fixture
        def phone():
            from importlib import import_module

            connect = import_module("pytest_clawperator").connect
            with connect(serial={serial!r}, adb={adb!r}) as client:
                yield client

        def test_third(phone): pass
        """,
    )

    result = run_apart()

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines([f"clawperator: {serial} (*"])
