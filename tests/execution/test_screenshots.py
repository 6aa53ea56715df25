"""A folder for pictures that nobody gave a place."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_clawperator.execution.screenshots import ScreenshotFolder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary files go to a folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_made_when_needed_and_removed_at_the_end(place: Path) -> None:
    """Nothing is made before the first file, and nothing is left after the end."""
    scratch = ScreenshotFolder()
    before = list(place.iterdir())
    path = scratch.file("a.png")
    path.write_bytes(b"x")
    scratch.close()
    scratch.close()

    assert before == []
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_swept(place: Path) -> None:
    """The folder of a process that is no more goes; those of the living stay."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    stale = place / f"clawperator-{ended.pid}-abc"
    living = place / f"clawperator-{os.getppid()}-abc"
    other = place / "clawperator-notes"
    for folder in (stale, living, other):
        folder.mkdir()
        (folder / "file").write_text("x")
    scratch = ScreenshotFolder()

    scratch.file("a.png")
    scratch.close()

    assert not stale.exists()
    assert (living / "file").exists()
    assert (other / "file").exists()
