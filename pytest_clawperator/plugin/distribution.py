"""Which worker runs which test: one whose device will do, and once more if the device failed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.plugin.device_needs import DeviceNeeds, unmet
from pytest_clawperator.plugin.matrix import classes_of
from pytest_clawperator.plugin.retries import Retries, WorkerLimits
from pytest_clawperator.plugin.run import events_of
from pytest_clawperator.plugin.scheduler import DeviceScheduling, load_durations
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL, WORKER_COUNT
from pytest_clawperator.plugin.usage import needs_devices
from pytest_clawperator.plugin.worker_input import STARTS_LATE, worker_input


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


def pytest_configure(config: pytest.Config) -> None:
    """Leave it to the controller what counts for ``--maxfail`` and ``--stepwise``."""
    if worker_input(config).get("workercount", 1) > 1:  # one alone retries nothing
        config.pluginmanager.register(WorkerLimits(config), "clawperator-worker-limits")


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
    """Tell a worker that it starts late, when others have run tests, in place of one of them."""
    session = node.config.pluginmanager.get_plugin("dsession")
    if DEVICE_POOL in node.config.stash and getattr(session, "sched", None) is not None:
        node.workerinput[STARTS_LATE] = True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Show once that another ``--dist`` brings tests to devices that do not fit."""
    config, dist = node.config, node.config.getoption("dist")
    if dist == "load" or DEVICE_POOL not in config.stash:
        return
    devices = [one.info for one in config.stash[DEVICE_POOL].taken.values()]
    distinct = set(config.stash.get(DEVICE_NEEDS, {}).values())
    if any(each.unmet(info) for one in distinct for each in one.requires for info in devices):
        events_of(config).show(
            f"--dist {dist} deals out tests without regard to their claw_device markers: a worker"
            " skips those that its device does not fit; plain -n finds a device for each"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> DeviceScheduling | None:
    """Schedule by devices, where tests are balanced and nobody asked for another way."""
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
