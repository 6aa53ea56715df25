"""Which worker has which device: the controller decides, and tells each worker.

Devices are handed out before a worker starts, and taken back however it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import DevicePool
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.plugin import device_needs, ladder
from pytest_clawperator.plugin import phones as ended_phones
from pytest_clawperator.plugin.connecting import connect_early
from pytest_clawperator.plugin.device_needs import runs_in_another_class, skip_or_fail
from pytest_clawperator.plugin.failures import for_pytest, hint_of
from pytest_clawperator.plugin.leasing import (
    find_classes,
    hold_all,
    hold_for_workers,
    is_wished,
    spares_of,
)
from pytest_clawperator.plugin.matrix import empty_classes, pack
from pytest_clawperator.plugin.run import HOOK
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import DEVICE_NEEDS, DEVICE_POOL, WHY_NO_DEVICES, WORKER_COUNT
from pytest_clawperator.plugin.usage import needs_devices
from pytest_clawperator.plugin.worker_input import (
    CLASS_MEMBERS,
    CLASSES,
    EMPTY_CLASSES,
    LEASE,
    OWN_CLASSES,
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
    nobody wished for devices and there are none.
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
    """Find a device for each worker, before any of them starts."""
    settings = settings_of(config)
    config.stash[WORKER_COUNT] = len(specs) + settings.spare_devices
    if settings.validate or WHY_NO_DEVICES in config.stash or not needs_devices(config):
        return
    try:
        hold_for_workers(config, len(specs))
        spares_of(config)
    except ClawperatorError as error:
        _refuse_or_remember(config, error)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand a worker its device; the replacement of one that crashed gets the same."""
    config, why = node.config, node.config.stash.get(WHY_NO_DEVICES, None)
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


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take back the devices of a worker that ended, however it ended."""
    if DEVICE_POOL in node.config.stash:
        node.config.stash[DEVICE_POOL].give_back(node.gateway.id)
        spares_of(node.config).give_back(node.gateway.id)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Send the controller what the tests need, before it learns that they are there."""
    config = session.config
    if is_worker(config):
        needs = device_needs.pack(session.items)
        if needs["tests"] and LEASE in worker_input(config):
            connect_early(config)
        send(config, _NEEDS, needs)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose markers no device of its class meets, with the reason.

    It can come to any worker, whose device need not be of the class.
    """
    handed = worker_input(item.config)
    if not handed.get(CLASS_MEMBERS):
        return
    needs = device_needs.needs_of(item)
    label = needs.device_class if needs else None
    if needs is None or label in handed.get(OWN_CLASSES, ()) or label not in handed[CLASS_MEMBERS]:
        return
    device = DeviceInfo(**handed[CLASS_MEMBERS][label])
    if unmet := [text for each in needs.requires for text in each.unmet(device)]:
        reason = f"claw_device: {'; '.join(unmet)}"
        if settings_of(item.config).strict and not runs_in_another_class(item):
            skip_or_fail(reason, strict=True, device=device)
        # pytest then names the test's line.
        item.add_marker(pytest.mark.skip(reason=f"{reason}: {device}"))


def _receive(node: Any, topic: str, value: Any) -> None:
    """Receive what a worker sends beside xdist's own messages."""
    if topic == _NEEDS:
        node.config.stash.setdefault(DEVICE_NEEDS, device_needs.unpack(value))
    elif topic == ended_phones.TOPIC:
        ended_phones.reply_how(node, value)
    else:
        ladder.receive(node, topic, value)


def _refuse_or_remember(config: pytest.Config, error: ClawperatorError) -> None:
    """Raise where devices were asked for; else only the tests that need one fail."""
    if is_wished(config) or HOOK in error.details:
        raise _usage_error(error) from error
    config.stash[WHY_NO_DEVICES] = error


def _usage_error(error: ClawperatorError) -> pytest.UsageError:
    error.wording = for_pytest
    return pytest.UsageError(str(error))
