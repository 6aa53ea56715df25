"""A failed envelope fails a bare ``assert``, which explains it."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_the_assertion_tells_step_code_and_action(pytester: pytest.Pytester, run: Run) -> None:
    """``assert claw.execute([...])`` fails with what failed; one that succeeded passes."""
    pytester.makepyfile(
        """
        def test_failed(clawperator):
            missing = {"matcher": {"textEquals": "Nowhere"}, "retry": {"maxAttempts": 1}}
            assert clawperator.execute([{"id": "w", "type": "wait_for_node", "params": missing}])

        def test_succeeded(clawperator):
            assert clawperator.execute([{"type": "sleep", "params": {"durationMs": 0}}])
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ['E  *assert <RunResult failed: step "w" (wait_for_node) failed: NODE_NOT_FOUND; 1 step>']
    )
