"""``pytest_clawperator_execution_finished``: whoever wants to know what was run."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_the_hook_gets_each_execution_with_its_envelope(
    pytester: pytest.Pytester, run: Run
) -> None:
    """The hook is told each execution with its envelope, a failed one too, and the device."""
    pytester.makeconftest(
        """
        def pytest_clawperator_execution_finished(execution, envelope, device):
            print("ran", execution.command_id, envelope.ok, device.model)
        """
    )
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.execute({"commandId": "good", "actions": [{"type": "snapshot_ui"}]})
            wrong = {"type": "click", "params": {"matcher": {"textEquals": "Nowhere"}}}
            clawperator.execute({"commandId": "bad", "actions": [wrong]})
        """
    )

    result = run("-s")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*ran good True Pixel 9", "ran bad False Pixel 9"])


def test_a_hook_that_fails(pytester: pytest.Pytester, run: Run) -> None:
    """A watcher that fails is named by a warning and harms no test."""
    pytester.makeconftest(
        """
        def pytest_clawperator_execution_finished():
            raise RuntimeError("my report is full")
        """
    )
    pytester.makepyfile("def test_it(clawperator):\n    assert clawperator.home().success\n")

    result = run("-W", "default")

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*ClawperatorWarning: the observer pytest_clawperator_execution_finished failed on"
            " ExecutionFinished: RuntimeError('my report is full')"
        ]
    )
