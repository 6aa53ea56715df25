"""Screenshots are taken into their file, or into a folder that goes with the client."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pytest_clawperator.contracts.events import Notice
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.pictures import screenshots
from pytest_clawperator.execution.pictures.screenshots import ScreenshotFolder
from tests.doubles.pipeline import SHOT, MakeBench, envelope


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Send temporary files to a folder of the test's own."""
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


def left(place: Path, name: str, *, hours: float = 1) -> Path:
    """Make a folder as a process that is killed leaves it, so long ago."""
    folder = place / name
    folder.mkdir()
    (folder / "file").write_text("x")
    then = time.time() - hours * 3600
    os.utime(folder, (then, then))
    return folder


OTHER = """
import sys, tempfile
from pytest_clawperator.execution.pictures.screenshots import ScreenshotFolder

tempfile.tempdir = sys.argv[1]
folder = ScreenshotFolder()
print(folder.file("a.png").parent, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_left_is_swept(place: Path) -> None:
    """A folder that no process has locked goes, whatever process has that id now."""
    stale = left(place, f"clawperator-{os.getppid()}-abc")
    new = left(place, "clawperator-1-abc", hours=0)
    other = left(place, "clawperator-notes")
    scratch = ScreenshotFolder()

    scratch.file("a.png")
    scratch.close()

    assert not stale.exists()
    assert (new / "file").exists()
    assert (other / "file").exists()


def test_the_folder_of_a_process_that_cannot_be_seen_stays(place: Path) -> None:
    """In another container the process may have an id that is not in use here."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    told = Path(process.stdout.readline().decode().strip())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = told.rename(place / f"clawperator-{ended.pid}-abc")
    os.utime(living, (0, 0))
    scratch = ScreenshotFolder()

    scratch.file("a.png")
    stayed = living.exists()
    process.kill()
    process.communicate()
    scratch.close()
    again = ScreenshotFolder()
    again.file("a.png")
    again.close()

    assert stayed
    assert not living.exists()


def test_without_locks_no_folder_is_swept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a folder is used, and those of others stay, as nobody knows whether they live."""
    monkeypatch.setattr(screenshots, "fcntl", None)
    stale = left(place, "clawperator-1-abc")
    scratch = ScreenshotFolder()

    made = scratch.file("a.png").parent
    scratch.close()

    assert stale.exists()
    assert not made.exists()


def test_a_screenshot_goes_to_its_file(bench: MakeBench, tmp_path: Path) -> None:
    """The picture is written where the action wants it, and given as bytes."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    path = tmp_path / "shot.png"

    result = here.run({"id": "a", "type": "take_screenshot", "params": {"path": str(path)}})

    assert result.ok
    assert path.read_bytes() == result.screenshot == here.transport.picture
    assert result.step("a").data["path"] == str(path)


def test_a_screenshot_without_a_place_is_gone_with_the_client(bench: MakeBench) -> None:
    """A temporary file lasts until the pipeline is closed, whatever the command is called."""
    here = bench((0.1, envelope("../../etc/x", SHOT)))

    result = here.run({"id": "a", "type": "take_screenshot"}, command_id="../../etc/x")
    path = Path(result.step("a").data["path"])
    there = path.read_bytes()
    here.pipeline.close()

    assert there == here.transport.picture
    assert "clawperator-" in str(path.parent)
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (b"", "nothing"),
        (b"screencap: no display\n", "screencap: no display"),
        (b"\x89PNG\r\n\x1a\nhalf a picture", "cut off after 22 bytes"),
    ],
)
def test_a_picture_that_is_none_fails_its_step(bench: MakeBench, picture: bytes, told: str) -> None:
    """What screencap says instead of a picture is told."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    here.transport.picture = picture

    result = here.run({"id": "a", "type": "take_screenshot"})

    assert result.code == ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT
    notices = [event.message for event in here.events if isinstance(event, Notice)]
    assert any(told in notice for notice in notices)


def test_a_picture_that_cannot_be_written_is_told(bench: MakeBench, tmp_path: Path) -> None:
    """A path in a missing folder fails the step, not the run."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    path = tmp_path / "nowhere" / "shot.png"

    result = here.run({"id": "a", "type": "take_screenshot", "params": {"path": str(path)}})

    assert not result.ok
    notices = [event.message for event in here.events if isinstance(event, Notice)]
    assert any(str(path) in notice for notice in notices)
