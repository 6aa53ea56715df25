"""Which device this process may use: the controller decides, the workers obey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin.stash import LEASE, POOL, SETTINGS, WORKERS

if TYPE_CHECKING:
    from pytest_clawperator.devices.pool import Candidate, DevicePool, Lease

# What the controller writes into a worker's input.
HANDED = "clawperator_lease"


def lease_of(config: pytest.Config) -> Lease:
    """Give the device of this process: the one it was handed, or else one of its own choice.

    What went wrong the first time is said again: nothing is looked for, or started, twice.
    """
    from pytest_clawperator.errors import ClawperatorError

    if LEASE not in config.stash:
        handed = getattr(config, "workerinput", None)
        try:
            lease = pool_of(config).take("main") if handed is None else _handed(handed)
        except ClawperatorError as error:
            config.stash[LEASE] = error
        else:
            config.stash[LEASE] = lease
    found = config.stash[LEASE]
    if isinstance(found, ClawperatorError):
        raise found
    return found


def pool_of(config: pytest.Config) -> DevicePool:
    """Give the devices of this run, looked for once."""
    if POOL not in config.stash:
        from pytest_clawperator.devices.pool import DevicePool
        from pytest_clawperator.devices.requirements import Requirements

        def select(free: Sequence[Candidate], worker_id: str) -> Candidate | None:
            chosen: Candidate | None = config.hook.pytest_clawperator_select_device(
                candidates=free, requirements=Requirements(), worker_id=worker_id
            )
            return chosen

        found = config.hook.pytest_clawperator_list_devices(config=config)
        config.stash[POOL] = DevicePool(found, select=select)
    return config.stash[POOL]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Find a device for each worker, before any of them starts."""
    config.stash[WORKERS] = len(specs)
    settings = config.stash.get(SETTINGS, None)
    if settings is None or not settings.device or settings.validate:
        return
    from pytest_clawperator.devices.pool import too_few
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.hints import hint_of

    try:
        candidates = pool_of(config).candidates
        if len(candidates) < len(specs):
            raise too_few(len(specs), candidates)
    except ClawperatorError as error:
        error.hint = hint_of(error)
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand a worker its device; the replacement of one that crashed gets the same."""
    if POOL in node.config.stash:
        lease = pool_of(node.config).take(node.gateway.id)
        node.workerinput[HANDED] = asdict(lease)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take back the device of a worker that ended, however it ended."""
    if POOL in node.config.stash:
        pool_of(node.config).give_back(node.gateway.id)


def _handed(workerinput: dict[str, Any]) -> Lease:
    from pytest_clawperator.devices.pool import Lease
    from pytest_clawperator.errors import NoDeviceError

    if HANDED in workerinput:
        return Lease(**workerinput[HANDED])
    raise NoDeviceError(
        f"no devices were chosen for the {workerinput['workercount']} workers",
        hint="Each worker needs a device of its own: --claw-device auto takes those that are"
        " connected, --claw-device sim starts simulated phones.",
    )
