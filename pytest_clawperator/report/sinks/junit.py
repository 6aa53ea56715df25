"""JUnit XML: the devices and files of a test are its properties."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_clawperator.report.sinks.protocol import Attachment, ReportSink
from pytest_clawperator.report.trace.events import DeviceUsed, TraceBegan, TraceEvent
from pytest_clawperator.text import visible

_PREFIX = "clawperator_"
# What is told of a device, and how a trace calls it.
_FACTS = {"model": "model", "api": "API level"}


class JUnitSink(ReportSink):
    """Adds properties to reports, which are not only for JUnit XML.

    ``show`` returns a path as it is written down. Properties of the test's own stay.
    """

    needs_steps = False

    def __init__(self, show: Callable[[Path], str]) -> None:
        self._show = show
        self._properties: list[tuple[str, str]] = []

    def write(self, event: TraceEvent) -> None:
        """Take note of a device."""
        if isinstance(event, TraceBegan):
            self._properties = []
        elif isinstance(event, DeviceUsed):
            self._add("device", event.serial)
            for name, key in _FACTS.items():
                if key in event.about:
                    self._add(name, event.about[key])

    def attach(self, attachment: Attachment) -> None:
        """Take note of a file."""
        self._add(attachment.kind, self._show(attachment.path))

    def complete(self, report: Any) -> None:
        """Add what is known by now."""
        known = report.user_properties
        report.user_properties = [*known, *(one for one in self._properties if one not in known)]
        if report.when == "teardown":
            self._properties = []

    def _add(self, name: str, value: str) -> None:
        self._properties.append((f"{_PREFIX}{name}", visible(value)))
