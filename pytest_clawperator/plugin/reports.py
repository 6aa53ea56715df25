"""Trouble with a device is an error of the run and not a failure of the test."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from pytest_clawperator.errors import ClawperatorError, ErrorCode, LeaseError
from pytest_clawperator.plugin.failures import (
    INFRASTRUCTURE,
    LEASE_PROBLEM,
    PUT_ASIDE,
    begin_message,
    begin_with_code,
    end_in_test,
    hide_inner_causes,
    is_infrastructure,
    is_put_aside,
    report_shared,
)
from pytest_clawperator.plugin.phones import PHONES_HINT, end_of_phones
from pytest_clawperator.plugin.stash import DEVICE_HEALTH, EVENTS
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report first that it was the device that failed, and where in the test that was."""
    is_full = item.config.getoption("fulltrace", False)
    error = call.excinfo.value if call.excinfo is not None else None
    end = _blame_phones(item.config, error) if is_infrastructure(error) else None
    if call.excinfo is not None and not is_full:
        end_in_test(call.excinfo)
    with _not_expected_to_fail(item) if is_infrastructure(error) else nullcontext():
        report = yield
    if not is_full:
        hide_inner_causes(report, error)
    report_shared(report, error)
    begin_with_code(report, error)
    if isinstance(error, LeaseError) or getattr(error, "code", None) == ErrorCode.DEVICE_LEASED:
        setattr(report, LEASE_PROBLEM, True)
    if report.failed and is_infrastructure(error):
        setattr(report, INFRASTRUCTURE, error.serial or True)
        if is_put_aside(error) or _is_given_up(item.config, error.serial):
            setattr(report, PUT_ASIDE, error.serial)
        begin_message(report, f"{error.code}: {error.message}")
        # What is found out before a test was shown by its check.
        if report.when != "setup" and end is None and EVENTS in item.config.stash:
            message = f"{error.code}: {error.message.splitlines()[0]}"
            item.config.stash[EVENTS].notice(error.serial or "", message)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a test whose device failed as an error."""
    return ("error", "E", "ERROR") if failed_in_call(report) else None


@contextmanager
def _not_expected_to_fail(item: pytest.Item) -> Iterator[None]:
    """Forget for a moment that a test is marked to fail, which says nothing of its device.

    A report that is corrected afterwards comes too late for others who read it, as Allure does.
    """
    # Where pytest's own part for this keeps it; there is no public name.
    key = getattr(item.config.pluginmanager.get_plugin("skipping"), "xfailed_key", None)
    if key is None:
        yield
        return
    expected, item.stash[key] = item.stash.get(key, None), None
    try:
        yield
    finally:
        item.stash[key] = expected


def _is_given_up(config: pytest.Config, serial: str | None) -> bool:
    """Whether a device of this process failed its check twice."""
    known = config.stash.get(DEVICE_HEALTH, {}).items()
    return any(health.is_put_aside and runner.serial == serial for runner, health in known)


def _blame_phones(config: pytest.Config, error: ClawperatorError) -> str | None:
    """Put first that phones are gone: that adb does not answer only follows from it."""
    end = end_of_phones(config, error.serial)
    # A fixture of several tests fails with the same error for each.
    if end is not None and end not in error.message:
        error.message, error.hint = f"{end}: {error.message}", PHONES_HINT
    return end
