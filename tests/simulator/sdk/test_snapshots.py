"""The snapshots of a virtual device on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.simulator.sdk.snapshots import Snapshots, read_state
from pytest_clawperator.simulator.wire.console import ConsoleRefusal


def test_a_state_is_kept_under_its_name(tmp_path: Path) -> None:
    """It is listed, loaded, replaced and deleted."""
    snapshots = Snapshots(tmp_path)
    snapshots.save("a", {"x": 1})
    snapshots.save("a", {"x": 2})

    assert snapshots.load("a")["x"] == 2
    assert snapshots.names() == ["a"]
    assert snapshots.lines()[2].split()[:2] == ["--", "a"]
    snapshots.delete("a")
    assert snapshots.lines() == ["There is no snapshot available."]


@pytest.mark.parametrize("name", ["b", "../b", ".b", "b/c", ""])
def test_what_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    """A name that leads elsewhere is no name."""
    with pytest.raises(ConsoleRefusal):
        Snapshots(tmp_path).load(name)


def test_a_state_of_another_version_is_not_read(tmp_path: Path) -> None:
    """Neither is one that is damaged."""
    (tmp_path / "old").write_text('{"format": 0}')
    (tmp_path / "damaged").write_text('{"format"')

    assert read_state(tmp_path / "old") is None
    assert read_state(tmp_path / "damaged") is None
