"""Where the events of a test go: its trace file, and reports of other formats."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.plugin.failures import ASSERTED, DEVICE_FACTS, is_devices_fault
from pytest_clawperator.plugin.run import call_hook, events_of, wrong_result
from pytest_clawperator.plugin.stash import REPORT_SINKS
from pytest_clawperator.redaction import hide, hide_in
from pytest_clawperator.report import allure
from pytest_clawperator.report.allure import AllureSink, write_run_files
from pytest_clawperator.report.sinks import Attachment, HtmlSink, JUnitSink, ReportSink
from pytest_clawperator.report.trace import TraceEvent, TraceWriter
from pytest_clawperator.text import shown_path

#: What reports of a run name as its environment.
VERSIONS = {"Python": platform.python_version(), "pytest": pytest.__version__}
_HOOK = "pytest_clawperator_report_sinks"
_ALLURE = "allure_listener"
_METHODS = ("write", "attach", "complete")
_PACKAGES = ("pytest_clawperator",)
# What others know a test by in JUnit XML.
_TEST_NAMES = ("name", "classname", "file")


class ReportSinks:
    """Passes events to all sinks; one that raises is reported, and fails no test."""

    def __init__(self, sinks: Sequence[ReportSink], notice: Callable[[str, str], None]) -> None:
        self._sinks = sinks
        self._notice = notice
        self._lock = threading.RLock()
        #: Whether a sink wants to know each step of a test.
        self.need_steps = any(getattr(sink, "needs_steps", True) for sink in sinks)

    def write(self, event: TraceEvent) -> None:
        """Pass an event on, without secrets."""
        hide_in(event, packages=_PACKAGES)
        self._pass_on("write", event)

    def attach(self, attachment: Attachment) -> None:
        """Add a file to all reports."""
        self._pass_on("attach", attachment)

    def complete(self, report: pytest.TestReport) -> None:
        """Add to pytest's report of a phase."""
        self._pass_on("complete", report)

    def _pass_on(self, method: str, value: object) -> None:
        with self._lock:
            for sink in self._sinks:
                try:
                    getattr(sink, method)(value)
                except Exception as exc:  # an error in a sink must not fail a test
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
    found: list[ReportSink] = [JUnitSink(partial(shown_path, start=config.invocation_params.dir))]
    listener = config.pluginmanager.get_plugin(_ALLURE)
    if listener is not None:
        found.append(AllureSink(listener.allure_logger, status_of=_allure_status))
    page = getattr(config.option, "htmlpath", None)
    if page:
        folder = (config.invocation_params.dir / Path(page).expanduser()).parent
        found.append(HtmlSink(folder, whole=bool(config.option.self_contained_html)))
    return found


def _allure_status(report: pytest.TestReport) -> str | None:
    """Return what Allure should say of a failure, which it decides by the type of its error."""
    if is_devices_fault(report):
        return "broken"
    if getattr(report, ASSERTED, False):
        return "failed"
    return "broken" if report.when == "teardown" else None


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


def junit_logs(pluginmanager: pytest.PytestPluginManager) -> list[Any]:
    """Return who writes JUnit XML, if it is asked for; pytest has no public name for it."""
    return [one for one in pluginmanager.get_plugins() if type(one).__name__ == "LogXML"]


def hide_in_junit(pluginmanager: pytest.PytestPluginManager) -> None:
    """Hide secrets in what tests wrote there without a report."""
    for xml in junit_logs(pluginmanager):
        xml.global_properties = hide_in(xml.global_properties)
        for reporter in xml.node_reporters_ordered:
            for name, value in reporter.to_xml().attrib.items():
                if name not in _TEST_NAMES:
                    reporter.to_xml().set(name, hide(value))


def correct_junit(pluginmanager: pytest.PytestPluginManager, report: pytest.TestReport) -> None:
    """Correct what JUnit XML has just written of a test that failed.

    It is an error, if its device failed; and it is not skipped, even if one of its subtests is.
    """
    for xml in junit_logs(pluginmanager):
        nodes = xml.node_reporter(report).nodes
        for node in list(nodes):
            if node.tag == "failure" and is_devices_fault(report):
                node.tag = "error"
                xml.stats["failure"] -= 1
                xml.stats["error"] += 1
            elif node.tag == "skipped":
                nodes.remove(node)
                xml.stats["skipped"] -= 1


class AllureFiles:
    """Collects the devices of a run, and writes the files at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._devices: dict[str, dict[str, str]] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Note the devices of a report."""
        self._devices.update(getattr(report, DEVICE_FACTS, {}))

    def write(self) -> None:
        """Write the files, if Allure reports this run and a test used a device."""
        folder = getattr(self._config.option, "allure_report_dir", None)
        if not folder or not self._devices:
            return
        devices = {
            f"device.{serial}": ", ".join(f"{name} {one}" for name, one in about.items())
            for serial, about in sorted(self._devices.items())
        }
        try:
            write_run_files(self._config.invocation_params.dir / folder, {**VERSIONS, **devices})
        except OSError as exc:
            events_of(self._config).notice("", f"no environment in Allure's report: {exc}")
