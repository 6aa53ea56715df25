"""``pytest_clawperator_execution_finished``: whoever wants to know what was run."""

from __future__ import annotations

import json

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


MISSED_SEARCH = """
    def test_it(clawperator):
        clawperator.open_app("com.android.settings")
        clawperator.wait_for_node(text="Connections")
        clawperator.scroll_until(text="Nowhere", max_scrolls=1)
    """


def test_a_missed_search_is_told_as_the_failure_that_the_test_gets(
    pytester: pytest.Pytester, run: Run
) -> None:
    """The hook and envelopes.json say TARGET_NOT_FOUND, though the Operator said success."""
    pytester.makeconftest(
        """
        def pytest_clawperator_execution_finished(execution, envelope):
            print("ran", execution.actions[0].type, envelope.status, envelope.code)
        """
    )
    pytester.makepyfile(MISSED_SEARCH)

    result = run("-s", "--claw-output", "out")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*ran wait_for_node success None", "*ran scroll_until failed TARGET_NOT_FOUND"]
    )
    (written,) = (pytester.path / "out").rglob("envelopes.json")
    told = json.loads(written.read_bytes())
    search = next(each for each in told if "TARGET_NOT_FOUND" in json.dumps(each))
    assert search["envelope"]["status"] == "failed"


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
