"""Every kind of test has the same verdicts, in every report and however it is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection

import pytest

from tests.acceptance.verdict_suite import said, write_suite
from tests.acceptance.verdict_table import CHANNELS, GREEN, KINDS, MODES, USUAL, Cell, verdict
from tests.plugin.conftest import QUICK, Run, nothing_from_outside, run_workers

__all__ = ["nothing_from_outside", "run_workers"]

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
OTHERS = ("anyio.pytest_plugin", "allure_pytest.plugin", "_hypothesis_pytestplugin")
REPORTS = ("--junitxml=junit.xml", "--alluredir=allure")
OPTIONS = ("-rA", "--no-fold-skipped", "--show-capture=no", "--tb=short", "--claw-device=sim:2")
SKILLS = ("--claw-skills=skills/skills-registry.json", ".")

HERE = [kind for kind in KINDS if kind != "group" or sys.version_info >= (3, 11)]
ALL = [(kind, situation) for kind in HERE for situation in USUAL if verdict(kind, situation)]
# The rows and columns in which kinds of tests differ most.
TELLING = [
    (kind, situation)
    for kind, situation in ALL
    if kind == "function" or situation in ("soft_then_skip", "xfail_trouble", "strict_xpass")
]
RETRIED = [
    (kind, situation)
    for kind, situation in ALL
    if kind in ("function", "unittest", "subtests") and situation in ("fails", "trouble_once")
]


def compare(pytester: pytest.Pytester, run: Run, mode: str, cells: Collection[Cell]) -> None:
    """Run these tests, and compare each report with the table."""
    pytest.importorskip("allure_pytest")
    write_suite(pytester.path, cells)
    skills = SKILLS if "skill" in {kind for kind, _ in cells} else ()

    result = run(
        *(f"-p{name}" for name in OTHERS), *REPORTS, *OPTIONS, *QUICK, *skills, *MODES[mode][1]
    )

    found = said(pytester.path, result.stdout.str())
    wanted = {cell: str(verdict(*cell, mode)) for cell in cells}
    differences = [
        f"{cell}: {found.get(cell)}, wanted {right}: {CHANNELS[right]}"
        for cell, right in wanted.items()
        if found.get(cell) != CHANNELS[right]
    ]
    assert not differences, "\n".join(differences)
    assert found.keys() == wanted.keys()
    is_green = {*wanted.values()} <= {*GREEN}
    assert result.ret == (pytest.ExitCode.OK if is_green else pytest.ExitCode.TESTS_FAILED)


@pytest.mark.parametrize("mode", MODES if IS_SOAK else ("plain",))
def test_all_kinds_of_tests(pytester: pytest.Pytester, run_workers: Run, mode: str) -> None:
    """The table, cell by cell: in the terminal, JUnit XML, Allure, the index and the trace."""
    compare(pytester, run_workers, mode, ALL if IS_SOAK else TELLING)


def test_a_retry_counts_once(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A test that passes on another device has passed, and nothing but that."""
    compare(pytester, run_workers, "workers", RETRIED)


@pytest.mark.parametrize("mode", ["plain", "workers"])
def test_a_run_of_green_tests_is_green(
    pytester: pytest.Pytester, run_workers: Run, mode: str
) -> None:
    """And one of them whose device is released badly makes it fail, in all reports."""
    cells = [cell for cell in ALL if cell[0] == "function" and verdict(*cell) in GREEN]
    compare(pytester, run_workers, mode, cells)
