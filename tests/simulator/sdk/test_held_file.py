"""Files that say that a process lives."""

from __future__ import annotations

import time
from pathlib import Path

from pytest_clawperator.simulator.sdk.held_file import HeldFile, holder_of, is_free_before


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    """The second one does not get it, and sees who has it."""
    first, second = HeldFile(tmp_path / "lock"), HeldFile(tmp_path / "lock")

    assert first.hold({"pid": 1})
    assert not second.hold({"pid": 2})
    assert holder_of(tmp_path / "lock") == {"pid": 1}
    first.release()
    assert second.hold({"pid": 2})
    second.release()


def test_a_file_that_nobody_holds_is_stale(tmp_path: Path) -> None:
    """What a killed process left behind counts for nothing."""
    (tmp_path / "lock").write_text('{"pid": 1}')

    assert holder_of(tmp_path / "lock") is None
    assert holder_of(tmp_path / "missing") is None
    assert is_free_before(tmp_path / "lock", time.monotonic())


def test_a_held_file_is_not_free_at_the_deadline(tmp_path: Path) -> None:
    """Waiting ends at the deadline."""
    held = HeldFile(tmp_path / "lock")
    held.hold({})

    assert not is_free_before(tmp_path / "lock", time.monotonic())
    held.release()
