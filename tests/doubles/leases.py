"""Short ways to lease devices in tests."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_clawperator.devices.lease import Hold, LeaseStore, take_each


def take(store: LeaseStore, key: str, *, wait: float = 0.0) -> Hold:
    """Lease a device; if it is taken, wait at most so long."""
    return take_each(store, [[key]], wait=wait)[0]


def take_all(store: LeaseStore, keys: Sequence[str], *, wait: float = 0.0) -> list[Hold]:
    """Lease all of the devices or none, in the order of the keys."""
    return take_each(store, [[key] for key in keys], wait=wait)


def fencing_number(hold: Hold) -> int:
    """Return which of the holders of its device this one is."""
    number: int = json.loads(hold.ticket)["fencing"]
    return number
