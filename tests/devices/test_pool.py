"""Devices are handed out one to a worker, and taken back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.devices.pool import Candidate, DevicePool, Lease, too_few
from pytest_clawperator.errors import ConfigurationError, ErrorCode, NoDeviceError


def candidate(serial: str) -> Candidate:
    """Make a device that could be used."""
    return Candidate(info=DeviceInfo(serial=serial, key=f"key of {serial}"), adb="127.0.0.1:5037")


def first(free: Sequence[Candidate], worker_id: str) -> Candidate:
    """Take the first."""
    return free[0]


def pool(*serials: str) -> DevicePool:
    """Make a pool of these devices."""
    return DevicePool([candidate(serial) for serial in serials], select=first)


def test_one_each() -> None:
    """Workers get different devices, with what is needed to reach them."""
    devices = pool("A", "B")

    leases = [devices.take("gw0"), devices.take("gw1")]

    assert leases == [
        Lease(serial="A", key="key of A", adb="127.0.0.1:5037"),
        Lease(serial="B", key="key of B", adb="127.0.0.1:5037"),
    ]
    assert {worker: one.serial for worker, one in devices.taken.items()} == {"gw0": "A", "gw1": "B"}


@pytest.mark.parametrize("gone", ["gw0", "gw1", "gw2"])
def test_a_replacement(gone: str) -> None:
    """Whoever comes for a worker that ended gets that worker's device."""
    devices = pool("A", "B", "C", "D")
    given = {worker: devices.take(worker) for worker in ("gw0", "gw1", "gw2")}

    devices.give_back(gone)

    assert devices.take("gw3") == given[gone]


def test_an_unknown_worker() -> None:
    """A worker that had no device gives none back."""
    devices = pool("A")

    devices.give_back("gw7")

    assert devices.take("gw0").serial == "A"
    with pytest.raises(NoDeviceError):
        devices.take("gw1")


def test_a_choice_that_is_none() -> None:
    """A device that is not free, or no device, is no choice."""
    devices = DevicePool([candidate("A")], select=lambda free, worker_id: None)

    with pytest.raises(ConfigurationError, match="gave None for gw0"):
        devices.take("gw0")


@pytest.mark.parametrize(
    ("workers", "serials", "said", "hint"),
    [
        (3, ["A", "B"], "3 workers need 3 devices, but there are 2: A, B", "run with -n 2, "),
        (2, ["A"], "2 workers need 2 devices, but there is 1: A", "run with -n 1, "),
        (1, [], "1 worker needs 1 device, but there are 0: none", "connect more devices"),
    ],
)
def test_too_few(workers: int, serials: list[str], said: str, hint: str) -> None:
    """The error tells how many there are, and how many workers they will do for."""
    error = too_few(workers, [candidate(serial) for serial in serials])

    assert error.code is ErrorCode.NO_DEVICES
    assert error.message == said
    assert hint in str(error.hint)
