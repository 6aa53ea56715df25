"""Leases of the service's clients: each holds the device's lease on this machine for them.

A lease ends when it is released, or when it was not renewed in time. Before each execution a
client says how long the device may be busy with it: if the client is gone by then, the device
stays taken until that time.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.lease import Hold, LeaseStore, open_leases, take_each
from pytest_clawperator.errors import ErrorCode, LeaseError
from pytest_clawperator.execution.flight import LONGEST_FLIGHT
from pytest_clawperator.text import visible_line

#: How long a lease lasts if nobody says otherwise, and the limits for those who do.
TTL, LEAST_TTL, MOST_TTL = 15.0, 1.0, 3600.0


@dataclass
class ServiceLease:
    """A device that a client of the service has."""

    serial: str
    owner: str
    hold: Hold
    ttl: float
    expires_at: float
    since: float = field(default_factory=time.time)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)
    busy_until: float = 0.0
    on_end: list[Callable[[], None]] = field(default_factory=list)

    def public(self) -> dict[str, Any]:
        """Return what everybody may know: not the token."""
        left = max(self.expires_at - time.monotonic(), 0.0)
        return {
            "serial": self.serial,
            "owner": self.owner,
            "since": self.since,
            "expiresInMs": round(left * 1000),
        }


class Leasing:
    """The leases; used in the thread of the loop, but for ``held``.

    ``where`` is where leases of this machine's devices are kept, as for ``--claw-lease``.
    """

    def __init__(self, where: str | None = None, *, name: str = "clawperator serve") -> None:
        self._where = where
        self._name = name
        self._own: LeaseStore | None = None
        self._turn = threading.Lock()
        self._borrowed: dict[str, tuple[Hold, int]] = {}
        self._by_token: dict[str, ServiceLease] = {}
        self._by_serial: dict[str, ServiceLease] = {}
        #: Called when a lease begins or ends.
        self.on_change: Callable[[], None] = lambda: None

    def all(self) -> list[ServiceLease]:
        """Return the leases."""
        return list(self._by_serial.values())

    def of(self, serial: str) -> ServiceLease | None:
        """Return the lease of a device."""
        return self._by_serial.get(serial)

    def holder(self, key: str) -> Holder | None:
        """Return who has a device, also if not through this service; it may block."""
        with self._turn:
            if key in self._borrowed:
                return None
            store = self._opened()
        return store.holder(key)

    def find(self, token: str | None) -> ServiceLease:
        """Return the lease with this token; raise if it has ended."""
        lease = self._by_token.get(token or "")
        if lease is None:
            raise LeaseError(
                "there is no such lease: it was released, or not renewed in time",
                code=ErrorCode.DEVICE_LEASED,
                hint="Take a new one: POST /v1/leases.",
            )
        return lease

    async def take(self, serial: str, key: str, *, owner: str, ttl: float) -> ServiceLease:
        """Lease a device; raise with its holder if somebody has it."""
        self._require_free(serial)
        said = visible_line(owner)[:200]
        store = open_leases(self._where, run_id=f"{said}, through {self._name}")
        name: Callable[[str], str] = lambda _: serial  # noqa: E731 - it is known by the key there
        hold = (await asyncio.to_thread(take_each, store, [[key]], name=name))[0]
        lease = ServiceLease(
            serial=serial, owner=said, hold=hold, ttl=ttl, expires_at=time.monotonic() + ttl
        )
        lease.on_end.append(store.close)
        self._by_token[lease.token] = self._by_serial[serial] = lease
        self._watch(lease)
        self.on_change()
        return lease

    def renew(self, token: str) -> ServiceLease:
        """Let a lease begin anew."""
        lease = self.find(token)
        try:
            lease.hold.check()
        except LeaseError:  # somebody of this machine took it from the client
            self._end(lease)
            raise
        lease.expires_at = time.monotonic() + lease.ttl
        return lease

    def note_flight(self, token: str, seconds: float) -> ServiceLease:
        """Confirm that the device is the client's, and note how long it may be busy from now."""
        lease = self.renew(token)
        lease.busy_until = time.monotonic() + min(seconds, LONGEST_FLIGHT)
        return lease

    def release(self, token: str, *, busy: bool = False) -> None:
        """End a lease; ``busy`` says that its last execution may still be on the device."""
        lease = self.find(token)
        if not busy:
            lease.busy_until = 0.0
        self._end(lease)

    def close(self) -> None:
        """End all leases."""
        for lease in self.all():
            self._end(lease)
            self._free(lease)
        if self._own is not None:
            self._own.close()

    @contextmanager
    def held(self, serial: str, key: str, token: str | None) -> Iterator[Hold]:
        """Have a device for a while: by a client's lease, or else by one of the service.

        Used in the thread that uses the device; several may have it at once.
        """
        lease = self._by_serial.get(serial)
        if token is not None:
            lease = self.find(token)
            if lease.serial != serial:
                raise _of_another(serial, lease)
        if lease is not None:
            if lease.token != token:
                raise self._taken(lease)
            yield lease.hold
            return
        hold = self._borrow(serial, key)
        try:
            yield hold
        finally:
            self._give_back(key)

    def check_visible(self, serial: str, key: str) -> None:
        """Raise if somebody has the device who did not get it from the service.

        Who only looks takes no lease: it would be in the way of a run that begins just then.
        """
        if serial in self._by_serial:
            return
        holder = self.holder(key)
        if holder is not None:
            raise LeaseError(
                f"the device is held by {holder}",
                code=ErrorCode.DEVICE_LEASED,
                serial=serial,
                hint="Look at it when that run is over.",
                details={"key": key, "holder": asdict(holder)},
            )

    def _borrow(self, serial: str, key: str) -> Hold:
        """Take a device for the service, unless it has it already."""
        with self._turn:
            hold, users = self._borrowed.get(key, (None, 0))
            if hold is None:
                hold = take_each(self._opened(), [[key]], name=lambda _: serial)[0]
            self._borrowed[key] = (hold, users + 1)
            return hold

    def _opened(self) -> LeaseStore:
        if self._own is None:
            self._own = open_leases(self._where, run_id=self._name)
        return self._own

    def _give_back(self, key: str) -> None:
        with self._turn:
            hold, users = self._borrowed.pop(key)
            if users > 1:
                self._borrowed[key] = (hold, users - 1)
            else:
                hold.release()

    def _require_free(self, serial: str) -> None:
        lease = self._by_serial.get(serial)
        if lease is not None:
            raise self._taken(lease)

    def _taken(self, lease: ServiceLease) -> LeaseError:
        left = max(lease.expires_at - time.monotonic(), 0.0)
        told = f"held by {lease.owner} through this service"
        if lease.token not in self._by_token:
            left = max(lease.busy_until - time.monotonic(), 0.0)
            told = f"{told}, whose last execution may still run for {left:.0f} s"
        return LeaseError(
            f"the device is {told}",
            code=ErrorCode.DEVICE_LEASED,
            serial=lease.serial,
            hint="Wait until it is released, or choose another device.",
            details={"holder": lease.public()},
        )

    def _watch(self, lease: ServiceLease) -> None:
        """End the lease when its time is over."""
        left = lease.expires_at - time.monotonic()
        if self._by_token.get(lease.token) is not lease:
            return
        if left <= 0:
            self._end(lease)
        else:
            asyncio.get_running_loop().call_later(left, self._watch, lease)

    def _end(self, lease: ServiceLease) -> None:
        """Take the client's right, and free the device once it is not busy."""
        self._by_token.pop(lease.token, None)
        for end in lease.on_end[1:]:
            end()
        del lease.on_end[1:]
        left = lease.busy_until - time.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._free, lease)
        else:
            self._free(lease)

    def _free(self, lease: ServiceLease) -> None:
        if self._by_serial.get(lease.serial) is lease:
            del self._by_serial[lease.serial]
            with suppress(LeaseError):
                lease.hold.release()
            for end in lease.on_end:
                end()
            self.on_change()


def _of_another(serial: str, lease: ServiceLease) -> LeaseError:
    return LeaseError(
        f"this lease is of {lease.serial}",
        code=ErrorCode.DEVICE_LEASED,
        serial=serial,
        hint="Lease this device, too, or use the other one.",
    )
