"""What a run did with goldens, added up over all workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_SETS = ("used", "written", "folders", "unsure")


class GoldenUse:
    """What a run did with goldens; a folder is ``unsure`` where not every test passed."""

    def __init__(self, *, is_full: bool) -> None:
        self.is_full = is_full
        self.used: set[Path] = set()
        self.written: set[Path] = set()
        self.folders: set[Path] = set()
        self.unsure: set[Path] = set()

    def to_output(self) -> dict[str, Any]:
        """Give it in a form that travels from a worker to the controller."""
        sets = {name: sorted(map(str, getattr(self, name))) for name in _SETS}
        return {**sets, "is_full": self.is_full}

    def add(self, output: dict[str, Any] | None) -> None:
        """Take in what a worker did; one that died hands over nothing."""
        if output is None:
            self.is_full = False
            return
        for name in _SETS:
            getattr(self, name).update(map(Path, output[name]))
        self.is_full = self.is_full and output["is_full"]

    def unused(self) -> list[Path]:
        """List the goldens of the folders that were run that nobody asked for."""
        if not self.is_full or not self.folders:
            return []
        from pytest_clawperator.assertions import goldens

        used = {goldens.identity(path) for path in self.used}
        return sorted(
            path
            for folder in self.folders - self.unsure
            for path in (folder / goldens.FOLDER).glob("*")
            if path.suffix in goldens.SUFFIXES and goldens.identity(path) not in used
        )


#: On the config: what the run did with goldens.
GOLDEN_USE = pytest.StashKey[GoldenUse]()
