"""Packages of guests are installed once, whole, or not at all."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.guests.packages import NotInstalled, environment, library, source


class Pip:
    """Installs a file, or nothing where there is no network."""

    def __init__(self, *, is_reached: bool = True) -> None:
        self.is_reached = is_reached
        self.commands: list[Sequence[str]] = []

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Take note of a command, and do what it says."""
        self.commands.append(command)
        place = Path(command[-2])
        (place / "guest.py").touch()
        return subprocess.CompletedProcess(
            command, 0 if self.is_reached else 1, "", "no registry is reached\n"
        )


def test_a_package_is_installed_once(tmp_path: Path) -> None:
    """The exact version is asked for, and what is there is kept."""
    pip = Pip()

    places = [library("guest==1.0", folder=tmp_path, run=pip.run) for _ in range(2)]

    assert places[0] == places[1]
    assert (places[0] / "guest.py").is_file()
    assert [command[-1] for command in pip.commands] == ["guest==1.0"]


def test_a_package_that_cannot_be_had_leaves_nothing(tmp_path: Path) -> None:
    """The reason is told, and the next run tries again."""
    with pytest.raises(NotInstalled, match=r"guest==1\.0-source: no registry is reached"):
        source("guest==1.0", folder=tmp_path, run=Pip(is_reached=False).run)

    assert list(tmp_path.iterdir()) == []


def test_a_guest_has_our_adb_and_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user has set for real phones does not reach it."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_ADDRESS", "lab")

    made = environment(adb_port=1234, serial="SIM", adb=Path("/some/adb"), home=tmp_path)

    assert "ANDROID_ADB_SERVER_ADDRESS" not in made
    assert (made["ANDROID_ADB_SERVER_PORT"], made["ANDROID_SERIAL"]) == ("1234", "SIM")
    assert (Path(made["ANDROID_HOME"]) / "platform-tools" / "adb").readlink() == Path("/some/adb")
