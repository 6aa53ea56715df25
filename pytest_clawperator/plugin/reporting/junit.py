"""JUnit XML counts tests whose device failed as errors, and not as failures."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.plugin.session.report_fields import INFRASTRUCTURE
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.redaction import hide, hide_in

# What others know a test by.
_TEST_NAMES = ("name", "classname", "file")


def pytest_configure(config: pytest.Config) -> None:
    """Correct the report, except in workers, whose reports are written by the controller."""
    if not is_worker(config):
        config.pluginmanager.register(JUnitErrors(config.pluginmanager), "clawperator-junit")


class JUnitErrors:
    """Corrects what JUnit XML says; by itself it calls whatever fails in a call a failure."""

    def __init__(self, pluginmanager: pytest.PytestPluginManager) -> None:
        self._plugins = pluginmanager

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Correct what was just written down."""
        if failed_in_call(report):
            for xml in junit_logs(self._plugins):
                _make_errors(xml, report)


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


def failed_in_call(report: pytest.TestReport) -> bool:
    """Whether the device failed while the test itself ran."""
    is_infrastructure = getattr(report, INFRASTRUCTURE, False)
    return bool(is_infrastructure and report.when == "call" and report.failed)


def _make_errors(xml: Any, report: pytest.TestReport) -> None:
    for node in xml.node_reporter(report).nodes:
        if node.tag == "failure":
            node.tag = "error"
            xml.stats["failure"] -= 1
            xml.stats["error"] += 1
