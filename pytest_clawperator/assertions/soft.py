"""Failures that let a test go on, and fail it at its end."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import FrameType, TracebackType

from pytest_clawperator.errors import ConfigurationError, ExpectationError, SnapshotError
from pytest_clawperator.remedies import Wording, for_scripts

__tracebackhide__ = True  # a failure is shown at the test's own line

_PACKAGE = __name__.partition(".")[0]
_RUNNERS = ("_pytest", "pluggy")


class SoftFailures:
    """The failures of one phase of one test, in the order in which they came."""

    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        self.errors: list[ExpectationError | SnapshotError] = []

    def text(self) -> str:
        """Tell all of them, each with the line of the test that it comes from."""
        screen = None
        parts = []
        for number, error in enumerate(self.errors, 1):
            told, shown = str(error), error.details.get("screen")
            if shown and shown == screen:
                told = told.replace(shown, "  on the screen: as above")
            screen = shown or screen
            parts.append(f"{number}. {error.details['where']}\n{told}")
        return "\n".join(parts)

    @cached_property
    def error(self) -> ExpectationError | SnapshotError:
        """The one error that stands for all of them, raised where the first failed."""
        first = self.errors[0]
        if len(self.errors) == 1:
            return first
        combined = ExpectationError(
            f"{len(self.errors)} expectations did not come true\n{self.text()}",
            serial=first.serial,
            details={"errors": [str(error) for error in self.errors]},
        )
        return combined.with_traceback(first.__traceback__)


# The innermost is the current one; a run inside a test has its own.
_scopes: list[SoftFailures] = []


@contextmanager
def collecting(wording: Wording = for_scripts) -> Iterator[SoftFailures]:
    """Collect the failures of ``expect.soft`` within the block; ``wording`` is for their hints."""
    failures = SoftFailures(wording)
    _scopes.append(failures)
    try:
        yield failures
    finally:
        _scopes.remove(failures)


def collect(error: ExpectationError | SnapshotError) -> None:
    """Keep a failure for the end of the test."""
    if not _scopes:
        raise ConfigurationError(
            "expect.soft() has no test at whose end it could fail",
            hint="Use it in tests that run with this package as a plugin; elsewhere use expect().",
        ) from error
    frame = caller()
    error.wording = _scopes[-1].wording
    error.details["where"] = _where(frame)
    _scopes[-1].errors.append(error.with_traceback(_traceback(frame)))


def caller() -> FrameType:
    """Give the frame of whoever called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _where(frame: FrameType) -> str:
    path, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(path, line, frame.f_globals).strip()
    return f"{_shown(Path(path))}:{line}: {source}".removesuffix(": ")


def _shown(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _traceback(frame: FrameType | None) -> TracebackType | None:
    """Make the traceback that the failure would have had, had it been raised."""
    traceback = None
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith(_RUNNERS):
        traceback = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return traceback
