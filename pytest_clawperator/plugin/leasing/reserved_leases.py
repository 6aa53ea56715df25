"""Leases that a run takes before it knows its devices: those of emulators that it starts.

An emulator is leased under the serial that it is about to have. So a run that uses whatever is
connected does not have it, neither while it boots nor while it ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import emulator_key
from pytest_clawperator.devices.lease import Hold, LeaseStore, Permit
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.run_folder import run_id
from pytest_clawperator.plugin.stash import LEASES
from pytest_clawperator.remote.leases import open_all_leases
from pytest_clawperator.transport.wire import AdbServer


class ReservedLeases:
    """The leases of a run; those that are reserved are taken without being released before."""

    def __init__(self, store: LeaseStore) -> None:
        self._store = store
        self._reserved: dict[str, Hold] = {}
        self._turn = threading.Lock()

    def reserve(self, key: str) -> Callable[[], None] | None:
        """Lease a device for later; return what releases it, or None if somebody has it.

        Once it is taken, it is no longer released by that.
        """
        hold = self._store.try_take(key)
        if hold is None:
            return None
        with self._turn:
            self._reserved[key] = hold
        return partial(self._release, hold)

    def try_take(self, key: str) -> Hold | None:
        """Lease the device; None if somebody has it."""
        with self._turn:
            reserved = self._reserved.pop(key, None)
        return reserved or self._store.try_take(key)

    def holder(self, key: str) -> Holder | None:
        """Return who has the device, if anybody; one that is reserved can be taken."""
        return None if key in self._reserved else self._store.holder(key)

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; False if it has it not."""
        return self._store.evict(key, holder)

    def borrow(self, ticket: str) -> Permit:
        """Return the right to use a device that another process of the run has leased."""
        return self._store.borrow(ticket)

    def close(self) -> None:
        """Release what nobody took, and close the store."""
        for hold in tuple(self._reserved.values()):
            self._release(hold)
        self._store.close()

    def _release(self, hold: Hold) -> None:
        with self._turn:
            if self._reserved.get(hold.key) is not hold:
                return  # it was taken or released before
            del self._reserved[hold.key]
        Flight(hold.key).close()  # its last user may have been killed
        hold.release()


def leases_of(config: pytest.Config) -> ReservedLeases:
    """Return the leases of the run, opened once and closed with it."""
    if LEASES not in config.stash:
        store = open_all_leases(
            settings_of(config).lease, run_id=run_id(config), say=events_of(config).show
        )
        config.stash[LEASES] = ReservedLeases(store)
        config.add_cleanup(config.stash[LEASES].close)
    return config.stash[LEASES]


def reserve_emulator(
    config: pytest.Config, server: AdbServer, serial: str
) -> Callable[[], None] | None:
    """Lease an emulator for this run; return what releases it, or None if another run has it."""
    return leases_of(config).reserve(emulator_key(serial, server))
