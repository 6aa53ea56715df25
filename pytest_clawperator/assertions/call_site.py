"""The line of the user's code that called into this package."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType, TracebackType

_PACKAGE = __name__.partition(".")[0]
_RUNNERS = ("_pytest", "pluggy")


def calling_frame() -> FrameType:
    """Return the frame of the code that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def described(frame: FrameType) -> str:
    """Return file, line and source of a frame, as in ``test_a.py:3: expect(...)``."""
    path, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(path, line, frame.f_globals).strip()
    return f"{_relative(Path(path))}:{line}: {source}".removesuffix(": ")


def traceback_to(frame: FrameType | None) -> TracebackType | None:
    """Build the traceback that an error would have if it were raised at a frame."""
    traceback = None
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith(_RUNNERS):
        traceback = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return traceback


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def _relative(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
