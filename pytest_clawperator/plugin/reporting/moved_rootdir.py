"""Says so where pytest took the value of an option for a place of tests, and moved its rootdir.

pytest looks for its rootdir and its ini file before it knows the options of plugins. So the
file of ``--claw-operator-apk ~/Downloads/x.apk`` counts as a test; that of
``--claw-operator-apk=~/Downloads/x.apk`` does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.text import visible

_PATHS = tuple(option.flag for option in OPTIONS if option.metavar in ("FILE", "FOLDER"))
# What pytest takes for the top of a project.
_TOPS = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg", "setup.py"),
)


@pytest.hookimpl(tryfirst=True)  # pytest prints the last result first
def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return a line for each such option, below that of the rootdir."""
    if is_worker(config) or config.getoption("rootdir") or config.getoption("inifilename", None):
        return []
    top = _top_of(config.invocation_params.dir)
    if config.rootpath == top:
        return []
    return [
        visible(
            f"clawperator: the rootdir is {config.rootpath} and not {top}, because pytest takes"
            f" {value} for a place of tests: write {flag}={value}"
        )
        for flag, value in _apart(list(map(str, config.invocation_params.args)))
        if _is_elsewhere(config.invocation_params.dir / value, top)
    ]


def _apart(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options with paths whose value is an argument of its own."""
    for flag, value in pairwise(arguments):
        if flag in _PATHS:
            yield flag, value


def _is_elsewhere(path: Path, top: Path) -> bool:
    return path.exists() and not path.resolve().is_relative_to(top)


def _top_of(start: Path) -> Path:
    """Return the folder that pytest would take for the top of the project without the options."""
    within = (start, *start.parents)
    return next(
        (folder for folder in within if any((folder / name).is_file() for name in _TOPS)), start
    )
