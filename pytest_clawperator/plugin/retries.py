"""A test whose device failed is run once more, on another device.

One that could not begin, because its device was put aside, only goes to another device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

from pytest_clawperator.plugin.failures import (
    DEVICE_PROPERTY,
    INFRASTRUCTURE,
    LEASE_PROBLEM,
    PUT_ASIDE,
)
from pytest_clawperator.plugin.report_sinks import junit_logs
from pytest_clawperator.plugin.run import events_of, write_line
from pytest_clawperator.plugin.scheduler import DeviceScheduling, save_durations
from pytest_clawperator.plugin.stash import DEVICE_POOL

#: The outcome of a test that is run once more, as pytest-rerunfailures calls it too.
RERUN = "rerun"
# Why a test whose device failed was not run once more after all.
_STOPPED = "the run was stopped before another device could run it again"
_NOBODY_LEFT = "no other device was left to run it again"
# A worker and a test.
Attempt = tuple[str, str]


class Retries:
    """Moves the tests of devices that fail to others; registered in the controller."""

    def __init__(self, config: pytest.Config, scheduler: DeviceScheduling) -> None:
        self._config = config
        self._scheduler = scheduler
        self._xdist: Any = config.pluginmanager.get_plugin("dsession")
        self._pool = config.stash[DEVICE_POOL]
        self._moved: Counter[str] = Counter()
        self._unbegun: Counter[str] = Counter()
        self._put_aside: set[str] = set()
        self._ended: set[Attempt] = set()  # those that have their result
        self._retried: set[Attempt] = set()  # those whose test is run once more
        self._promised: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Judge a report before others see it, and stop the run where they want that then."""
        node = getattr(report, "node", None)
        if node is not None:
            self._judge(node, report)
        yield
        session: Any = self._config.pluginmanager.get_plugin("session")
        if getattr(report, INFRASTRUCTURE, False):  # its worker did not stop by itself
            self._xdist.shouldstop = self._xdist.shouldstop or session.shouldstop

    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Call a test that is run once more what it is called elsewhere."""
        if report.outcome == RERUN:
            return "rerun", "R", ("RERUN", {"yellow": True})
        return None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep how long the tests took; report those whose second run did not take place."""
        save_durations(self._config, self._scheduler.seen)
        for test in self._scheduler.unrun:
            if test in self._promised:
                is_stopped = bool(self._xdist.shouldstop)
                report = _not_run_again(test, _STOPPED if is_stopped else _NOBODY_LEFT)
                self._config.hook.pytest_runtest_logreport(report=report)
                session.testsfailed += 1
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the devices that failed under tests which were then run elsewhere."""
        flaky = sorted({*self._moved, *self._unbegun, *self._put_aside})
        if self._config.get_verbosity() < 0 or not flaky:
            return
        terminalreporter.section("flaky devices")
        width = max(map(len, flaky))
        for serial in flaky:
            parts = [_moved(self._moved[serial])] if self._moved[serial] else []
            parts += [_unbegun(self._unbegun[serial])] if self._unbegun[serial] else []
            parts += ["it was put aside"] if serial in self._put_aside else []
            write_line(terminalreporter, f"{serial:{width}}  {'; '.join(parts)}", yellow=True)

    def _judge(self, node: Any, report: pytest.TestReport) -> None:
        """Retry a test whose device failed, and put aside a device that is dead."""
        attempt = node.gateway.id, report.nodeid
        is_lease = getattr(report, LEASE_PROBLEM, False)
        if report.failed and getattr(report, INFRASTRUCTURE, False) and not is_lease:
            self._put_aside_device(node, getattr(report, PUT_ASIDE, None))
            # A worker without a device has none that failed: what it reports is true of all.
            is_open = attempt not in self._ended and node.gateway.id in self._pool.taken
            has_begun = not self._is_before_test(node, report)
            if is_open and self._scheduler.retry(node, report.nodeid, has_begun=has_begun):
                self._make_rerun(attempt, report, has_begun=has_begun)
        elif report.when == "call" or not report.passed:
            self._ended.add(attempt)  # it has its result: what follows does not change it
        if report.when == "teardown":
            self._ended.discard(attempt)
            if attempt in self._retried:  # the end of such an attempt does not count
                self._retried.discard(attempt)
                report.outcome = "passed"

    def _is_before_test(self, node: Any, report: pytest.TestReport) -> bool:
        """Whether a test did not begin, because the device of its worker is put aside."""
        device = self._pool.taken.get(node.gateway.id)
        serial = getattr(report, PUT_ASIDE, None)
        return report.when == "setup" and device is not None and device.serial == serial

    def _make_rerun(self, attempt: Attempt, report: pytest.TestReport, *, has_begun: bool) -> None:
        """Turn a report into that of a test which is run once more, and which does not count.

        A test that did not begin was not run, so its report is empty.
        """
        if attempt in self._retried:  # an earlier report of this attempt was made one
            return
        self._retried.add(attempt)
        self._promised.add(report.nodeid)
        if has_begun:
            report.outcome = RERUN  # type: ignore[assignment]  # as other plugins that do so
            self._moved[self._blamed(attempt[0], report)] += 1
        else:
            report.outcome, report.longrepr = "passed", None
            self._unbegun[self._blamed(attempt[0], report)] += 1
        for xml in junit_logs(self._config.pluginmanager):
            # Otherwise this attempt would look like a test that passed.
            xml.node_reporters_ordered.remove(xml.node_reporter(report))

    def _blamed(self, worker_id: str, report: pytest.TestReport) -> str:
        """Return the device that failed: the worker's own, or a spare one."""
        serial = getattr(report, INFRASTRUCTURE)
        if serial in [one.serial for one in self._pool.held]:
            return str(serial)
        return str(dict(report.user_properties).get(DEVICE_PROPERTY) or worker_id)

    def _put_aside_device(self, node: Any, serial: str | None) -> None:
        """Put aside the device of a worker, and show that; a spare one is not the worker's own."""
        device = self._pool.taken.get(node.gateway.id)
        if device is None or device.serial != serial:
            return
        if serial not in self._put_aside:
            self._put_aside.add(serial)
            events_of(self._config).show(
                f"[{serial}] the device is put aside: its tests go to other devices that fit"
            )
        self._pool.put_aside(node.gateway.id)
        self._scheduler.device_failed(node)


def _moved(times: int) -> str:
    tests = "1 test was" if times == 1 else f"{times} tests were"
    return f"{tests} run once more on another device"


def _unbegun(times: int) -> str:
    tests = "1 test" if times == 1 else f"{times} tests"
    return f"{tests} went to another device before {'it' if times == 1 else 'they'} began"


def _not_run_again(test: str, reason: str) -> pytest.TestReport:
    path = test.partition("::")[0]
    report = pytest.TestReport(
        nodeid=test,
        location=(path, None, test),
        keywords={},
        outcome="failed",
        longrepr=f"the device failed under this test, and {reason}",
        when="call",
    )
    setattr(report, INFRASTRUCTURE, True)
    return report


class WorkerLimits:
    """Keeps a worker from ending where its device failed: the test may be run once more."""

    def __init__(self, config: pytest.Config) -> None:
        self._options = config.option
        self._plugins = config.pluginmanager
        self._failed: str | None = None  # the last test whose device failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Allow one failure more, and let ``--stepwise`` not stop there; the controller decides."""
        if getattr(report, INFRASTRUCTURE, False):
            self._failed = report.nodeid
        if not report.failed or report.nodeid != self._failed:
            return (yield)
        if self._options.maxfail:
            self._options.maxfail += 1
        session: Any = self._plugins.get_plugin("session")
        before = session.shouldstop
        yield
        session.shouldstop = before or ""  # once it is set, pytest ignores False
