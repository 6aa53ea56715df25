"""Leases of the service's clients; each holds the device's lease on this machine for them.

A lease ends when it is released, or when it is not renewed in time. Before each execution a
client announces how long the device may be busy: if the client disappears, the device stays taken
until then.
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

# The name of the service as a holder.
_NAME = "clawperator serve"

#: The default duration of a lease, and its limits.
TTL, LEAST_TTL, MOST_TTL = 15.0, 1.0, 3600.0


@dataclass
class ServiceLease:
    """The lease of a device by a client of the service."""

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
        """Return the public fields, without the token."""
        left = max(self.expires_at - time.monotonic(), 0.0)
        return {
            "serial": self.serial,
            "owner": self.owner,
            "since": self.since,
            "expiresInMs": round(left * 1000),
        }


class Leasing:
    """The leases; used in the event loop's thread, except for ``held``.

    ``where`` is the lease store of this machine's devices, as for ``--claw-lease``.
    """

    def __init__(self, where: str | None = None) -> None:
        self._where = where
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
        """Return the holder of a device, whether through this service or not; may block."""
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
        """Lease a device; raise LeaseError naming the holder if it is taken."""
        if serial in self._by_serial:
            raise self._taken(self._by_serial[serial])
        who = visible_line(owner)[:200]
        store = open_leases(self._where, run_id=f"{who}, through {_NAME}")
        name: Callable[[str], str] = lambda _: serial  # noqa: E731 - it is known by the key there
        hold = (await asyncio.to_thread(take_each, store, [[key]], name=name))[0]
        end = time.monotonic() + ttl
        lease = ServiceLease(serial=serial, owner=who, hold=hold, ttl=ttl, expires_at=end)
        lease.on_end.append(store.close)
        self._by_token[lease.token] = self._by_serial[serial] = lease
        self._watch(lease)
        self.on_change()
        return lease

    def renew(self, token: str) -> ServiceLease:
        """Restart the time of a lease."""
        lease = self.find(token)
        try:
            lease.hold.check()
        except LeaseError:  # it was broken on this machine
            self._end(lease)
            raise
        lease.expires_at = time.monotonic() + lease.ttl
        return lease

    def note_flight(self, token: str, seconds: float) -> ServiceLease:
        """Check that the client still has the device, and note how long it may be busy from now."""
        lease = self.renew(token)
        lease.busy_until = time.monotonic() + min(seconds, LONGEST_FLIGHT)
        return lease

    def release(self, token: str, *, busy: bool = False) -> None:
        """End a lease; with ``busy`` its last execution may still run on the device."""
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
        """Hold a device in a block: by a client's lease, or by one of the service.

        Used in the thread that uses the device; several threads may hold it together.
        """
        lease = self._by_serial.get(serial)
        if token is not None:
            lease = self.find(token)
            if lease.serial != serial:
                raise LeaseError(
                    f"this lease is for {lease.serial}",
                    code=ErrorCode.DEVICE_LEASED,
                    serial=serial,
                    hint="Lease this device, too, or use the other one.",
                )
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
        """Raise if the device is held by another process than this service.

        Reading takes no lease, because that would block a run that is just starting.
        """
        if serial in self._by_serial:
            return
        holder = self.holder(key)
        if holder is not None:
            raise LeaseError(
                f"the device is held by {holder}",
                code=ErrorCode.DEVICE_LEASED,
                serial=serial,
                hint="Try again when that run is over.",
                details={"key": key, "holder": asdict(holder)},
            )

    def _borrow(self, serial: str, key: str) -> Hold:
        """Lease a device for the service itself, unless it holds it already."""
        with self._turn:
            hold, users = self._borrowed.get(key, (None, 0))
            if hold is None:
                hold = take_each(self._opened(), [[key]], name=lambda _: serial)[0]
            self._borrowed[key] = (hold, users + 1)
            return hold

    def _opened(self) -> LeaseStore:
        if self._own is None:
            self._own = open_leases(self._where, run_id=_NAME)
        return self._own

    def _give_back(self, key: str) -> None:
        with self._turn:
            hold, users = self._borrowed.pop(key)
            if users > 1:
                self._borrowed[key] = (hold, users - 1)
            else:
                hold.release()

    def _taken(self, lease: ServiceLease) -> LeaseError:
        left = max(lease.expires_at - time.monotonic(), 0.0)
        state = f"held by {lease.owner} through this service"
        if lease.token not in self._by_token:
            left = max(lease.busy_until - time.monotonic(), 0.0)
            state = f"{state}, whose last execution may still run for {left:.0f} s"
        return LeaseError(
            f"the device is {state}",
            code=ErrorCode.DEVICE_LEASED,
            serial=lease.serial,
            hint="Wait until it is released, or choose another device.",
            details={"holder": lease.public()},
        )

    def _watch(self, lease: ServiceLease) -> None:
        """End the lease when it expires."""
        left = lease.expires_at - time.monotonic()
        if self._by_token.get(lease.token) is not lease:
            return
        if left <= 0:
            self._end(lease)
        else:
            asyncio.get_running_loop().call_later(left, self._watch, lease)

    def _end(self, lease: ServiceLease) -> None:
        """End the client's lease, and free the device once it is not busy."""
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
