"""Which display of a phone with several is photographed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_clawperator.contracts.events import Notice
from pytest_clawperator.errors import ErrorCode, ShellError
from pytest_clawperator.execution import screenshots
from pytest_clawperator.execution.screenshots import (
    Display,
    Picture,
    ScreenshotFolder,
    take_picture,
)
from pytest_clawperator.transport.interface import OnOutput, ignored
from tests.doubles.pipeline import SHOT, MakeBench, envelope
from tests.doubles.transport import ScriptedTransport

PNG = b"\x89PNG\r\n\x1a\n"
#: What screencap prints first on a Pixel Fold, a Galaxy Fold and a Xiaomi MIX Flip
#: (callstack/agent-device#184, mobile-next/mobile-mcp#158, zai-org/Open-AutoGLM#148).
WARNING = (
    b"[Warning] Multiple displays were found, but no display id was specified! Defaulting to the"
    b" first display found.\nA display ID can be specified with the [-d display-id] option.\n"
)
#: A foldable that is closed: its inner panel, which screencap takes, is dark.
FOLDED = """\
  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0,\
 uniqueId='local:4619827677550801153', physicalPort=1, orientation=0}]
  Display 0:
    mPrimaryDisplayDevice=Common Panel
    mBaseDisplayInfo=DisplayInfo{"Common Panel", displayId 0, FLAG_SECURE, real 1080 x 2424,\
 rotation 0, state ON, committedState ON, type INTERNAL, uniqueId "local:4619827677550801153"}
  Display 1:
    mBaseDisplayInfo=DisplayInfo{"Common Panel", displayId 1, real 2076 x 2152, rotation 0,\
 state OFF, type INTERNAL, uniqueId "local:4619827677550801152"}
"""
DISPLAYS = "dumpsys display; dumpsys window displays"
INNER, OUTER = "4619827677550801152", "4619827677550801153"


class Panels(ScriptedTransport):
    """A phone whose screencap prints this for each of its commands."""

    def __init__(self, pictures: Mapping[str, bytes], dump: str = FOLDED) -> None:
        super().__init__({DISPLAYS: dump})
        self.pictures = pictures

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Print a picture, or what is printed instead of it."""
        self.calls.append(command)
        printed = self.pictures.get(command, b"Failed to get a display\n")
        for start in range(0, len(printed), 5):
            on_output(printed[start : start + 5])
        self.calls.append("...")
        return printed


def test_the_display_that_is_on_and_has_the_focus_is_shown() -> None:
    """A dark one comes last, whatever has the focus."""
    rows: list[tuple[list[Display], int | None, int]] = [
        ([Display(0, "10", True), Display(1, "11", False)], 0, 0),
        ([Display(0, "10", False), Display(1, "11", True)], 0, 1),
        ([Display(0, "10", True), Display(2, "12", True)], 2, 2),
        ([Display(0, "10", True), Display(2, "12", True)], None, 0),
        ([Display(0, "10"), Display(2, "12")], 7, 0),
    ]
    for displays, focused, number in rows:
        shown = screenshots.shown_display(displays, focused)

        assert shown is not None
        assert shown.number == number


LINKER = b"WARNING: linker: libx.so: unused DT entry\n"
NO_ROOM = b"Error: no room\n"
DARK = {"screencap -p": WARNING + PNG + b"dark", f"screencap -d {INNER} -p": PNG + b"dark"}
LIT = f"screencap -d {OUTER} -p"


@pytest.mark.parametrize(
    ("pictures", "dump", "display", "content", "calls"),
    [
        ({"screencap -p": PNG + b"one"}, FOLDED, None, PNG + b"one", "screencap -p|captured|..."),
        # Linkers and makers print warnings, too; they have nothing to do with displays.
        (
            {"screencap -p": LINKER + PNG + b"a long picture"},
            FOLDED,
            None,
            PNG + b"a long picture",
            "screencap -p|captured|...",
        ),
        # The first display, which screencap takes by itself, is the dark one.
        (
            {**DARK, LIT: PNG + b"lit"},
            FOLDED,
            0,
            PNG + b"lit",
            f"screencap -p|...|{DISPLAYS}|{LIT}|captured|...",
        ),
        # A picture without its warning is better than none.
        (DARK, "", None, PNG + b"dark", f"screencap -p|...|{DISPLAYS}"),
        (DARK, FOLDED, None, PNG + b"dark", f"screencap -p|...|{DISPLAYS}|{LIT}|..."),
        ({"screencap -p": NO_ROOM}, FOLDED, None, NO_ROOM, "screencap -p|..."),
    ],
    ids=["one display", "linker", "folded", "no displays", "no ids", "no picture"],
)
def test_the_lit_display_is_photographed(
    pictures: dict[str, bytes], dump: str, display: int | None, content: bytes, calls: str
) -> None:
    """The screen may change as soon as the right picture begins; output that is not one stays."""
    phone = Panels(pictures, dump)

    picture = take_picture(phone, on_captured=lambda: phone.calls.append("captured"))

    assert picture == Picture(content, display=display)
    assert picture.is_png is (content != NO_ROOM)
    assert phone.calls == calls.split("|")


def test_the_chosen_display_is_photographed_or_refused() -> None:
    """The refusal names the displays that are there."""
    phone = Panels(DARK)
    phone.display = 1
    assert take_picture(phone) == Picture(PNG + b"dark", display=1)
    assert phone.calls == [DISPLAYS, f"screencap -d {INNER} -p", "..."]

    phone.display = 4
    with pytest.raises(ShellError, match="no display 4 to photograph; there are: 0, 1"):
        take_picture(phone)


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
from pytest_clawperator.execution.screenshots import ScreenshotFolder

tempfile.tempdir = sys.argv[1]
folder = ScreenshotFolder()
print(folder.file("a.png").parent, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("has_locks", [True, False])
def test_the_folder_of_a_killed_process_is_swept(
    place: Path, monkeypatch: pytest.MonkeyPatch, *, has_locks: bool
) -> None:
    """A folder that is not locked goes; on Windows, without locks, none does."""
    if not has_locks:
        monkeypatch.setattr(screenshots, "fcntl", None)
    stale = left(place, f"clawperator-{os.getppid()}-abc")
    new = left(place, "clawperator-1-abc", hours=0)
    other = left(place, "clawperator-notes")
    scratch = ScreenshotFolder()

    made = scratch.file("a.png").parent
    scratch.close()

    assert stale.exists() is not has_locks
    assert (new / "file").exists()
    assert (other / "file").exists()
    assert not made.exists()


def test_the_folder_of_a_process_that_cannot_be_seen_stays(place: Path) -> None:
    """In another container the process may have an id that is not in use here."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    printed = Path(process.stdout.readline().decode().strip())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = printed.rename(place / f"clawperator-{ended.pid}-abc")
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
    ("picture", "folder", "notice"),
    [
        (b"", "", "nothing"),
        (b"screencap: no display\n", "", "screencap: no display"),
        (b"\x89PNG\r\n\x1a\nhalf a picture", "", "cut off after 22 bytes"),
        (None, "nowhere", "nowhere/shot.png"),
    ],
)
def test_a_picture_that_is_missing_fails_its_step(
    bench: MakeBench, tmp_path: Path, picture: bytes | None, folder: str, notice: str
) -> None:
    """The step fails, not the run; the notice has screencap's output, or the unusable path."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    if picture is not None:
        here.transport.picture = picture
    path = tmp_path / folder / "shot.png"

    result = here.run({"id": "a", "type": "take_screenshot", "params": {"path": str(path)}})

    assert result.code == ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT
    notices = [event.message for event in here.events if isinstance(event, Notice)]
    assert any(notice in each for each in notices)
