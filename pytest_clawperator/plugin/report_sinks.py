"""Where the events of a test go: its trace file, and reports of other formats."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.plugin.run import call_hook, events_of, shown_path, wrong_result
from pytest_clawperator.plugin.stash import REPORT_SINKS
from pytest_clawperator.redaction import hide_in
from pytest_clawperator.report import allure
from pytest_clawperator.report.allure import AllureSink
from pytest_clawperator.report.sinks import Attachment, HtmlSink, JUnitSink, ReportSink
from pytest_clawperator.report.trace import TraceEvent, TraceWriter

_HOOK = "pytest_clawperator_report_sinks"

_ALLURE = "allure_listener"

_METHODS = ("write", "attach", "complete")

_PACKAGES = ("pytest_clawperator",)


class ReportSinks:
    """Tells all sinks; one that raises is told of once, and fails no test."""

    def __init__(self, sinks: Sequence[ReportSink], notice: Callable[[str, str], None]) -> None:
        self._sinks = sinks
        self._notice = notice
        self._lock = threading.RLock()
        #: Whether a sink wants to know each step of a test.
        self.need_steps = any(getattr(sink, "needs_steps", True) for sink in sinks)

    def write(self, event: TraceEvent) -> None:
        """Tell what happened, without secrets."""
        hide_in(event, packages=_PACKAGES)
        self._tell("write", event)

    def attach(self, attachment: Attachment) -> None:
        """Add a file to all reports."""
        self._tell("attach", attachment)

    def complete(self, report: pytest.TestReport) -> None:
        """Add to pytest's report of a phase."""
        self._tell("complete", report)

    def _tell(self, method: str, value: object) -> None:
        with self._lock:
            for sink in self._sinks:
                try:
                    getattr(sink, method)(value)
                except Exception as exc:  # somebody else's report is no reason to fail a test
                    self._notice("", f"the report sink {type(sink).__name__} failed: {exc!r}")


def sinks_of(config: pytest.Config) -> ReportSinks:
    """Return the sinks of this process."""
    if REPORT_SINKS not in config.stash:
        found: list[ReportSink] = []
        for result in call_hook(getattr(config.hook, _HOOK), config=config):
            found += _checked(result)
        config.stash[REPORT_SINKS] = ReportSinks(found, events_of(config).notice)
    return config.stash[REPORT_SINKS]


def own_sinks(config: pytest.Config) -> list[ReportSink]:
    """Return our own sinks, for the reports that are asked for."""
    found: list[ReportSink] = [JUnitSink(partial(shown_path, config))]
    listener = config.pluginmanager.get_plugin(_ALLURE)
    if listener is not None:
        found.append(AllureSink(listener.allure_logger))
    page = getattr(config.option, "htmlpath", None)
    if page:
        folder = (config.invocation_params.dir / Path(page).expanduser()).parent
        found.append(HtmlSink(folder, whole=bool(config.option.self_contained_html)))
    return found


def guard_reports(config: pytest.Config) -> None:
    """Hide secrets in reports that others write."""
    if config.pluginmanager.has_plugin(_ALLURE):
        allure.guard()


def _checked(result: Any) -> list[ReportSink]:
    is_list = isinstance(result, (list, tuple))
    if not is_list or not all(hasattr(one, name) for one in result for name in _METHODS):
        wanted = "a list of objects with write, attach and complete, as ReportSink has them"
        raise wrong_result(_HOOK, result, wanted)
    return list(result)


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
