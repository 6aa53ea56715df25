"""The snapshots of a virtual device, each a folder with the state of the phone."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_clawperator.simulator.wire.console import ConsoleRefusal

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_STATE = "state.json"
# To be raised when a state of today cannot be brought back by the code of yesterday.
_FORMAT = 1


class Snapshots:
    """The saved states in the folder of a virtual device."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "snapshots"

    def names(self) -> list[str]:
        """Return the names, the oldest first."""
        states = sorted(self._folder.glob(f"*/{_STATE}"), key=lambda path: path.stat().st_mtime)
        return [path.parent.name for path in states if _NAME.fullmatch(path.parent.name)]

    def lines(self) -> list[str]:
        """Return the table that the console prints."""
        names = self.names()
        if not names:
            return ["There is no snapshot available."]
        rows = [_row(name, self._folder / name / _STATE) for name in names]
        title = f"{'ID':<10}{'TAG':<20}{'VM SIZE':>10}{'DATE':>21}{'VM CLOCK':>15}"
        return ["List of snapshots present on all disks:", title, *rows]

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep a state, in place of the one of that name."""
        folder = self._folder / _checked(name)
        folder.mkdir(parents=True, exist_ok=True)
        write_state(folder / _STATE, state)

    def load(self, name: str) -> dict[str, Any]:
        """Return a state; raise if there is none of that name."""
        state = read_state(self._folder / _checked(name) / _STATE)
        if state is None:
            raise ConsoleRefusal(f"Device 'cache' does not have the requested snapshot '{name}'")
        return state

    def delete(self, name: str) -> None:
        """Remove a state; raise if there is none of that name."""
        self.load(name)
        shutil.rmtree(self._folder / name)


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state, at once or not at all."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text(json.dumps({**state, "format": _FORMAT}), "utf-8")
    unfinished.replace(path)


def read_state(path: Path) -> dict[str, Any] | None:
    """Read a state; None where there is none that can be read."""
    try:
        state = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) and state.get("format") == _FORMAT else None


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConsoleRefusal(f"'{name}' is no name for a snapshot")
    return name


def _row(name: str, state: Path) -> str:
    about = state.stat()
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about.st_mtime))
    size = f"{max(1, about.st_size // 1024)}K"
    return f"{'--':<10}{name:<20}{size:>10}{date:>21}{'00:00:00.000':>15}"
