"""Which device this process may use: the controller decides, the workers obey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import LEASE, NEEDS, POOL, UNLEASED, WORKERS

if TYPE_CHECKING:
    from pytest_clawperator.devices.matrix import DeviceClass
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.errors import ClawperatorError

# What the controller writes into a worker's input: its lease, or why it has none; the classes
# that its device belongs to; why no device of the run belongs to others, or one that does.
HANDED_LEASE, _WHY_NOT, _BELONGS, _NOBODY, _MEMBERS = (
    "clawperator_lease",
    "clawperator_no_lease",
    "clawperator_belongs",
    "clawperator_nobody",
    "clawperator_members",
)

# What takes a worker long to load: no test waits for it where it is there before the first.
_FOR_THE_FIRST_TEST = (
    "pytest_clawperator.plugin.evidence.recorder",
    "pytest_clawperator.plugin.evidence.client_activity",
    "pytest_clawperator.assertions.golden.store",
    "pytest_clawperator.assertions.soft",
)


def lease_of(config: pytest.Config, device_class: DeviceClass | None = None) -> Lease:
    """Give the device of this process: the one it was handed, or else one of its own choice.

    What went wrong the first time is said again: nothing is looked for, or started, twice.
    """
    from pytest_clawperator.errors import ClawperatorError

    known = config.stash.setdefault(LEASE, {})
    label = device_class.label if device_class else None
    if label not in known:
        handed = getattr(config, "workerinput", None)
        try:
            known[label] = _handed(handed) if handed else _chosen(config, device_class)
        except ClawperatorError as error:
            known[label] = error
    found = known[label]
    if isinstance(found, ClawperatorError):
        raise found
    return found


def lacking(config: pytest.Config, device_class: DeviceClass) -> str | None:
    """Say why this process has no device of the class; None if it has one."""
    handed = getattr(config, "workerinput", None)
    if handed is not None:
        if device_class.label in handed.get(_BELONGS, (device_class.label,)):
            return None
        not_mine = f"--claw-matrix: the device of this worker is not {device_class.label}"
        return str(handed.get(_NOBODY, {}).get(device_class.label, not_mine))
    from pytest_clawperator.plugin.leasing.held_devices import hold_alone
    from pytest_clawperator.plugin.leasing.matrix import nobody_is

    pool = hold_alone(config)
    if any(device_class.holds(one.info) for one in pool.held):
        return None
    return nobody_is(device_class, [one.info for one in pool.candidates])


def count_workers(config: pytest.Config) -> int | None:
    """Hold every device that is free now, and give how many workers that makes.

    None leaves the number to xdist: where simulated phones are as many as workers, or where
    nobody wished for devices and there are none.
    """
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.leasing.held_devices import hold_all, is_wished
    from pytest_clawperator.plugin.leasing.hook_answers import HOOK

    settings = settings_of(config)
    if settings.validate or any(one.kind == "sim" and not one.count for one in settings.device):
        return None
    config.stash[WORKERS] = 0
    try:
        return hold_all(config)
    except ClawperatorError as error:
        if is_wished(config) or HOOK in error.details:
            raise _usage(error) from error
        config.stash[UNLEASED] = error
        return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Find the classes of devices by which tests are multiplied."""
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.leasing.held_devices import find_classes

    config = session.config
    if hasattr(config, "workerinput") or WORKERS in config.stash:
        return
    try:
        find_classes(config)
    except ClawperatorError as error:
        raise _usage(error) from error


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Find a device for each worker, before any of them starts."""
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.leasing.held_devices import (
        hold_for_workers,
        is_wished,
        spares_of,
    )
    from pytest_clawperator.plugin.leasing.hook_answers import HOOK
    from pytest_clawperator.plugin.usage import needs_devices

    settings = settings_of(config)
    config.stash[WORKERS] = len(specs) + settings.spare_devices
    if settings.validate or UNLEASED in config.stash or not needs_devices(config):
        return
    try:
        hold_for_workers(config, len(specs))
        spares_of(config)
    except ClawperatorError as error:
        if is_wished(config) or HOOK in error.details:
            raise _usage(error) from error
        config.stash[UNLEASED] = error


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand a worker its device; the replacement of one that crashed gets the same."""
    from pytest_clawperator.errors import ClawperatorError, ConfigurationError
    from pytest_clawperator.plugin.leasing.held_devices import find_classes
    from pytest_clawperator.plugin.leasing.matrix import HANDED, empty_classes, pack
    from pytest_clawperator.plugin.reporting.hints import hint_of
    from pytest_clawperator.plugin.xdist.channel import open_courier

    config, why = node.config, node.config.stash.get(UNLEASED, None)
    if POOL in config.stash and why is None:
        pool, classes = config.stash[POOL], find_classes(config)
        try:
            lease = pool.take(node.gateway.id)
        except ConfigurationError as error:
            raise _usage(error) from error  # the hook that selects is wrong for all workers
        except ClawperatorError as error:
            why = error
        else:
            info = pool.taken[node.gateway.id].info
            node.workerinput[HANDED_LEASE] = asdict(lease)
            node.workerinput[_BELONGS] = [one.label for one in classes if one.holds(info)]
        node.workerinput[HANDED] = pack(classes)
        node.workerinput[_NOBODY] = empty_classes(classes, pool)
        node.workerinput[_MEMBERS] = {
            each.label: asdict(one.info)
            for each in classes
            for one in pool.held
            if each.holds(one.info)
        }
        open_courier(node, _hear)
    if why is not None:
        node.workerinput[_WHY_NOT] = [str(why.code), why.message, hint_of(why)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take back the devices of a worker that ended, however it ended."""
    from pytest_clawperator.plugin.leasing.held_devices import spares_of

    if POOL in node.config.stash:
        node.config.stash[POOL].give_back(node.gateway.id)
        spares_of(node.config).give_back(node.gateway.id)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell the controller what the tests need, before it learns that they are there."""
    from pytest_clawperator.plugin.leasing.device_needs import pack
    from pytest_clawperator.plugin.xdist.channel import tell

    handed = getattr(session.config, "workerinput", None)
    if handed is not None:
        needs = pack(session.items)
        if needs["tests"] and HANDED_LEASE in handed:
            for module in _FOR_THE_FIRST_TEST:
                import_module(module)
            import_module("pytest_clawperator.plugin.leasing.early_connection").connect_ahead(
                session.config
            )
        tell(session.config, "needs", needs)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test whose markers no device of its class meets say that.

    It can come to any worker, whose device need not be of the class.
    """
    handed = getattr(item.config, "workerinput", {})
    if not handed.get(_MEMBERS):
        return
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.plugin.leasing.device_needs import needs_of

    needs = needs_of(item)
    label = needs.device_class if needs else None
    if needs is None or label in handed.get(_BELONGS, ()) or label not in handed[_MEMBERS]:
        return
    device = DeviceInfo(**handed[_MEMBERS][label])
    if unmet := [text for each in needs.requires for text in each.unmet(device)]:
        reason = f"claw_device: {'; '.join(unmet)}: {device}"
        if settings_of(item.config).strict:
            pytest.fail(f"{reason} (--claw-strict)", pytrace=False)
        item.add_marker(pytest.mark.skip(reason=reason))  # pytest then names the test's line


def _hear(node: Any, word: str, value: Any) -> None:
    """Take in what a worker says beside xdist's own messages."""
    from pytest_clawperator.plugin.leasing import device_needs, spare_devices
    from pytest_clawperator.plugin.reporting import infrastructure

    if word == "needs":
        node.config.stash.setdefault(NEEDS, device_needs.unpack(value))
    elif word == infrastructure.ENDED_HOW:
        infrastructure.answer_how(node, value)
    else:
        spare_devices.hear(node, word, value)


def _chosen(config: pytest.Config, device_class: DeviceClass | None) -> Lease:
    from pytest_clawperator.plugin.leasing.held_devices import ALONE, hold_alone, spares_of

    pool = hold_alone(config)
    spares_of(config)
    pool.give_back(ALONE)
    return pool.take(ALONE, fits=device_class.holds if device_class else lambda info: True)


def _handed(workerinput: dict[str, Any]) -> Lease:
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.errors import NoDeviceError

    if HANDED_LEASE in workerinput:
        return Lease(**workerinput[HANDED_LEASE])
    code, message, hint = workerinput.get(_WHY_NOT) or (
        None,
        f"no devices were looked for by the {workerinput['workercount']} workers",
        "Say which ones: --claw-device auto takes those that are connected, --claw-device sim"
        " starts simulated phones.",
    )
    raise NoDeviceError(message, hint=hint, **({"code": code} if code else {}))


def _usage(error: ClawperatorError) -> pytest.UsageError:
    from pytest_clawperator.plugin.reporting.hints import for_pytest

    error.wording = for_pytest
    return pytest.UsageError(str(error))
