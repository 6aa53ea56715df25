"""The parts of the plugin: those that the documents call spare can be switched off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.plugin.conftest import Run

TEXT = (Path(__file__).parents[2] / "docs" / "options.md").read_text(encoding="utf-8")
SPARE = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| yes \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("part", SPARE)
def test_tests_run_without_the_part(pytester: pytest.Pytester, run: Run, part: str) -> None:
    """Tests pass, and fail, without the part."""
    pytester.makepyfile(
        """
        from pytest_clawperator import expect

        def test_it(clawperator):
            clawperator.open_app("com.android.settings")
            expect(clawperator.node(text="Settings")).to_be_visible()

        def test_failing(clawperator): assert 0
        """
    )

    result = run("-p", f"no:{part}")

    result.assert_outcomes(passed=1, failed=1)
