"""Leases in Redis, for devices that several machines share.

A lease is redis-py's lock, renewed in the background, and a fencing number that counts the
holders of the device. A lock that is not renewed expires, and somebody else can have it; the
holder stops sending before that, by its own clock, whether Redis answers or not. A record of
the last command tells the next holder, on whichever machine, what may still be running on
the device.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.redis import lease_clock
from pytest_clawperator.devices.redis.hold import RedisHold, Renewer
from pytest_clawperator.devices.redis.locking import find_lock, lock_device
from pytest_clawperator.devices.redis.permit import RedisPermit
from pytest_clawperator.devices.redis.server import Server
from pytest_clawperator.devices.redis.terms import Terms, Ticket
from pytest_clawperator.errors import ExecutionConflictError
from pytest_clawperator.execution.flight import Flight

TIME_TO_LIVE = 10.0


class RedisLeases:
    """The leases of all machines that use one Redis.

    A lock expires after ``ttl`` seconds, unless it is renewed. A Redis that has just started
    may not know who has which device, so for ``settle`` seconds no new lease is taken there.
    """

    def __init__(
        self,
        url: str,
        *,
        run_id: str,
        ttl: float = TIME_TO_LIVE,
        settle: float | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._server = Server(url, ttl)
        # Redis counts whole seconds of its own time.
        self._settle_for = ttl + 1 if settle is None else settle
        self._renewer = Renewer(ttl / 3)
        self._run_id = run_id
        self._say = say
        self._settled_start: object = None

    def try_take(self, key: str) -> RedisHold | None:
        """Lease the device; None if somebody has it."""
        with self._server.answering() as client:
            self._settle()
            holder = Holder.here(self._run_id)
            begin = lease_clock.now()
            locked = lock_device(client, key, holder, server=self._server)
            if locked is None:
                return None
            lock, names = locked
            try:
                asked = client.pipeline().incr(names.number).get(names.flight).pttl(names.flight)
                number, *left_behind = asked.execute()
                _inherit(key, *left_behind)
            except BaseException:
                self._server.release(lock)
                raise
        terms = Terms(key, holder, number, names)
        return RedisHold(self._server, self._renewer, lock, terms, begin)

    def holder(self, key: str) -> Holder | None:
        """Return who has the device, if anybody."""
        with self._server.answering() as client:
            found = find_lock(client, key)
        return None if found is None else found[0]

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder, which can send nothing more; False if it has it not.

        The number goes up, so that it cannot take back what Redis seems to have forgotten.
        """
        with self._server.answering() as client:
            found = find_lock(client, key)
            if found is None or found[0] != holder:
                return False
            names = found[1]
            client.pipeline().delete(names.lock).incr(names.number).execute()
        return True

    def borrow(self, ticket: str) -> RedisPermit:
        """Return the right to use a device that another process of the run has leased."""
        shown = Ticket.parse(ticket)
        valid_until = shown.inherited(now=lease_clock.now(), ttl=self._server.ttl)
        return RedisPermit(self._server, shown.terms, valid_until=valid_until)

    def close(self) -> None:
        """Close the connections; leases are released before."""
        self._server.close()

    def _settle(self) -> None:
        """Wait until holders had the time to renew their locks in a Redis that has just started.

        It may start once more meanwhile.
        """
        told = self._server.about()
        while told.get("run_id") != self._settled_start:
            left = self._settle_for - float(told.get("uptime_in_seconds", "inf"))
            if left > 0:
                self._say(
                    f"{self._server} has just started; waiting {left:.0f} s, so that those who"
                    " have devices can tell it"
                )
                time.sleep(left)  # its age is the only sign that there is
            self._settled_start = told.get("run_id")
            told = self._server.about()


def _inherit(key: str, command_id: str | None, left_ms: int) -> None:
    """Record on this machine what the former holder, maybe of another one, left in flight."""
    flight = Flight(key)
    known = flight.peek()
    if command_id is None or (known is not None and known.command_id == command_id):
        return
    latest_end = time.monotonic() + left_ms / 1000
    # In a conflict the former holder is a process of this machine, and has written it down.
    with suppress(ExecutionConflictError), flight.claim(command_id, serial=key) as claim:
        if claim.unfinished is None or claim.unfinished.latest_end < latest_end:
            claim.take_off(latest_end)
            claim.arrive()
