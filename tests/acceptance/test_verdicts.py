"""Every kind of test has the same verdicts, in every report and however it is run."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.yaml_source  # noqa: F401 - see above
from pytest_clawperator.report.index import read_run
from tests.acceptance.verdict_suite import said, write_suite
from tests.acceptance.verdict_table import CHANNELS, GREEN, KINDS, MODES, USUAL, Cell, verdict
from tests.plugin.conftest import QUICK, Run, nothing_from_outside, run_workers

__all__ = ["nothing_from_outside", "run_workers"]

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
# What kinds of tests need; others that happen to be installed make every run start later.
OTHERS = {
    "async": ("-panyio.pytest_plugin",),
    "hypothesis": ("-p_hypothesis_pytestplugin",),
    "spare": ("--claw-spare-devices=1",),
    "skill": ("--claw-skills=skills/skills-registry.json", "."),
}
REPORTS = ("-pallure_pytest.plugin", "--junitxml=junit.xml", "--alluredir=allure")
OPTIONS = ("-rA", "--no-fold-skipped", "--show-capture=no", "--tb=short", "--claw-device=sim:3")

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


def run_suite(run: Run, mode: str, cells: Collection[Cell], *options: str) -> pytest.RunResult:
    """Run these tests, with all reports."""
    pytest.importorskip("allure_pytest")
    more = [one for kind in {kind for kind, _ in cells} for one in OTHERS.get(kind, ())]
    return run(*REPORTS, *OPTIONS, *QUICK, *more, *MODES[mode][1], *options)


def compare(pytester: pytest.Pytester, run: Run, mode: str, cells: Collection[Cell]) -> None:
    """Run these tests, and compare each report with the table."""
    write_suite(pytester.path, cells)

    result = run_suite(run, mode, cells)

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


@pytest.mark.skipif(not IS_SOAK, reason="by design: make soak runs each test alone")
@pytest.mark.parametrize("kind", HERE)
def test_a_test_alone(pytester: pytest.Pytester, run_workers: Run, kind: str) -> None:
    """The exit code is that of its verdict, also with ``-x``."""
    pytest.importorskip("allure_pytest")
    cells = [cell for cell in ALL if cell[0] == kind]
    write_suite(pytester.path, cells)

    codes = {}
    for _, situation in cells:
        name = f"example.{situation}-" if kind == "skill" else f"test_{situation}_{kind}"
        result = run_suite(run_workers, "plain", cells, "-x", "-k", name)
        codes[situation] = int(result.ret)

    assert codes == {cell[1]: int(verdict(*cell) not in GREEN) for cell in cells}


def test_a_retry_counts_once(pytester: pytest.Pytester, run_workers: Run) -> None:
    """A test that passes on another device has passed, and nothing but that."""
    compare(pytester, run_workers, "workers", RETRIED)


def test_a_run_of_green_tests_is_green(pytester: pytest.Pytester, run_workers: Run) -> None:
    """Skips and expected failures do not change that."""
    compare(pytester, run_workers, "plain", [cell for cell in TELLING if verdict(*cell) in GREEN])


@pytest.mark.parametrize(("mode", "processes"), [("plain", 1), ("workers", 2)])
def test_a_device_that_is_released_badly_is_in_every_report(
    pytester: pytest.Pytester, run_workers: Run, mode: str, processes: int
) -> None:
    """It is an error at the end of the last test of each process, and not another attempt."""
    cells = [(kind, "passes") for kind in ("function", "method", "unittest", "parameter")]
    write_suite(pytester.path, cells)
    with (pytester.path / "conftest.py").open("a") as conftest:
        conftest.write("def pytest_clawperator_device_released(): raise RuntimeError('full')")

    result = run_suite(run_workers, mode, cells)

    found = Counter(said(pytester.path, result.stdout.str()).values())
    assert found == {
        CHANNELS["passed"]: len(cells) - processes,
        CHANNELS["released badly"]: processes,
    }
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (run,) = (pytester.path / "claw-results").iterdir()
    assert [test.attempt for test in read_run(run).tests] == [1] * len(cells)
