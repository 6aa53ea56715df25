"""``pytest_clawperator_collect_artifacts``: more evidence, from a conftest."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run

TESTS = """
def test_passes(clawperator): pass
def test_fails(clawperator): assert 0
"""


def test_files_of_the_hook_are_kept_of_failures(pytester: pytest.Pytester, run: Run) -> None:
    """The files that it gives are kept with the others, of tests that fail only."""
    pytester.makepyfile(TESTS)
    pytester.makeconftest(
        """
        from pathlib import Path

        def pytest_clawperator_collect_artifacts(item, report, client):
            path = Path("battery.txt")
            path.write_text(client.device.shell("dumpsys battery").stdout)
            print("collected for", item.name, report.when)
            return [path]
        """
    )

    result = run("-s")

    (path,) = pytester.path.glob("claw-results/*/*/battery.txt")
    assert "test_fails" in path.parent.name
    assert path.read_text().startswith("Current Battery Service state")
    result.stdout.fnmatch_lines(["*collected for test_fails call", "  battery.txt"])
    result.stdout.no_fnmatch_line("*collected for test_passes*")


def test_a_mistake_in_it(pytester: pytest.Pytester, run: Run) -> None:
    """A hook that fails is named; the test's own failure stays."""
    pytester.makepyfile(TESTS)
    pytester.makeconftest(
        """
        def pytest_clawperator_collect_artifacts(client):
            raise RuntimeError("no network")
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * assert 0",
            "pytest_clawperator_collect_artifacts failed: RuntimeError('no network')",
        ]
    )
