"""Where the events of a trace go: its file, if it has one, and reports of other formats."""

from __future__ import annotations

from pytest_clawperator.plugin.evidence.report_sinks import ReportSinks
from pytest_clawperator.report.trace import TraceEvent, TraceWriter


class TraceOutput:
    """Passes events on; without a file no blob is kept."""

    def __init__(self, writer: TraceWriter | None, sinks: ReportSinks) -> None:
        self.writer = writer
        self._sinks = sinks

    def write(self, event: TraceEvent) -> None:
        """Add an event."""
        if self.writer is not None:
            self.writer.write(event)
        self._sinks.write(event)

    def keep(self, content: bytes, suffix: str) -> str:
        """Keep a blob, and return its name; empty without a file."""
        return "" if self.writer is None else self.writer.keep(content, suffix)
