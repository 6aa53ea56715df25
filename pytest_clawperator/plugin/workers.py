"""Which worker has which device, and which worker runs which test: the controller decides.

Devices are assigned before a worker starts, and taken back however it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import DevicePool
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.plugin import device_needs, ladder, phones
from pytest_clawperator.plugin.connecting import connect_early
from pytest_clawperator.plugin.device_needs import DeviceNeeds, show_unfit_of_workers, unmet
from pytest_clawperator.plugin.failures import for_pytest, hint_of
from pytest_clawperator.plugin.goldens import add_worker_goldens
from pytest_clawperator.plugin.leasing import (
    find_classes,
    hold_all,
    hold_for_workers,
    is_wished,
    spares_of,
)
from pytest_clawperator.plugin.matrix import classes_of, empty_classes, pack
from pytest_clawperator.plugin.retries import Retries, WorkerLimits
from pytest_clawperator.plugin.run import HOOK, events_of, run_id
from pytest_clawperator.plugin.scheduler import DeviceScheduling, load_durations
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL, WHY_NO_DEVICES, WORKER_COUNT
from pytest_clawperator.plugin.terminal import name_devices_of_workers
from pytest_clawperator.plugin.usage import needs_devices
from pytest_clawperator.plugin.worker_input import (
    CLASS_MEMBERS,
    CLASSES,
    EMPTY_CLASSES,
    LEASE,
    OWN_CLASSES,
    SHARED_RUN_ID,
    STARTS_LATE,
    WHY_NO_LEASE,
    is_worker,
    open_channel,
    send,
    worker_input,
)

# The topic under which a worker sends what its tests need.
_NEEDS = "needs"


def count_workers(config: pytest.Config) -> int | None:
    """Hold every device that is free now, and return how many workers that makes.

    None leaves the number to xdist: where simulated phones are as many as workers, or where
    no option asks for devices and there are none.
    """
    settings = settings_of(config)
    as_many = [one for one in settings.device if one.kind == "sim" and not one.is_counted]
    if settings.validate or as_many:
        return None
    config.stash[WORKER_COUNT] = 0
    try:
        return hold_all(config)
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
        find_classes(config)
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
        hold_for_workers(config, len(specs))
        spares_of(config)
    except ClawperatorError as error:
        _refuse_or_remember(config, error)
    else:
        name_devices_of_workers(config)


def _refuse_matrix_with_dist(config: pytest.Config) -> None:
    """Refuse a matrix where tests would go to devices of any class, and be skipped there."""
    settings, dist = settings_of(config), config.getoption("dist")
    is_asked = settings.matrix is not None and not settings.validate
    if is_asked and dist != "load" and needs_devices(config):
        raise pytest.UsageError(
            f"--claw-matrix needs --dist load, and this run has --dist {dist}, which assigns"
            " tests without regard to devices: leave --dist out, plain -n is enough"
        )


def _refuse_or_remember(config: pytest.Config, error: ClawperatorError) -> None:
    """Raise where devices were asked for; else only the tests that need one fail."""
    if is_wished(config) or HOOK in error.details:
        raise _usage_error(error) from error
    config.stash[WHY_NO_DEVICES] = error


def _usage_error(error: ClawperatorError) -> pytest.UsageError:
    error.wording = for_pytest
    return pytest.UsageError(str(error))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker the id of the run and its device; a replacement gets the same device."""
    config, why = node.config, node.config.stash.get(WHY_NO_DEVICES, None)
    node.workerinput[SHARED_RUN_ID] = run_id(config)
    if DEVICE_POOL in config.stash and why is None:
        pool, classes = config.stash[DEVICE_POOL], find_classes(config)
        try:
            lease = pool.take(node.gateway.id)
        except ConfigurationError as error:
            raise _usage_error(error) from error  # the hook that selects is wrong for all workers
        except ClawperatorError as error:
            why = error
        else:
            info = pool.taken[node.gateway.id].info
            node.workerinput[LEASE] = asdict(lease)
            node.workerinput[OWN_CLASSES] = [one.label for one in classes if one.holds(info)]
        _hand_classes(node, pool, classes)
        open_channel(node, _receive)
        _note_late_start(node)
    if why is not None:
        node.workerinput[WHY_NO_LEASE] = [str(why.code), why.message, hint_of(why)]


def _hand_classes(node: Any, pool: DevicePool, classes: Sequence[DeviceClass]) -> None:
    node.workerinput[CLASSES] = pack(classes)
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
        node.config.stash.setdefault(DEVICE_NEEDS, device_needs.unpack(value))
    elif topic == phones.TOPIC:
        phones.reply_how(node, value)
    else:
        ladder.receive(node, topic, value)


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
        if needs["tests"] and LEASE in worker_input(config):
            connect_early(config)
        send(config, _NEEDS, needs)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Show which tests cannot run, once a worker has sent what its tests need."""
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
    fit = DeviceFit(config)
    scheduler = DeviceScheduling(
        workers=config.stash[WORKER_COUNT] - settings_of(config).spare_devices,
        device_of=fit.device_of,
        fits=fit.fits,
        duration_of=load_durations(config).get,
        replace_worker=partial(_replace_worker, config),
        show=events_of(config).show,
        collection_error=partial(_collection_error, config),
    )
    scheduler.config = config
    config.pluginmanager.register(Retries(config, scheduler), "clawperator-retries")
    return scheduler


class DeviceFit:
    """Compares what tests need with the devices of workers; each comparison is made once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._pool = config.stash[DEVICE_POOL]
        self._known: dict[tuple[DeviceNeeds, str], bool] = {}

    def device_of(self, node: Any) -> str | None:
        """Return the key of the device of a worker, if it has one."""
        device = self._pool.taken.get(node.gateway.id)
        return None if device is None else device.info.key

    def fits(self, node: Any, test: str) -> bool:
        """Whether the worker can run the test; without a device, one that needs none."""
        needs = self._config.stash.get(DEVICE_NEEDS, {}).get(test)
        device = self._pool.taken.get(node.gateway.id)
        if needs is None or device is None:
            return needs is None
        if (needs, device.info.key) not in self._known:
            lacking = unmet(needs, device.info, is_in=self._is_in)
            self._known[needs, device.info.key] = not lacking
        return self._known[needs, device.info.key]

    def _is_in(self, label: str, info: DeviceInfo) -> bool:
        return any(one.label == label and one.holds(info) for one in classes_of(self._config))


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
        spares_of(node.config).give_back(node.gateway.id)
