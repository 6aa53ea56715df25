"""Every kind of test has the same verdicts, in every report and however it is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import pytest

from tests.acceptance.verdict_suite import said, write_suite
from tests.acceptance.verdict_table import CHANNELS, GREEN, KINDS, MODES, USUAL, verdict
from tests.plugin.conftest import QUICK, Run, nothing_from_outside, run_workers

__all__ = ["nothing_from_outside", "run_workers"]

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
OTHERS = ("anyio.pytest_plugin", "allure_pytest.plugin", "_hypothesis_pytestplugin")
REPORTS = ("-rA", "--no-fold-skipped", "--show-capture=no", "--tb=short", "--junitxml=junit.xml")
HERE = [kind for kind in KINDS if kind != "group" or sys.version_info >= (3, 11)]


def compare(
    pytester: pytest.Pytester, run: Run, mode: str, kinds: Sequence[str], situations: Sequence[str]
) -> None:
    """Run these tests, and compare each report with the table."""
    pytest.importorskip("allure_pytest")
    write_suite(pytester.path, kinds, situations)
    skills = ("--claw-skills=skills/skills-registry.json", ".") if "skill" in kinds else ()
    wanted = {
        (kind, one): CHANNELS[found]
        for kind in kinds
        for one in situations
        if (found := verdict(kind, one, mode)) is not None
    }

    result = run(
        *(f"-p{name}" for name in OTHERS),
        *(*REPORTS, *QUICK, "--alluredir=allure", "--claw-device=sim:2", *skills),
        *MODES[mode][1],
    )

    found = said(pytester.path, result.stdout.str())
    differences = {
        cell: (found.get(cell), wanted.get(cell))
        for cell in sorted({*found, *wanted})
        if found.get(cell) != wanted.get(cell)
    }
    assert differences == {}
    is_green = {*wanted.values()} <= {CHANNELS[name] for name in GREEN}
    assert result.ret == (pytest.ExitCode.OK if is_green else pytest.ExitCode.TESTS_FAILED)


@pytest.mark.parametrize("mode", MODES if IS_SOAK else ("plain",))
def test_all_kinds_of_tests(pytester: pytest.Pytester, run_workers: Run, mode: str) -> None:
    """The table, cell by cell."""
    compare(pytester, run_workers, mode, HERE, tuple(USUAL))
