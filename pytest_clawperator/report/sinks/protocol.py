"""What a report of another format gets: events as they happen, files, and pytest's reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pytest_clawperator.report.trace.events import TraceEvent


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file of a test: what it is called, where it is, and what is in it.

    ``kind`` is what it shows: ``screenshot``, ``snapshot``, ``log``, ``envelopes``, ``video``,
    ``picture``, ``trace`` or ``attachment``.
    """

    name: str
    path: Path
    mime: str
    kind: str = "attachment"


class ReportSink(Protocol):
    """A report of another format, in the process that runs the tests.

    Tests follow one another; ``TraceBegan`` is the first event of each attempt that uses a
    device, ``TraceEnded`` the last, unless the test is broken off. Secrets are hidden. A class
    that derives from this one defines what it needs. With ``--claw-trace=off``, one that does
    not need steps is told only of the test and its devices.
    """

    needs_steps: ClassVar[bool] = True

    def write(self, event: TraceEvent) -> None:
        """Take note of what happens in a test."""
        return

    def attach(self, attachment: Attachment) -> None:
        """Add a file to the report of the current test."""
        return

    def complete(self, report: Any) -> None:
        """Add to pytest's report of a phase that ended, which goes on to the controller."""
        return
