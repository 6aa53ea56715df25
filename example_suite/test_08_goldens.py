"""Lesson 8: goldens. A whole screen is compared with a file or a text.

`pytest --claw-update-goldens` writes files that are missing or no longer match, into
`__screens__` beside the test.
"""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE, missing="skip")


def test_a_golden_in_the_test(clawperator: Clawperator) -> None:
    """A golden lists nodes in their order; other nodes may be between."""
    expect(clawperator).to_match_tree("""
        - text "Counter: 0"
        - button "Increment"
        - button "Open List"
    """)


def test_a_golden_in_a_file(clawperator: Clawperator) -> None:
    """A longer golden is kept in a file, here `__screens__/home.yaml`."""
    expect(clawperator).to_match_tree("home")


def test_a_golden_with_a_pattern(clawperator: Clawperator, conformance: Conformance) -> None:
    """What changes from run to run is written as a pattern, or left out."""
    conformance.increment.click()

    expect(clawperator).to_match_tree("""
        - text /Counter: \\d+/
        - button "Increment"
    """)


def test_a_golden_picture(clawperator: Clawperator, conformance: Conformance) -> None:
    """A screenshot can be a golden too; nodes that may differ are masked."""
    pytest.importorskip("pixelmatch", reason="pip install 'pytest-clawperator[visual]'")

    expect(clawperator).to_match_screenshot("home", mask=[conformance.counter])
