"""Lesson 8: goldens. A whole screen against what is written down of it.

`pytest --claw-update-goldens` writes those that are missing or do not fit any more, into
`__screens__` beside the test.
"""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE, Conformance
from pytest_clawperator import Clawperator, expect

pytestmark = pytest.mark.claw_app(PACKAGE)


def test_in_the_test(clawperator: Clawperator) -> None:
    """A golden names what must be there, in this order; other nodes may be between."""
    expect(clawperator).to_match_tree("""
        - text "Counter: 0"
        - button "Increment"
        - button "Open List"
    """)


def test_in_a_file(clawperator: Clawperator) -> None:
    """Longer ones live in files, here `__screens__/home.yaml`."""
    expect(clawperator).to_match_tree("home")


def test_with_a_pattern(clawperator: Clawperator, conformance: Conformance) -> None:
    """What changes from run to run is written as a pattern, or not at all."""
    conformance.increment.click()

    expect(clawperator).to_match_tree("""
        - text /Counter: \\d+/
        - button "Increment"
    """)


def test_as_a_picture(clawperator: Clawperator, conformance: Conformance) -> None:
    """How it looks can be a golden, too; what may differ is masked."""
    pytest.importorskip("pixelmatch", reason="pip install 'pytest-clawperator[visual]'")

    expect(clawperator).to_match_screenshot("home", mask=[conformance.counter])
