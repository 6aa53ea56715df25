"""Finds runs in folders, and makes their pages and one index of all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.report.index.index_page import INDEX_FILE, write_index
from pytest_clawperator.report.index.reading import PAGE_FILE, Run, read_run
from pytest_clawperator.report.index.writing import RUN_FILE
from pytest_clawperator.report.page.page import write_page
from pytest_clawperator.report.trace.glancing import Glance, last_passed, traces_in
from pytest_clawperator.report.trace.reading import read_trace

_TRACE_FOLDER = "trace"


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """Return the runs in these folders; raise ``ConfigurationError`` for one without any.

    A folder that has traces and no file of a run is one run.
    """
    found: dict[Path, Run] = {}
    for folder in folders:
        if not folder.is_dir():
            what = "is not there" if not folder.exists() else "is no folder"
            raise ConfigurationError(
                f"{folder} {what}",
                code=ErrorCode.FILE_UNAVAILABLE,
                hint="Name the folder of a run, such as claw-results/20260305-101500-3fa2.",
            )
        places = list(_places(folder))
        if not places:
            raise ConfigurationError(
                f"{folder} has no {RUN_FILE} and no trace: nothing is known of its tests",
                hint="Name the folder of a run that used devices and kept traces, or one that"
                " has such folders.",
            )
        for place in places:
            found.setdefault(place.resolve(), read_run(place))
    return sorted(found.values(), key=lambda run: run.start)


def _places(folder: Path) -> Iterator[Path]:
    has_run = False
    for place, folders, files in os.walk(folder):
        folders.sort()
        if RUN_FILE in files:
            has_run = True
            folders.clear()
            yield Path(place)
    if not has_run and next(traces_in(folder), None) is not None:
        yield folder


def rebuild(runs: Sequence[Run], index: Path) -> list[Run]:
    """Write the page of each trace, the index of each run, and one of all; return the runs."""
    for run in runs:
        for found in traces_in(run.folder):
            trace = read_trace(found.folder)
            passed = last_passed(trace, run=run.folder.resolve().name)
            write_page(trace, _page_path(found), passed=passed)
    fresh = [read_run(run.folder) for run in runs]
    try:
        for run in fresh:
            write_index([run], run.folder / INDEX_FILE)
        write_index(fresh, index)
    except OSError as exc:
        raise ConfigurationError(
            f"{exc.filename or index} cannot be written: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="See that there is room, or name another file with --output.",
        ) from exc
    return fresh


def _page_path(trace: Glance) -> Path:
    """Return where the page of a trace is: beside it, or in one that has no folder around it."""
    is_kept = trace.folder.name == _TRACE_FOLDER
    return (trace.folder.parent if is_kept else trace.folder) / PAGE_FILE
