"""Writes what became of the tests of a run, line by line, as it becomes known."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_clawperator.redaction import SECRETS, hide_in, hide_in_document
from pytest_clawperator.report.trace.events import TraceEvent
from pytest_clawperator.report.trace.writing import to_line

RUN_FILE = "run.jsonl"


class RunLog:
    """Appends lines to the file of a run; each is there before the next test is reported.

    Nothing is written before :meth:`open`; lines that come earlier are written then.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / RUN_FILE
        self._waiting: list[TraceEvent] = []
        self._file: int | None = None
        self._secrets = SECRETS.secrets

    @property
    def is_open(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def open(self) -> None:
        """Begin the file, and write what waits."""
        if self._file is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self.add(event)

    def add(self, event: TraceEvent) -> None:
        """Append a line, without secrets."""
        if self._file is None:
            self._waiting.append(event)
            return
        line = to_line(hide_in(event.to_json()))
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        """End the file; secrets that became known since are hidden in it."""
        if self._file is None:
            return
        os.close(self._file)
        self._file = None
        if SECRETS.secrets != self._secrets:
            lines = self._path.read_bytes().splitlines(keepends=True)
            hidden = [hide_in_document(line, name=".json") for line in lines]
            self._path.write_bytes(b"".join(hidden))
