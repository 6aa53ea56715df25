"""``pytest_clawperator_processors``: more steps that complete a result."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_after_the_built_in_ones(pytester: pytest.Pytester, run: Run) -> None:
    """A processor of a conftest sees a result that the built-in steps completed."""
    pytester.makeconftest(
        """
        seen = []

        def remember(envelope, collected):
            seen.append((envelope.step("snap").data.get("text", "")[:10], collected.serial))
            return envelope

        def pytest_clawperator_processors():
            return [remember]
        """
    )
    pytester.makepyfile(
        """
        from conftest import seen

        def test_it(clawperator):
            clawperator.execute([{"id": "snap", "type": "snapshot_ui"}])
            (text, serial) = seen[-1]
            assert text.startswith("<")
            assert serial == clawperator.serial
        """
    )

    result = run()

    result.assert_outcomes(passed=1)


def test_one_that_returns_nothing(pytester: pytest.Pytester, run: Run) -> None:
    """A processor that forgets to return the envelope is named, with its line."""
    pytester.makeconftest(
        """
        def forget(envelope, collected):
            pass

        def pytest_clawperator_processors():
            return [forget]
        """
    )
    pytester.makepyfile(
        """
        def test_it(clawperator):
            clawperator.execute([{"id": "snap", "type": "snapshot_ui"}])
        """
    )

    result = run("--claw-snapshot", "off")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * the processor forget (*conftest.py:1) returned None, expected a ResultEnvelope",
            "E *hint: Have each function of the hook pytest_clawperator_processors return the *",
        ]
    )
