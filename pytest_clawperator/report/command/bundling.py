"""Packs the files of one test."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.report.index.reading import Run
from pytest_clawperator.report.index.record import TestEnded

_MOST_NAMED = 10


def chosen_test(runs: Sequence[Run], name: str) -> tuple[Run, TestEnded]:
    """Return the last attempt at the test that a name or a part of its id means."""
    known = [(run, test) for run in runs for test in run.tests if _folder_of(run, test)]
    whole = [pair for pair in known if pair[1].nodeid in (name, *_whole_ids(pair[1], name))]
    found = whole or [pair for pair in known if name in pair[1].nodeid]
    names = sorted({test.nodeid for _, test in found})
    if len(names) == 1:
        return max(found, key=lambda pair: pair[1].start)
    shown = names or sorted({test.nodeid for _, test in known})
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    listed = ", ".join(shown[:_MOST_NAMED]) + more or "none"
    raise ConfigurationError(
        f"--zip {name}: {'several tests fit' if names else 'no test with files fits'}: {listed}",
        hint="Give the whole id of one of them.",
    )


def _whole_ids(test: TestEnded, name: str) -> tuple[str, ...]:
    """Return the id of a test if that is its name alone."""
    return (test.nodeid,) if test.nodeid.rpartition("::")[2] == name else ()


def bundle(run: Run, test: TestEnded, output: Path | None) -> Path:
    """Write a zip with the files of a test, and return its path."""
    folder = _folder_of(run, test)
    assert folder is not None
    path = output or Path(f"{folder.name}.zip")
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for one in sorted(folder.rglob("*")):
                if one.is_file() and one.resolve() != path.resolve():
                    name = PurePosixPath(folder.name) / one.relative_to(folder).as_posix()
                    file.write(one, str(name))
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be written: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Name another file with --output.",
        ) from exc
    return path


def _folder_of(run: Run, test: TestEnded) -> Path | None:
    """Return the folder of a test's files, if there is one in that of the run."""
    place = test.folder or (str(PurePosixPath(test.page).parent) if test.page else "")
    if not place or place == ".":
        return None
    folder = (run.folder / place).resolve()
    is_inside = run.folder.resolve() in folder.parents
    return folder if is_inside and folder.is_dir() else None
