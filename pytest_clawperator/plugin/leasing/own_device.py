"""The device of this process: the one that a worker was handed, or else one of its own choice."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.devices.pool import Lease
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.errors import ClawperatorError, NoDeviceError
from pytest_clawperator.plugin.leasing.held_devices import hold_alone, take_alone
from pytest_clawperator.plugin.leasing.matrix import why_class_is_empty
from pytest_clawperator.plugin.stash import LEASES_BY_CLASS
from pytest_clawperator.plugin.worker_input import (
    EMPTY_CLASSES,
    LEASE,
    OWN_CLASSES,
    WHY_NO_LEASE,
    is_worker,
    worker_input,
)


def lease_of(config: pytest.Config, device_class: DeviceClass | None = None) -> Lease:
    """Return the device of this process; in a matrix, that of a class.

    An error of the first time is raised again: nothing is looked for, or started, twice.
    """
    known = config.stash.setdefault(LEASES_BY_CLASS, {})
    label = device_class.label if device_class else None
    if label not in known:
        try:
            known[label] = (
                _handed_lease(worker_input(config))
                if is_worker(config)
                else take_alone(config, device_class)
            )
        except ClawperatorError as error:
            known[label] = error
    found = known[label]
    if isinstance(found, ClawperatorError):
        raise found
    return found


def why_no_device(config: pytest.Config, device_class: DeviceClass) -> str | None:
    """Return why this process has no device of the class; None if it has one."""
    if is_worker(config):
        handed = worker_input(config)
        if device_class.label in handed.get(OWN_CLASSES, (device_class.label,)):
            return None
        not_mine = f"--claw-matrix: the device of this worker is not {device_class.label}"
        return str(handed.get(EMPTY_CLASSES, {}).get(device_class.label, not_mine))
    pool = hold_alone(config)
    if any(device_class.holds(one.info) for one in pool.held):
        return None
    return why_class_is_empty(device_class, [one.info for one in pool.candidates])


def _handed_lease(handed: dict[str, Any]) -> Lease:
    if LEASE in handed:
        return Lease(**handed[LEASE])
    code, message, hint = handed.get(WHY_NO_LEASE) or (
        None,
        f"no devices were looked for by the {handed['workercount']} workers",
        "Say which ones: --claw-device auto takes those that are connected, --claw-device sim"
        " starts simulated phones.",
    )
    raise NoDeviceError(message, hint=hint, **({"code": code} if code else {}))
