"""Which worker runs which test: one whose device will do, and once more if the device failed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin.evidence.used_clients import DEVICE_PROPERTY
from pytest_clawperator.plugin.leasing.device_needs import Needs, unmet
from pytest_clawperator.plugin.leasing.matrix import classes_of
from pytest_clawperator.plugin.options import STARTS_LATE, settings_of
from pytest_clawperator.plugin.reporting.infrastructure import INFRASTRUCTURE, PUT_ASIDE, junit_logs
from pytest_clawperator.plugin.stash import NEEDS, POOL, WORKERS
from pytest_clawperator.plugin.usage import needs_devices
from pytest_clawperator.plugin.xdist.durations import load_durations, save_durations

if TYPE_CHECKING:
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.plugin.xdist.scheduling import DeviceScheduling

#: The outcome of a test that is run once more, as pytest-rerunfailures calls it too.
RERUN = "rerun"
#: Of a report: that the run does not have the device, which is not the device's fault.
LEASE = "clawperator_lease"

# Why a test whose device failed was not run once more after all.
_STOPPED = "the run was stopped before another device could run it again"
_NOBODY_LEFT = "no other device was left to run it again"


def pytest_configure(config: pytest.Config) -> None:
    """Let workers leave it to the controller what counts for ``--maxfail`` and ``--stepwise``."""
    if getattr(config, "workerinput", {}).get("workercount", 1) > 1:  # one alone retries nothing
        config.pluginmanager.register(_Patience(config), "clawperator-patience")


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Refuse a matrix where tests would go to devices of any class, and be skipped there."""
    settings, dist = settings_of(config), config.getoption("dist")
    is_asked = settings.matrix is not None and not settings.validate
    if is_asked and dist != "load" and needs_devices(config):
        raise pytest.UsageError(
            f"--claw-matrix needs --dist load, and this run has --dist {dist}, which deals out"
            " tests without regard to devices: leave --dist out, plain -n is enough"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker that starts when others have run tests, in place of one of them."""
    session = node.config.pluginmanager.get_plugin("dsession")
    if POOL in node.config.stash and getattr(session, "sched", None) is not None:
        node.workerinput[STARTS_LATE] = True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Say once that another ``--dist`` brings tests to devices that do not fit."""
    config, dist = node.config, node.config.getoption("dist")
    if dist == "load" or POOL not in config.stash:
        return
    devices = [one.info for one in config.stash[POOL].taken.values()]
    distinct = set(config.stash.get(NEEDS, {}).values())
    if any(each.unmet(info) for one in distinct for each in one.requires for info in devices):
        _say(
            config,
            f"--dist {dist} deals out tests without regard to their claw_device markers: a worker"
            " skips those that its device does not fit; plain -n finds a device for each",
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note that an error is about a lease."""
    report = yield
    errors = sys.modules.get("pytest_clawperator.errors")
    if errors is not None and call.excinfo is not None:
        error = call.excinfo.value
        code = getattr(error, "code", None)
        if isinstance(error, errors.LeaseError) or code == errors.ErrorCode.DEVICE_LEASED:
            setattr(report, LEASE, True)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> DeviceScheduling | None:
    """Schedule by devices, where tests are balanced and nobody asked for another way."""
    if POOL not in config.stash or config.getoption("dist") != "load":
        return None
    distribution = Distribution(config)
    config.pluginmanager.register(distribution, "clawperator-distribution")
    distribution.scheduler.config = config
    return distribution.scheduler


class _Patience:
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
        session.shouldstop = before or ""  # False would be ignored once somebody has set it


class Distribution:
    """Knows which device will do for which test, and moves the tests of devices that fail."""

    def __init__(self, config: pytest.Config) -> None:
        from pytest_clawperator.plugin.xdist.scheduling import DeviceScheduling

        self._config = config
        self._xdist: Any = config.pluginmanager.get_plugin("dsession")
        self._pool = config.stash[POOL]
        self._durations = load_durations(config)
        self._known: dict[tuple[Needs, str], bool] = {}
        self._moved: Counter[str] = Counter()
        self._dead: set[str] = set()
        # Workers and tests: attempts that have their result, and those that are run once more.
        self._ended: set[tuple[str, str]] = set()
        self._retried: set[tuple[str, str]] = set()
        self._promised: set[str] = set()
        self.scheduler = DeviceScheduling(
            workers=config.stash[WORKERS] - settings_of(config).spare_devices,
            device_of=self._device_of,
            fits=self._fits,
            duration_of=self._durations.get,
            replace_worker=self._replace,
            say=partial(_say, config),
            collection_error=partial(_collection_error, config),
        )

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

    def _judge(self, node: Any, report: pytest.TestReport) -> None:
        """Have a test whose device failed run once more, and give up a device that is dead."""
        attempt = node.gateway.id, report.nodeid
        is_device = getattr(report, INFRASTRUCTURE, False) and not getattr(report, LEASE, False)
        if report.failed and is_device:
            self._put_aside(node, getattr(report, PUT_ASIDE, None))
            # A worker without a device has none that failed: what it says is true of all.
            is_open = attempt not in self._ended and node.gateway.id in self._pool.taken
            if is_open and self.scheduler.retry(node, report.nodeid):
                self._retry(attempt, report)
        elif report.when == "call" or not report.passed:
            self._ended.add(attempt)  # it has its result: what follows does not change it
        if report.when == "teardown":
            self._ended.discard(attempt)
            if attempt in self._retried:  # nobody counts how such an attempt ended
                self._retried.discard(attempt)
                report.outcome = "passed"

    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Call a test that is run once more what it is called elsewhere."""
        if report.outcome == RERUN:
            return "rerun", "R", ("RERUN", {"yellow": True})
        return None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep how long the tests took; report those whose second run did not take place."""
        save_durations(self._config, self.scheduler.seen)
        for test in self.scheduler.unrun:
            if test in self._promised:
                is_stopped = bool(self._xdist.shouldstop)
                report = _not_run_again(test, _STOPPED if is_stopped else _NOBODY_LEFT)
                self._config.hook.pytest_runtest_logreport(report=report)
                session.testsfailed += 1
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the devices that failed under tests which were then run elsewhere."""
        flaky = sorted({*self._moved, *self._dead})
        if self._config.get_verbosity() < 0 or not flaky:
            return
        terminalreporter.section("flaky devices")
        width = max(map(len, flaky))
        for serial in flaky:
            told = [_moved(self._moved[serial])] if self._moved[serial] else []
            told += ["it was put aside"] if serial in self._dead else []
            terminalreporter.line(f"{serial:{width}}  {'; '.join(told)}", yellow=True)

    def _retry(self, attempt: tuple[str, str], report: pytest.TestReport) -> None:
        """Let a report be that of a test which is run once more, and nobody count it."""
        if attempt in self._retried:  # it was told by an earlier report of this attempt
            return
        self._retried.add(attempt)
        self._promised.add(report.nodeid)
        report.outcome = RERUN  # type: ignore[assignment]  # as other plugins that do so
        self._moved[self._blamed(attempt[0], report)] += 1
        for xml in junit_logs(self._config.pluginmanager):
            # What was written down of this attempt would look like a test that passed.
            xml.node_reporters_ordered.remove(xml.node_reporter(report))

    def _blamed(self, worker_id: str, report: pytest.TestReport) -> str:
        """Name the device that failed: the worker's own, or a spare one."""
        serial = getattr(report, INFRASTRUCTURE)
        if serial in [one.serial for one in self._pool.held]:
            return str(serial)
        return str(dict(report.user_properties).get(DEVICE_PROPERTY) or worker_id)

    def _put_aside(self, node: Any, serial: str | None) -> None:
        """Give up the device of a worker, out loud; a spare one is not the worker's own."""
        device = self._pool.taken.get(node.gateway.id)
        if device is None or device.serial != serial:
            return
        if serial not in self._dead:
            self._dead.add(serial)
            _say(
                self._config,
                f"[{serial}] the device is put aside: its tests go to others, where these will do",
            )
        self._pool.put_aside(node.gateway.id)
        self.scheduler.device_failed(node)

    def _fits(self, node: Any, test: str) -> bool:
        needs = self._config.stash.get(NEEDS, {}).get(test)
        device = self._pool.taken.get(node.gateway.id)
        if needs is None or device is None:
            return needs is None
        if (needs, device.info.key) not in self._known:
            lacking = unmet(needs, device.info, is_in=self._is_in)
            self._known[needs, device.info.key] = not lacking
        return self._known[needs, device.info.key]

    def _is_in(self, label: str, info: DeviceInfo) -> bool:
        return any(one.label == label and one.holds(info) for one in classes_of(self._config))

    def _device_of(self, node: Any) -> str | None:
        device = self._pool.taken.get(node.gateway.id)
        return None if device is None else device.info.key

    def _replace(self, node: Any) -> bool:
        """Start a worker like one that ended, if there is a device for it."""
        xdist = self._xdist
        is_ending = xdist.shuttingdown or xdist.shouldstop
        if not self._pool.free or is_ending or not hasattr(xdist, "_clone_node"):
            return False
        xdist._clone_node(node)  # what xdist itself does for a worker that crashed
        return True


def _say(config: pytest.Config, text: str) -> None:
    from pytest_clawperator.plugin.reporting.events import (
        events_of,  # heavy, and few runs have workers
    )

    events_of(config).say(text)


def _moved(times: int) -> str:
    tests = "1 test was" if times == 1 else f"{times} tests were"
    return f"{tests} run once more on another device"


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


def _collection_error(config: pytest.Config, worker_id: str, message: str) -> None:
    report = pytest.CollectReport(nodeid=worker_id, outcome="failed", longrepr=message, result=[])
    config.hook.pytest_collectreport(report=report)
