"""Which worker has which device and runs which test, and what is retried: the controller decides.

Devices are assigned before a worker starts, and taken back however it ends. A test whose device
failed is run once more on another one; a test that could not begin only goes to another device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import asdict
from functools import cache, partial
from threading import Lock
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import DevicePool
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.plugin import device_needs, failures, ladder, leasing, phones
from pytest_clawperator.plugin.device_needs import DeviceNeeds, show_unfit_of_workers, unmet
from pytest_clawperator.plugin.goldens import add_worker_goldens, share_claims
from pytest_clawperator.plugin.ladder import PATIENCE, connect_early
from pytest_clawperator.plugin.matrix import empty_classes, is_in_class
from pytest_clawperator.plugin.report_sinks import junit_logs
from pytest_clawperator.plugin.run import HOOK, events_of, run_id, write_line
from pytest_clawperator.plugin.scheduler import DeviceScheduling, load_durations, save_durations
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import (
    DEVICE_CHANGES,
    DEVICE_NEEDS,
    DEVICE_POOL,
    STARTS_LATE,
    WHY_NO_DEVICES,
    WORKER_COUNT,
)
from pytest_clawperator.plugin.terminal import name_devices_of_workers
from pytest_clawperator.plugin.usage import needs_devices
from pytest_clawperator.plugin.worker_input import (
    CLASS_MEMBERS,
    CLASSES,
    EMPTY_CLASSES,
    LEASE,
    OWN_CLASSES,
    SHARED_RUN_ID,
    WHY_NO_LEASE,
    ask,
    has_channel,
    is_worker,
    open_channel,
    reply,
    worker_input,
)

#: The outcome of a test that is run once more, as pytest-rerunfailures calls it too.
RERUN = "rerun"
# Why a test whose device failed was not run once more after all.
_STOPPED = "the run was stopped before another device could run it again"
_NONE_LEFT = "no other device was left to run it again"
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
        """Judge a report before others see it, and stop the run if they then want that."""
        node = getattr(report, "node", None)
        if node is not None:
            self._judge(node, report)
        yield
        session: Any = self._config.pluginmanager.get_plugin("session")
        if getattr(report, failures.INFRASTRUCTURE, False):  # its worker did not stop by itself
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
                report = _not_run_again(test, _STOPPED if is_stopped else _NONE_LEFT)
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
            parts = []
            if moved := self._moved[serial]:
                tests = "1 test was" if moved == 1 else f"{moved} tests were"
                parts.append(f"{tests} run once more on another device")
            if unbegun := self._unbegun[serial]:
                tests, they = ("1 test", "it") if unbegun == 1 else (f"{unbegun} tests", "they")
                parts.append(f"{tests} went to another device before {they} began")
            parts += ["the device was put aside"] if serial in self._put_aside else []
            write_line(terminalreporter, f"{serial:{width}}  {'; '.join(parts)}", yellow=True)

    def _judge(self, node: Any, report: pytest.TestReport) -> None:
        """Retry a test whose device failed, and put aside a device that is dead."""
        attempt = node.gateway.id, report.nodeid
        is_lease = getattr(report, failures.LEASE_PROBLEM, False)
        is_part = hasattr(report, "context")  # of a subtest: what passes is not the test itself
        if report.failed and getattr(report, failures.INFRASTRUCTURE, False) and not is_lease:
            self._put_aside_device(node, getattr(report, failures.PUT_ASIDE, None))
            # A worker without a device has none that failed: what it reports is true of all.
            is_open = attempt not in self._ended and node.gateway.id in self._pool.taken
            has_begun = not self._is_before_test(node, report)
            if is_open and self._scheduler.retry(node, report.nodeid, has_begun=has_begun):
                self._make_rerun(attempt, report, has_begun=has_begun)
        elif report.failed or (not is_part and (report.when == "call" or not report.passed)):
            self._ended.add(attempt)  # it has its result: what follows does not change it
        if report.when == "teardown":
            self._ended.discard(attempt)
            if attempt in self._retried:  # the end of such an attempt does not count
                self._retried.discard(attempt)
                self._end_retried(report)

    def _end_retried(self, report: pytest.TestReport) -> None:
        """Ignore the end of an attempt that does not count, but not a device released badly."""
        if not getattr(report, failures.RELEASED_BADLY, False):
            report.outcome = "passed"
            return
        for xml in junit_logs(self._config.pluginmanager):
            xml.node_reporters_ordered.append(xml.node_reporter(report))

    def _is_before_test(self, node: Any, report: pytest.TestReport) -> bool:
        """Whether a test did not begin, because the device of its worker is put aside."""
        device = self._pool.taken.get(node.gateway.id)
        serial = getattr(report, failures.PUT_ASIDE, None)
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
        serial = getattr(report, failures.INFRASTRUCTURE)
        if serial in [one.serial for one in self._pool.held]:
            return str(serial)
        return str(dict(report.user_properties).get(failures.DEVICE_PROPERTY) or worker_id)

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
    setattr(report, failures.INFRASTRUCTURE, True)
    return report


class WorkerLimits:
    """Keeps a worker from ending when its device failed: the test may be run once more."""

    def __init__(self, config: pytest.Config) -> None:
        self._options = config.option
        self._plugins = config.pluginmanager
        self._failed: str | None = None  # the last test whose device failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Allow one failure more, and let ``--stepwise`` not stop there; the controller decides."""
        if getattr(report, failures.INFRASTRUCTURE, False):
            self._failed = report.nodeid
        if not report.failed or report.nodeid != self._failed:
            return (yield)
        if self._options.maxfail:
            self._options.maxfail += 1
        session: Any = self._plugins.get_plugin("session")
        before = session.shouldstop
        yield
        session.shouldstop = before or ""  # once it is set, pytest ignores False


# The topic under which a worker sends what its tests need; each has a thread of its own.
_NEEDS = "needs"
_needs_received = Lock()


def count_workers(config: pytest.Config) -> int | None:
    """Hold every device that is free now, and return how many workers that makes.

    None leaves the number to xdist: if simulated phones are as many as workers, or if
    no option asks for devices and there are none.
    """
    settings = settings_of(config)
    as_many = [one for one in settings.device if one.kind == "sim" and not one.is_counted]
    if settings.validate or as_many:
        return None
    config.stash[WORKER_COUNT] = 0
    try:
        return leasing.hold_all(config)
    except ClawperatorError as error:
        _refuse_or_remember(config, error)
        return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Find the classes of devices by which tests are multiplied."""
    config = session.config
    if is_worker(config) or WORKER_COUNT in config.stash:
        return
    try:
        leasing.find_classes(config)
    except ClawperatorError as error:
        raise _usage_error(error) from error


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Find a device for each worker, before any of them starts, and name the devices."""
    _refuse_matrix_with_dist(config)
    settings = settings_of(config)
    config.stash[WORKER_COUNT] = len(specs) + settings.spare_devices
    if settings.validate or WHY_NO_DEVICES in config.stash or not needs_devices(config):
        return
    try:
        leasing.hold_for_workers(config, len(specs))
        leasing.spares_of(config)
    except ClawperatorError as error:
        _refuse_or_remember(config, error)
    else:
        name_devices_of_workers(config)


def _refuse_matrix_with_dist(config: pytest.Config) -> None:
    """Refuse a matrix if tests would go to devices of any class, and be skipped there."""
    settings, dist = settings_of(config), config.getoption("dist")
    is_asked = settings.matrix is not None and not settings.validate
    if is_asked and dist != "load" and needs_devices(config):
        raise pytest.UsageError(
            f"--claw-matrix needs --dist load, and this run has --dist {dist}, which assigns"
            " tests without regard to devices: leave --dist out, plain -n is enough"
        )


def _refuse_or_remember(config: pytest.Config, error: ClawperatorError) -> None:
    """Raise if devices were asked for; else only the tests that need one fail."""
    if leasing.is_wished(config) or HOOK in error.details:
        raise _usage_error(error) from error
    config.stash[WHY_NO_DEVICES] = error


def _usage_error(error: ClawperatorError) -> pytest.UsageError:
    error.wording = failures.for_pytest
    return pytest.UsageError(str(error))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker the id of the run and its device; a replacement gets the same device."""
    config, why = node.config, node.config.stash.get(WHY_NO_DEVICES, None)
    node.workerinput[SHARED_RUN_ID] = run_id(config)
    share_claims(node)
    if DEVICE_POOL in config.stash and why is None:
        pool, classes = config.stash[DEVICE_POOL], leasing.find_classes(config)
        try:
            pool.take(node.gateway.id)
        except ConfigurationError as error:
            raise _usage_error(error) from error  # the hook that selects is wrong for all workers
        except ClawperatorError as error:
            why = error
        _hand_device(node)
        _hand_classes(node, pool, classes)
        open_channel(node, _receive)
        _note_late_start(node)
    if why is not None:
        node.workerinput[WHY_NO_LEASE] = [str(why.code), why.message, failures.hint_of(why)]


def _hand_classes(node: Any, pool: DevicePool, classes: Sequence[DeviceClass]) -> None:
    node.workerinput[CLASSES] = [one.to_dict() for one in classes]
    node.workerinput[EMPTY_CLASSES] = empty_classes(classes, pool)
    node.workerinput[CLASS_MEMBERS] = {
        each.label: asdict(one.info)
        for each in classes
        for one in pool.held
        if each.holds(one.info)
    }


def _note_late_start(node: Any) -> None:
    """Note in its input that a worker replaces another one, after tests have been run."""
    session = node.config.pluginmanager.get_plugin("dsession")
    if getattr(session, "sched", None) is not None:
        node.workerinput[STARTS_LATE] = True


def _receive(node: Any, topic: str, value: Any) -> None:
    """Receive what a worker sends beside xdist's own messages."""
    if topic == _NEEDS:
        with _needs_received:
            _learn_needs(node.config, value)
        reply(node, topic, _hand_device(node))
    elif topic == phones.TOPIC:
        phones.reply_how(node, value)
    else:
        ladder.receive(node, topic, value)


def _learn_needs(config: pytest.Config, packed: Any) -> None:
    """Keep what the tests need, and see that the workers' devices fit them; once, as all agree."""
    if DEVICE_NEEDS in config.stash:
        return
    needs = device_needs.unpack(packed)
    try:
        config.stash[DEVICE_CHANGES] = device_needs.fit_devices(config, needs)
    except ClawperatorError as error:  # then the devices stay as they are
        config.stash[DEVICE_CHANGES] = [str(error)]
    config.stash[DEVICE_NEEDS] = needs


def _hand_device(node: Any) -> dict[str, Any]:
    """Write the device of a worker into its input, and return that part of it."""
    pool, classes = node.config.stash[DEVICE_POOL], leasing.find_classes(node.config)
    device = pool.taken.get(node.gateway.id)
    if device is None:
        return {}
    handed = {
        LEASE: asdict(pool.lease_of(device)),
        OWN_CLASSES: [one.label for one in classes if one.holds(device.info)],
    }
    node.workerinput.update(handed)
    return handed


def leave_limits_to_controller(config: pytest.Config) -> None:
    """Leave it to the controller what counts for ``--maxfail`` and ``--stepwise``."""
    if worker_input(config).get("workercount", 1) > 1:  # one alone retries nothing
        config.pluginmanager.register(WorkerLimits(config), "clawperator-worker-limits")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Send the controller what the tests need, before it learns that they are there."""
    config = session.config
    if is_worker(config):
        needs = device_needs.pack(session.items)
        if has_channel(config):
            # The device may be another one than at the start: one that the tests need.
            worker_input(config).update(ask(config, _NEEDS, needs, timeout=PATIENCE))
        if needs["tests"] and LEASE in worker_input(config):
            connect_early(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Show which tests cannot run, once a worker has sent what its tests need."""
    for text in node.config.stash.get(DEVICE_CHANGES, []):
        events_of(node.config).show(text)
    node.config.stash[DEVICE_CHANGES] = []
    show_unfit_of_workers(node.config)
    _show_effect_of_dist(node.config)


def _show_effect_of_dist(config: pytest.Config) -> None:
    """Show once that another ``--dist`` brings tests to devices that do not fit."""
    dist = config.getoption("dist")
    if dist == "load" or DEVICE_POOL not in config.stash:
        return
    devices = [one.info for one in config.stash[DEVICE_POOL].taken.values()]
    distinct = set(config.stash.get(DEVICE_NEEDS, {}).values())
    if any(each.unmet(info) for one in distinct for each in one.requires for info in devices):
        events_of(config).show(
            f"--dist {dist} assigns tests without regard to their claw_device markers: a worker"
            " skips those that its device does not fit; plain -n finds a device for each"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> DeviceScheduling | None:
    """Schedule by devices, unless ``--dist`` asks for another way."""
    if DEVICE_POOL not in config.stash or config.getoption("dist") != "load":
        return None
    pool = config.stash[DEVICE_POOL]

    @cache
    def meets(needs: DeviceNeeds, device: DeviceInfo) -> bool:
        return not unmet(needs, device, is_in=partial(is_in_class, config))

    def device_of(node: Any) -> DeviceInfo | None:
        device = pool.taken.get(node.gateway.id)
        return None if device is None else device.info

    def fits(node: Any, test: str) -> bool:
        """Return whether a worker can run a test; without a device, one that needs none."""
        needs, device = config.stash.get(DEVICE_NEEDS, {}).get(test), device_of(node)
        return needs is None if needs is None or device is None else meets(needs, device)

    scheduler = DeviceScheduling(
        workers=config.stash[WORKER_COUNT] - settings_of(config).spare_devices,
        device_of=device_of,
        fits=fits,
        duration_of=load_durations(config).get,
        replace_worker=partial(_replace_worker, config),
        show=events_of(config).show,
        collection_error=partial(_collection_error, config),
    )
    scheduler.config = config
    config.pluginmanager.register(Retries(config, scheduler), "clawperator-retries")
    return scheduler


def _replace_worker(config: pytest.Config, node: Any) -> bool:
    """Start a worker like one that ended, if there is a device for it."""
    xdist: Any = config.pluginmanager.get_plugin("dsession")
    is_ending = xdist.shuttingdown or xdist.shouldstop
    if not config.stash[DEVICE_POOL].free or is_ending or not hasattr(xdist, "_clone_node"):
        return False
    xdist._clone_node(node)  # what xdist itself does for a worker that crashed
    return True


def _collection_error(config: pytest.Config, worker_id: str, message: str) -> None:
    report = pytest.CollectReport(nodeid=worker_id, outcome="failed", longrepr=message, result=[])
    config.hook.pytest_collectreport(report=report)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take back the devices of a worker, however it ended, and add up the goldens it used."""
    add_worker_goldens(node)
    if DEVICE_POOL in node.config.stash:
        node.config.stash[DEVICE_POOL].give_back(node.gateway.id)
        leasing.spares_of(node.config).give_back(node.gateway.id)
