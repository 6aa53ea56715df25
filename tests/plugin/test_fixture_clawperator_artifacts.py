"""``clawperator_artifacts``: the folder of a test, for files of its own."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_attach(pytester: pytest.Pytester, run_plain: Run) -> None:
    """What a test attaches is kept, also without a device, and is a property of the test."""
    pytester.makepyfile(
        """
        from pytest_clawperator.plugin.artifacts import Artifacts

        def test_it(clawperator_artifacts: Artifacts, request):
            path = clawperator_artifacts.attach("cart", b"{}", "application/json")
            assert path == clawperator_artifacts.folder / "cart.json"

        def test_other(clawperator_artifacts):
            assert list(clawperator_artifacts.folder.iterdir()) == []
        """
    )

    result = run_plain("--junitxml=report.xml")

    result.assert_outcomes(passed=2)
    (path,) = pytester.path.glob("claw-results/*/test_attach-test_it-*/cart.json")
    shown = path.relative_to(pytester.path)
    assert path.read_bytes() == b"{}"
    junit = (pytester.path / "report.xml").read_text()
    assert f'<property name="clawperator_attachment" value="{shown}"' in junit


def test_in_a_failure(pytester: pytest.Pytester, run_plain: Run) -> None:
    """The failure names what was attached before."""
    pytester.makepyfile(
        """
        def test_it(clawperator_artifacts):
            clawperator_artifacts.attach("note.txt", b"look")
            assert 0
        """
    )

    result = run_plain()

    result.stdout.fnmatch_lines(
        [
            "*- clawperator: evidence -*",
            "attachment: claw-results/*/note.txt",
            "*= evidence =*",
            "test_in_a_failure.py::test_it",
        ]
    )
