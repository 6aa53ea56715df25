"""Writes the index of a run, or of several: one file, which asks nobody for anything."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_clawperator.redaction import hide_in
from pytest_clawperator.report.index.likeness import groups_of
from pytest_clawperator.report.index.reading import Run
from pytest_clawperator.report.index.record import OUTCOMES, TestEnded
from pytest_clawperator.report.page.page import page_of, write_file

INDEX_FILE = "index.html"
_MOST_MESSAGE = 1_000
_MOST_NAMED = 200


def write_index(runs: Sequence[Run], path: Path) -> None:
    """Write the index of these runs to a file, whose links are relative to its folder."""
    write_file(path, index_text(runs, folder=path.parent))


def index_text(runs: Sequence[Run], *, folder: Path) -> str:
    """Return the index of these runs, whose links start in ``folder``."""
    tests = [test for run in runs for test in run.tests]
    title = f"{told_counts(tests)}: {_name(runs)}"
    data = {
        "name": _name(runs),
        "runs": [
            {"name": run.name, "start": run.start, "environment": run.environment} for run in runs
        ],
        "devices": {serial: about for run in runs for serial, about in run.devices.items()},
        "tests": [
            _shown(test, run, place, folder) for place, run in enumerate(runs) for test in run.tests
        ],
        "groups": groups_of(tests),
    }
    return page_of(
        "index/index.html",
        entry="index/main.js",
        styles=("base/base.css", "index/index.css"),
        title=title,
        data=hide_in(data),
        summary=_summary(title, tests),
    )


def told_counts(tests: Sequence[TestEnded]) -> str:
    """Return how many tests had which outcome, the bad ones first."""
    counts = Counter(test.outcome for test in tests)
    told = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome]]
    return ", ".join(told) or "no tests"


def _name(runs: Sequence[Run]) -> str:
    return runs[0].name if len(runs) == 1 else f"{len(runs)} runs"


def _shown(test: TestEnded, run: Run, place: int, folder: Path) -> dict[str, Any]:
    """Return what the page needs of a test; what is not known is left out."""
    shown = {
        "nodeid": test.nodeid,
        "outcome": test.outcome,
        "attempt": test.attempt,
        "run": place,
        "worker": test.worker,
        "devices": list(test.devices),
        # From the beginning of its run: those of other computers begin at other times.
        "start": round(test.start - run.start, 3),
        "seconds": round(test.stop - test.start, 3),
        "phases": {name: round(one, 3) for name, one in test.seconds.items()},
        "is_infrastructure": test.is_infrastructure,
        "markers": list(test.markers),
        "page": _link(test.page, run, folder),
        "folder": _link(test.folder, run, folder),
    }
    if test.error is not None:
        shown |= {
            "message": test.error.message[:_MOST_MESSAGE],
            "code": test.error.code,
            "phase": test.error.phase,
        }
    return {name: value for name, value in shown.items() if value or _is_number(value)}


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _link(path: str, run: Run, folder: Path) -> str:
    """Return a path in the folder of a run as seen from another folder; empty if there is none."""
    if not path or "\0" in path or Path(path).is_absolute():
        return ""
    try:
        target = (run.folder / path).resolve()
        if not target.exists():
            return ""
        return quote(Path(os.path.relpath(target, folder.resolve())).as_posix())
    except (OSError, ValueError):
        return ""


def _summary(title: str, tests: Sequence[TestEnded]) -> str:
    """Return what happened in a few lines of HTML, for browsers that run no scripts here."""
    bad = [test for test in tests if test.error is not None and test.outcome != "rerun"]
    lines = [f"<li>{_escaped(f'{test.outcome}: {test.nodeid}')}</li>" for test in bad[:_MOST_NAMED]]
    return f"<h1>{_escaped(title)}</h1>\n<ul>{''.join(lines)}</ul>"


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))
