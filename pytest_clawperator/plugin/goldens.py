"""Goldens under pytest: where a test's are, writing them, unused ones, and ``==``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.golden import explain
from pytest_clawperator.plugin.run import write_line
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import GOLDEN_USE, UNCOLLECTED_FILES
from pytest_clawperator.plugin.worker_input import worker_input
from pytest_clawperator.snapshot.near_miss import nearest
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.text import shown_path

_SETS = ("used", "written", "folders")
# Folders without tests.
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
        self.claims = goldens.GoldenClaims()

    def to_output(self) -> dict[str, Any]:
        """Return plain values that a worker can send to the controller."""
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
        """List the goldens that no test used, in folders where all tests passed."""
        return [path for path in self._unasked() if path.parent.parent not in self.unsure]

    def unknown(self) -> dict[Path, int]:
        """Count the tests that did not pass, in folders with goldens that no test used."""
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


_OUTPUT = "clawperator_goldens"
_CLAIMS = "clawperator_golden_claims"
_SELECTING = ("keyword", "markexpr", "lf", "stepwise", "ignore", "ignore_glob")


def begin_goldens(config: pytest.Config) -> None:
    """Begin to count which goldens are used."""
    given = config.invocation_params.dir
    roots = [given / arg for arg in config.args]
    use = config.stash[GOLDEN_USE] = GoldenUse(is_full=not _is_selective(config), roots=roots)
    if (shared := worker_input(config).get(_CLAIMS)) is not None:
        use.claims = goldens.GoldenClaims(Path(shared))


def share_claims(node: Any) -> None:
    """Share what tests need goldens to hold with a worker, if goldens are updated."""
    if settings_of(node.config).update_goldens:
        node.workerinput[_CLAIMS] = str(node.config.stash[GOLDEN_USE].claims.folder)


def _is_selective(config: pytest.Config) -> bool:
    """Whether only some tests were selected."""
    given = config.invocation_params.dir
    paths = [given / arg.partition("::")[0] for arg in config.args]
    chosen = any("::" in arg for arg in config.args) or any(path.is_file() for path in paths)
    return chosen or any(config.getoption(name, None) for name in _SELECTING)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note that not all tests are run."""
    if items:
        items[0].config.stash[GOLDEN_USE].is_full = False


@contextmanager
def goldens_beside(item: pytest.Item) -> Iterator[None]:
    """Keep the goldens of a test next to it."""
    use = item.config.stash[GOLDEN_USE]
    folder = item.path.parent
    use.folders.add(folder)
    store = goldens.GoldenStore(
        folder,
        settings_of(item.config).update_goldens,
        used=use.used,
        written=use.written,
        claims=use.claims,
        test=item.nodeid,
    )
    before = goldens.use(store)
    try:
        yield
    finally:
        goldens.use(before)


def begin_attempt(item: pytest.Item) -> None:
    """Begin an attempt: what an earlier one needed goldens to hold counts no longer."""
    item.config.stash[GOLDEN_USE].claims.release(item.nodeid)


def note_outcome(item: pytest.Item, report: pytest.TestReport) -> None:
    """Note a test that may not have reached its goldens."""
    if report.failed or report.skipped:  # and not one that is run again
        item.config.stash[GOLDEN_USE].unsure[item.path.parent] += 1


def end_goldens(session: pytest.Session, exitstatus: int) -> None:
    """Send the use of goldens to the controller; note whether the run was cut short."""
    use = session.config.stash[GOLDEN_USE]
    for path in session.config.stash.get(UNCOLLECTED_FILES, []):
        use.unsure[path.parent] += 1
    if session.shouldstop or session.shouldfail or exitstatus not in (0, 1):
        use.is_full = False
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = use.to_output()


def add_worker_goldens(node: Any) -> None:
    """Add the goldens that a worker used."""
    node.config.stash[GOLDEN_USE].add(getattr(node, "workeroutput", {}).get(_OUTPUT))


def write_goldens(reporter: pytest.TerminalReporter) -> None:
    """List the goldens that were written, and those that no test uses."""
    use = reporter.config.stash[GOLDEN_USE]
    _list(reporter, "goldens written", map(shown_path, sorted(use.written)))
    unknown = [
        f"{shown_path(folder)}: unknown, because {count} of its tests did not finish"
        " (failed or skipped)"
        for folder, count in use.unknown().items()
    ]
    _list(reporter, "goldens that no test uses", [*map(shown_path, use.unused()), *unknown])


def _list(reporter: pytest.TerminalReporter, title: str, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines):
        if number == 0:
            reporter.section(title)
        write_line(reporter, line)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Show how a screen differs from a golden or another screen, or what is near a text."""
    if op == "in" and isinstance(left, str) and isinstance(right, Snapshot):
        near = nearest(right, Query.of(None, {"text": left}))
        return [f"{left!r} in {right!r}", *map(str, near)]
    return explain(left, right) if op == "==" else None
