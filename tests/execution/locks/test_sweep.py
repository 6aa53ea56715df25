"""Lock files that killed processes left long ago are removed, and no others."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.locks.folder import lock_path
from pytest_clawperator.execution.locks.sweep import sweep

DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def nothing_swept_yet() -> None:
    """Allow the folders of a test to be swept, whatever was swept in this process before."""
    sweep.cache_clear()


def left(folder: Path, key: str, kind: str, *, days: float = 2) -> Path:
    """Leave a file as a process does that is killed, so many days ago."""
    path = lock_path(key, kind, folder=folder)
    path.touch()
    return aged(path, days=days)


def aged(path: Path, *, days: float = 2) -> Path:
    """Set the age of a file."""
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("kind", ["flight", "lease", "holder", "port"])
def test_lock_files_a_day_old_are_swept(tmp_path: Path, kind: str) -> None:
    """What is a day old and in nobody's hands is removed."""
    left(tmp_path, "sim-1", kind)

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["flight", "lease", "holder", "port"])
def test_lock_files_of_today_are_not_swept(tmp_path: Path, kind: str) -> None:
    """What was touched today is left alone: somebody may be about to use it."""
    young = left(tmp_path, "sim-1", kind, days=0.5)

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [young]


def test_files_with_other_names_are_not_swept(tmp_path: Path) -> None:
    """A file that has no name of ours is not touched."""
    others = {
        aged(tmp_path / name) for name in _made(tmp_path, "notes.flight", "a-12345678.flight")
    }

    sweep(tmp_path)

    assert set(tmp_path.iterdir()) == others


def _made(folder: Path, *names: str) -> tuple[str, ...]:
    for name in names:
        (folder / name).touch()
    return names


def test_the_file_of_a_command_that_may_still_run_is_not_swept(tmp_path: Path) -> None:
    """A file that tells of a command on the device stays until its time has passed."""
    with Flight("phone", folder=tmp_path).claim("cmd", serial="phone") as claim:
        claim.take_off(time.monotonic() + 600)
    with Flight("done", folder=tmp_path).claim("cmd", serial="done") as claim:
        claim.take_off(time.monotonic() - 1)
    running = aged(lock_path("phone", "flight", folder=tmp_path))
    aged(lock_path("done", "flight", folder=tmp_path))

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [running]


def test_lock_files_in_use_are_not_swept(tmp_path: Path) -> None:
    """A device that somebody holds stays theirs, however long they have had it."""
    flight = Flight("phone", folder=tmp_path)
    with (
        flight.claim("cmd", serial="phone"),
        FileLeases(run_id="run", folder=tmp_path).try_take("phone") as hold,  # type: ignore[union-attr]
    ):
        used = {aged(path) for path in tmp_path.iterdir()}

        sweep(tmp_path)

        hold.check()
        assert set(tmp_path.iterdir()) == used
        assert len(used) == 3


def test_a_folder_is_swept_once_in_a_process(tmp_path: Path) -> None:
    """The folder is looked through once, not with every client that is closed."""
    sweep(tmp_path)
    late = left(tmp_path, "sim-1", "flight")

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [late]


def test_what_is_no_lock_file_is_not_swept(tmp_path: Path) -> None:
    """A link and a pipe that have the names of lock files stay, and what the link leads to."""
    pipe, link = (lock_path(key, "flight", folder=tmp_path) for key in ("pipe", "link"))
    os.mkfifo(pipe)
    aged(pipe)
    target = left(tmp_path.parent, "sim-1", "flight")
    link.symlink_to(target)
    then = time.time() - 2 * DAY
    os.utime(link, (then, then), follow_symlinks=False)

    sweep(tmp_path)

    assert set(tmp_path.iterdir()) == {pipe, link}
    assert target.exists()
