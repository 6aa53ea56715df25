"""A glance at traces, and the run to compare one with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_clawperator.report.trace import Outcome, Trace, glance, last_passed
from tests.report.page.made import END, HEAD, write_trace

NODEID = HEAD.nodeid


def traced(results: Path, run: str, outcome: Outcome, *, nodeid: str = NODEID) -> Trace:
    """Write the trace of a test in the folder of a run."""
    head, end = replace(HEAD, nodeid=nodeid), replace(END, outcome=outcome)
    return write_trace(results / run / "test_made" / "trace", [head, end])


def test_a_failed_test_is_compared_with_the_last_run_that_passed(tmp_path: Path) -> None:
    """Later runs that failed, and tests of other names in the same folder, do not count."""
    traced(tmp_path, "run-1", "passed")
    expected = traced(tmp_path, "run-2", "passed")
    traced(tmp_path, "run-3", "failed")
    traced(tmp_path, "run-4", "passed", nodeid="tests/test_made.py::test_other")
    failed = traced(tmp_path, "run-5", "failed")

    found = last_passed(failed, run="run-5")
    assert found is not None
    assert found.folder == expected.folder


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_what_passed_or_has_no_other_run_is_compared_with_nothing(
    tmp_path: Path, outcome: Outcome
) -> None:
    """A page of a test that passed has no second run in it, which would double its size."""
    if outcome == "passed":
        traced(tmp_path, "run-1", "passed")
    trace = traced(tmp_path, "run-2", outcome)

    assert last_passed(trace, run="run-2") is None


def test_a_glance_tells_how_a_test_ended(tmp_path: Path) -> None:
    """The first and the last line of a trace are enough."""
    seen = glance(traced(tmp_path, "run-1", "failed").folder)

    assert seen is not None
    assert (seen.nodeid, seen.outcome, seen.start, seen.stop) == (NODEID, "failed", 100.0, 900.0)
