"""A device that this process has leased in Redis, and the thread that renews its leases."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_clawperator.devices.redis import lease_clock
from pytest_clawperator.devices.redis.permit import RedisPermit, milliseconds
from pytest_clawperator.devices.redis.server import NoAnswer, Server
from pytest_clawperator.devices.redis.terms import Terms, Ticket
from pytest_clawperator.execution.flight import Flight

if TYPE_CHECKING:
    from redis.lock import Lock

# Takes a lock back that Redis forgot, unless somebody else has had the device since. A number
# that is lower than ours, or missing, is forgotten as well.
_RECLAIM = """
if redis.call('exists', KEYS[1]) == 1 then return 0 end
local number = tonumber(redis.call('get', KEYS[2]) or 0)
if number > tonumber(ARGV[2]) then return 0 end
if number < tonumber(ARGV[2]) and ARGV[4] == '0' then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[3])
redis.call('set', KEYS[2], ARGV[2])
return 1
"""


class RedisHold(RedisPermit):
    """A device that this process has leased; the lock is renewed until it is released."""

    def __init__(
        self, server: Server, renewer: Renewer, lock: Lock, terms: Terms, since: float
    ) -> None:
        super().__init__(server, terms)
        self.holder = terms.holder
        self._lock = lock
        self._renewer = renewer
        self._turn = threading.Lock()
        self._is_over = False
        self._prolong(since, server.ttl)
        renewer.add(self)

    @property
    def ticket(self) -> str:
        """The text for ``RedisLeases.borrow``; it says how long the lease is valid now."""
        return Ticket(self._terms, self._valid_until).to_json()

    def renew(self) -> bool:
        """Renew the lock if it is still ours; False if Redis did not answer."""
        with self._turn:
            begin = lease_clock.now()
            try:
                if self._is_over or not (self._server.renew(self._lock) or self._reclaim(begin)):
                    self._is_over = True
                    self._end()
                    return True
            except NoAnswer:
                return False
            self._prolong(begin, self._server.ttl)
            return True

    def release(self) -> None:
        """Release the device; a second call changes nothing."""
        if os.getpid() != self.holder.pid:
            return  # a fork has the object and not the lease
        self._renewer.remove(self)
        with self._turn:
            was_over, self._is_over = self._is_over, True
            is_valid = lease_clock.now() < self._valid_until
            self._end()
        if was_over:
            return
        if is_valid:
            self._forget_flight()
        self._server.release(self._lock)

    def __enter__(self) -> RedisHold:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _forget_flight(self) -> None:
        """Remove the record of the last command, unless it may still run."""
        with suppress(NoAnswer), self._server.client() as client:
            if self._lock.owned() and Flight(self.key).peek() is None:
                client.delete(self._names.flight)

    def _reclaim(self, now: float) -> bool:
        """Take back a lock that Redis forgot; False if somebody else may have had the device.

        A Redis that started again may have forgotten the numbers as well. Then only our own
        clock tells that nobody else can have had the device.
        """
        is_sure = "1" if now < self._valid_until else "0"
        ttl = milliseconds(self._server.ttl)
        arguments = (self._terms.text, self._terms.fencing, ttl, is_sure)
        return bool(self._server.run(_RECLAIM, self._names, *arguments))


class Renewer:
    """A thread that renews the leases of this process, for as long as there are any."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._leases: set[RedisHold] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, lease: RedisHold) -> None:
        """Begin to renew this lease."""
        with self._changed:
            self._leases.add(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()

    def remove(self, lease: RedisHold) -> None:
        """Renew this lease no longer."""
        with self._changed:
            self._leases.discard(lease)
            self._changed.notify()

    def _run(self) -> None:
        pause = self._pause
        while leases := self._due(pause):
            # While Redis does not answer, each try may take long: one is enough.
            answered = all(lease.renew() for lease in leases)
            pause = self._pause if answered else self._pause / 3

    def _due(self, pause: float) -> tuple[RedisHold, ...]:
        with self._changed:
            self._changed.wait_for(lambda: not self._leases, timeout=pause)
            if not self._leases:
                self._thread = None
            return tuple(self._leases)
