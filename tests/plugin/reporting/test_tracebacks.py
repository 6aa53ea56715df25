"""Tracebacks of our errors end in the test's own line."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")


def test_an_error_that_the_test_was_handling_is_shown_too(
    pytester: pytest.Pytester, run: Run
) -> None:
    """An error that the test was dealing with when the device failed is shown too."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            try:
                raise ValueError("of the test")
            except ValueError:
                clawperator.device.shell("sim fault operator_crash times=1")
                clawperator.home()
        """
    )

    result = run(*QUICK)

    result.stdout.fnmatch_lines(
        [
            "E * ValueError: of the test",
            ">           clawperator.home()",
            "E *OperatorNotReadyError: [[]*[]] OPERATOR_CRASHED: *",
        ]
    )
    result.stdout.no_fnmatch_line("*pipeline.py*")


def test_a_full_trace_shows_the_inside_of_the_package(pytester: pytest.Pytester, run: Run) -> None:
    """``--full-trace`` shows where inside of the package it happened."""
    pytester.makepyfile(
        """
        def test_crash(clawperator):
            clawperator.device.shell("sim fault operator_crash times=1")
            clawperator.home()
        """
    )

    result = run("--full-trace", *QUICK)

    result.stdout.fnmatch_lines(["*pipeline.py*"])
