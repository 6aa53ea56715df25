"""Places in the code of a test: which line did it, and what stands around a failure."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path
from types import CodeType, FrameType

from pytest_clawperator.assertions.call_site import calling_frame
from pytest_clawperator.report.trace import Excerpt, Source

_PACKAGE = "pytest_clawperator"
# Whose frames are no code of the user's.
_RUNNERS = ("_pytest", "pluggy", "xdist", "execnet", "contextlib", "threading")
_BEFORE = 8


class Places:
    """Finds places in the code below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[CodeType, int], Source] = {}

    def current(self) -> Source | None:
        """Return the line of the test, or of its fixture, that is being carried out."""
        frame: FrameType | None = calling_frame()
        return None if frame is None or _is_foreign(frame) else self._source(frame, frame.f_lineno)

    def excerpt(self, error: BaseException) -> Excerpt | None:
        """Return the lines up to the innermost place of an error that is the user's code.

        What stands below was not carried out, and what is secret in it is not known.
        """
        frames = list(traceback.walk_tb(error.__traceback__))
        own = [(frame, line) for frame, line in frames if not _is_foreign(frame)]
        if not own:
            return None
        frame, line = own[-1]
        lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
        first = max(line - _BEFORE, frame.f_code.co_firstlineno)
        shown = [text.rstrip("\r\n") for text in lines[first - 1 : line]]
        return Excerpt(source=self._source(frame, line), first=first, lines=shown)

    def _source(self, frame: FrameType, line: int) -> Source:
        code = frame.f_code
        if (code, line) not in self._known:
            text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
            file = self._shown(code.co_filename)
            self._known[code, line] = Source(file=file, line=line, function=code.co_name, text=text)
        return self._known[code, line]

    def _shown(self, path: str) -> str:
        try:
            return Path(path).relative_to(self._root).as_posix()
        except ValueError:
            return path


def _is_foreign(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in (_PACKAGE, *_RUNNERS)
