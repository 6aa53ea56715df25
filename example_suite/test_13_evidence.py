"""Lesson 13: evidence. What a test leaves behind, in a folder of its own.

A failure brings its screenshot, snapshot, log and envelopes without being asked.
"""

from __future__ import annotations

import json

import pytest

from example_suite.pages.settings import PACKAGE
from pytest_clawperator import Clawperator
from pytest_clawperator.plugin.evidence.artifacts import Artifacts


@pytest.mark.claw_app(PACKAGE)
def test_attaching(clawperator: Clawperator, clawperator_artifacts: Artifacts) -> None:
    """Whatever is attached is in the test's folder, and in its reports."""
    titles = clawperator.read_all_text(id="title")

    kept = clawperator_artifacts.attach("titles.json", json.dumps(titles).encode())

    assert json.loads(kept.read_bytes()) == titles
    assert kept.parent == clawperator_artifacts.folder


def test_a_picture(clawperator: Clawperator, clawperator_artifacts: Artifacts) -> None:
    """A picture of any moment can be kept, too."""
    picture = clawperator.screenshot()

    kept = clawperator_artifacts.attach("home", picture, "image/png")

    assert kept.suffix == ".png"
