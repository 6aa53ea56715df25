"""What a run did with goldens, added up over all workers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_clawperator.assertions import golden as goldens

_SETS = ("used", "written", "folders")
# Folders in which nobody keeps tests.
_PASSED_OVER = ("node_modules", "venv", "build", "dist", "__pycache__")


class GoldenUse:
    """What a run did with goldens.

    ``roots`` are the folders whose tests were asked for. ``unsure`` counts, for each folder,
    the tests that did not pass and so may not have come to their goldens.
    """

    def __init__(self, *, is_full: bool, roots: Iterable[Path] = ()) -> None:
        self.is_full = is_full
        self.roots = tuple(roots)
        self.used: set[Path] = set()
        self.written: set[Path] = set()
        self.folders: set[Path] = set()
        self.unsure: Counter[Path] = Counter()

    def to_output(self) -> dict[str, Any]:
        """Return it in plain values, for the way from a worker to the controller."""
        sets = {name: sorted(map(str, getattr(self, name))) for name in _SETS}
        unsure = {str(folder): count for folder, count in self.unsure.items()}
        return {**sets, "unsure": unsure, "is_full": self.is_full}

    def add(self, output: dict[str, Any] | None) -> None:
        """Add what a worker did; a worker that died sent nothing."""
        if output is None:
            self.is_full = False
            return
        for name in _SETS:
            getattr(self, name).update(map(Path, output[name]))
        self.unsure.update({Path(folder): n for folder, n in output["unsure"].items()})
        self.is_full = self.is_full and output["is_full"]

    def unused(self) -> list[Path]:
        """List the goldens that nobody asked for, where all tests passed."""
        return [path for path in self._unasked() if path.parent.parent not in self.unsure]

    def untold(self) -> dict[Path, int]:
        """Count the tests that did not pass, where some goldens were asked for by nobody."""
        folders = {path.parent.parent for path in self._unasked()}
        return {folder: self.unsure[folder] for folder in sorted(folders) if folder in self.unsure}

    def _unasked(self) -> list[Path]:
        if not self.is_full or not self.folders:
            return []
        used = {goldens.identity(path) for path in self.used}
        return sorted(
            path
            for folder in self.folders | self._untested(goldens.FOLDER)
            for path in (folder / goldens.FOLDER).glob("*")
            if path.suffix in goldens.SUFFIXES and goldens.identity(path) not in used
        )

    def _untested(self, name: str) -> set[Path]:
        """Find folders with goldens and without tests, in a run that uses goldens at all."""
        found = set()
        for root in self.roots if self.used else ():
            for here, below, _ in os.walk(root):
                if name in below:
                    found.add(Path(here))
                below[:] = [
                    each for each in below if each[0] != "." and each not in (*_PASSED_OVER, name)
                ]
        return found - self.unsure.keys()
