"""Lesson 13: evidence. Each test has a folder for its files.

Screenshot, snapshot, log and envelopes of a failed test are there without being asked for.
"""

from __future__ import annotations

import json

import pytest

from example_suite.pages.settings import PACKAGE
from pytest_clawperator import Artifacts, Clawperator


@pytest.mark.claw_app(PACKAGE)
def test_a_file_is_attached(clawperator: Clawperator, clawperator_artifacts: Artifacts) -> None:
    """An attached file is in the folder of the test, and in its reports."""
    titles = clawperator.read_all_text(id="title")

    kept = clawperator_artifacts.attach("titles.json", json.dumps(titles).encode())

    assert json.loads(kept.read_bytes()) == titles
    assert kept.parent == clawperator_artifacts.folder


def test_a_picture_is_attached(clawperator: Clawperator, clawperator_artifacts: Artifacts) -> None:
    """A screenshot of any moment can be attached too."""
    picture = clawperator.screenshot()

    kept = clawperator_artifacts.attach("home", picture, "image/png")

    assert kept.suffix == ".png"
