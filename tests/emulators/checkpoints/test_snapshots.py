"""The snapshots of checkpoints: their names, and what the console is asked."""

from __future__ import annotations

import pytest

from pytest_clawperator.emulators.checkpoints import Snapshots, snapshot_name
from pytest_clawperator.errors import EmulatorError, ErrorCode

LOGGED_IN = snapshot_name("logged-in", "a")
STALE = snapshot_name("logged-in", "b")
OTHER = snapshot_name("logged in", "a")


class FakeConsole:
    """A console with some snapshots; one command may be refused."""

    def __init__(self, *names: str, refused: str = "-") -> None:
        self.names = list(names)
        self.asked: list[str] = []
        self._refused = refused

    def __call__(self, serial: str, command: str, timeout: float) -> str:
        """Answer as the table of the emulator does, in which long names touch the next column."""
        verb, *name = command.removeprefix("avd snapshot ").split()
        if verb == self._refused:
            raise EmulatorError("no", code=ErrorCode.UNKNOWN, serial=serial)
        if verb == "list":
            return "ID TAG VM SIZE\n" + "\n".join(f"--  {one}1.23 GiB" for one in self.names)
        self.asked.append(f"{verb} {' '.join(name)}")
        return ""


@pytest.mark.parametrize("name", ["x", "ein Käse; rm -rf", "a" * 300, "\ud800", "é", "\n"])
def test_any_name_can_be_given_to_the_console(name: str) -> None:
    """It has no spaces or other characters that a console would read otherwise."""
    snapshot = snapshot_name(name, "a")

    assert Snapshots("emulator-1", ask=FakeConsole(snapshot)).names() == [snapshot]
    assert len(snapshot) < 80


def test_saving_replaces_the_stale_one_of_the_same_checkpoint() -> None:
    """Those of other checkpoints stay, also where their names look alike."""
    console = FakeConsole(STALE, OTHER, "default_boot")

    Snapshots("emulator-1", ask=console).save(LOGGED_IN)

    assert console.asked == [f"delete {STALE}", f"save {LOGGED_IN}"]


def test_a_refusal_says_what_to_look_at() -> None:
    """An emulator that cannot save has often no room to."""
    snapshots = Snapshots("emulator-1", ask=FakeConsole(refused="save"))

    with pytest.raises(EmulatorError, match="no") as caught:
        snapshots.save(LOGGED_IN)

    assert "has room" in str(caught.value)
