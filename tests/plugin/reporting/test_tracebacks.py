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


def test_summary_lines_say_what_happened_in_80_columns(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the class of an error nor the device takes the place of what happened."""
    monkeypatch.setenv("COLUMNS", "80")
    pytester.makepyfile(
        test_x="""
        import pytest
        from pytest_clawperator import expect

        pytestmark = pytest.mark.claw_timeout(0.2)

        def test_flaky(clawperator):
            clawperator.click(text="Go")

        def test_seen(clawperator):
            expect(clawperator.node(text="Go")).to_be_visible()

        @pytest.fixture
        def gone(clawperator):
            clawperator.click(text="Go")

        def test_setup(gone): pass

        def test_own(): assert 1 == 2
        """
    )

    result = run(*QUICK, "-rfE", "--junit-xml=junit.xml")

    result.stdout.fnmatch_lines(
        [
            "E  *NodeNotFoundError: [[]127.0.0.1:*[]] NODE_NOT_FOUND: click: no node*",
            "FAILED test_x.py::test_flaky - NODE_NOT_FOUND: click: no node(text='Go') *...",
            "FAILED test_x.py::test_seen - EXPECTATION_FAILED: expected node(text='Go') *...",
            "FAILED test_x.py::test_own - assert 1 == 2",
            "ERROR test_x.py::test_setup - NODE_NOT_FOUND: click: no node(text='Go') *...",
        ]
    )
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert '<failure message="NODE_NOT_FOUND: click: no node(text=' in junit


def test_summary_lines_of_workers_say_what_happened(
    pytester: pytest.Pytester, run_workers: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several devices the body of a failure names the device, and its summary does not."""
    monkeypatch.setenv("COLUMNS", "80")
    pytester.makepyfile(
        test_x="""
        import pytest

        @pytest.mark.claw_timeout(0.2)
        @pytest.mark.parametrize("number", range(2))
        def test_it(clawperator, number):
            clawperator.click(text="Go")
        """
    )

    result = run_workers("-n", "2", "--claw-device=sim", *QUICK, "-rf")

    result.stdout.fnmatch_lines(
        [
            "E  *NodeNotFoundError: [[]127.0.0.1:*[]] NODE_NOT_FOUND: click: no node*",
            "FAILED test_x.py::test_it[[]?[]] - NODE_NOT_FOUND: click: no node(text='Go')*...",
            "FAILED test_x.py::test_it[[]?[]] - NODE_NOT_FOUND: click: no node(text='Go')*...",
        ]
    )
