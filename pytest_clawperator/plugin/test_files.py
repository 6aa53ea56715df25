"""``test_*.claw.yaml`` files, collected as tests: each stands for a function of a module.

So fixtures, markers, parameters, evidence and reports are those of tests in Python.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from pathlib import Path
from traceback import extract_tb
from types import FunctionType, ModuleType
from typing import Any

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.test_files.file import SUFFIX, read_test_file
from pytest_clawperator.text import shown_path

_MARGIN = 4  # of the source lines in a report
_FAILING, _UNKNOWN = ">", "???"


class ClawTestFile(pytest.Module):
    """A file of tests without Python."""

    def _getobj(self) -> ModuleType:
        """Return the module that the file stands for."""
        module = ModuleType(self.path.name.removesuffix(SUFFIX))
        module.__file__ = str(self.path)
        try:
            read_test_file(self.path, root=self.config.rootpath).run(module.__dict__)
        except ClawperatorError as error:
            raise self.CollectError(str(error)) from error
        except pytest.fail.Exception as error:  # a marker that pytest does not know
            raise self.CollectError(f"{_place(self.path, error)}: {error}") from error
        for name, value in vars(module).items():
            if isinstance(value, FunctionType):
                # Independent of python_functions, which is about tests in Python.
                vars(value)["__test__"] = name.startswith("test_")
        return module

    def show_whole_steps(self, report: pytest.TestReport) -> None:
        """Show all lines of the step that failed, not only its first."""
        for entry in _entries(report.longrepr):
            _show_whole_step(entry)


def _place(path: Path, error: BaseException) -> str:
    """Return the line of a file in which an error was raised."""
    frames = [one for one in extract_tb(error.__traceback__) if one.filename == str(path)]
    return f"{shown_path(path)}:{frames[-1].lineno}"


def _entries(longrepr: Any) -> Iterator[Any]:
    """Yield the parts of a report that show lines of a test file."""
    for traceback, *_ in getattr(longrepr, "chain", ()):
        for entry in traceback.reprentries:
            place = getattr(entry, "reprfileloc", None)
            if place is not None and place.path.endswith(SUFFIX):
                yield entry


def _show_whole_step(entry: Any) -> None:
    shown = next((n for n, line in enumerate(entry.lines) if line.startswith(_FAILING)), None)
    if shown is None:
        return
    first = entry.reprfileloc.lineno
    source = linecache.getlines(str(Path.cwd() / entry.reprfileloc.path))
    line = source[first - 1].rstrip("\n")
    if entry.lines[shown].endswith(_UNKNOWN):  # above the test: a variable of the whole file
        entry.lines[shown] = f"{_FAILING:<{_MARGIN}}{line}"
    cut = len(line) - len(entry.lines[shown][_MARGIN:])
    if not "".join(entry.lines[shown + 1 : shown + 2]).strip():
        del entry.lines[shown + 1 : shown + 2]  # marks no part of the line
    more = [" " * _MARGIN + line.rstrip("\n")[cut:] for line in _rest_of_step(source, first)]
    entry.lines[shown + 1 : shown + 1] = more


def _rest_of_step(source: list[str], first: int) -> Iterator[str]:
    """Yield the lines after the first that are indented deeper, and so belong to it."""
    margin = _indent(source[first - 1])
    for line in source[first:]:
        if not line.strip() or _indent(line) <= margin:
            return
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
