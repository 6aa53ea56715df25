"""Leases in Redis, for devices that several machines share.

A lease is redis-py's lock, renewed in the background, and a fencing number that counts the
holders of the device. A lock that is not renewed expires, and somebody else can have it; the
holder stops sending before that, by its own clock, whether Redis answers or not. A record of
the last command tells the next holder, on whichever machine, what may still be running on
the device.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import HERE
from pytest_clawperator.devices.redis_url import check_redis_url
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
from pytest_clawperator.execution.flight import Flight

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import LockError, RedisError, ResponseError
    from redis.retry import Retry
except ImportError:  # an extra
    redis = None  # type: ignore[assignment]  # a module elsewhere; `_require_redis` asks

if TYPE_CHECKING:
    from redis.lock import Lock

TIME_TO_LIVE = 10.0
# How long an answer of Redis may take; several fit into the time to live.
_ANSWER_WITHIN = 2.0
# A part of the time to live in which a holder no longer sends, for what is on its way.
_SAFETY = 0.05

_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))

# Returns who has the lock, the number of the newest holder and the milliseconds that the lock
# still lives; records the command if the caller has the lock.
_CONFIRM = """
local held, number = redis.call('get', KEYS[1]), redis.call('get', KEYS[2])
if held == ARGV[1] and number == ARGV[2] and ARGV[3] ~= '' then
    redis.call('set', KEYS[3], ARGV[3], 'px', ARGV[4])
end
return {held or '', number or '', redis.call('pttl', KEYS[1])}
"""
# Takes a lock back that Redis forgot, unless somebody else has had the device since.
_RECLAIM = """
local number = redis.call('get', KEYS[2])
if redis.call('exists', KEYS[1]) == 1 then return 0 end
if number ~= ARGV[2] and (number or ARGV[4] == '0') then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[3])
redis.call('set', KEYS[2], ARGV[2])
return 1
"""


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
        self._server = _Server(url, ttl)
        # Redis counts whole seconds of its own time.
        self._settle_for = ttl + 1 if settle is None else settle
        self._renewer = _Renewer(ttl / 3)
        self._run_id = run_id
        self._say = say
        self._settled_start: object = None

    def try_take(self, key: str) -> RedisHold | None:
        """Lease the device; None if somebody has it."""
        with self._server.answering() as client:
            self._settle()
            names, holder = _Names.of(key), Holder.here(self._run_id)
            lock = client.lock(names.lock, timeout=self._server.ttl, thread_local=False)
            begin = _clock()
            if not lock.acquire(blocking=False, token=holder.to_json()):
                return None
            try:
                asked = client.pipeline().incr(names.number).get(names.flight).pttl(names.flight)
                number, *left_behind = asked.execute()
                _inherit(key, *left_behind)
            except BaseException:
                lock.release()
                raise
        return RedisHold(self._server, self._renewer, lock, _Terms(key, holder, number), begin)

    def holder(self, key: str) -> Holder | None:
        """Return who has the device, if anybody."""
        with self._server.answering() as client:
            text = client.get(_Names.of(key).lock)
        return None if text is None else Holder.from_json(text)

    def borrow(self, ticket: str) -> RedisPermit:
        """Return the right to use a device that another process of the run has leased."""
        return RedisPermit(self._server, _Terms.of(ticket))

    def close(self) -> None:
        """Close the connections; leases are released before."""
        self._server.close()

    def _settle(self) -> None:
        """Wait until holders had the time to renew their locks in a Redis that has just started."""
        told = self._server.about()
        if told.get("run_id") == self._settled_start:
            return
        left = self._settle_for - float(told.get("uptime_in_seconds", "inf"))
        if left > 0:
            self._say(
                f"{self._server} has just started; waiting {left:.0f} s, so that those who have"
                " devices can tell it"
            )
            time.sleep(left)  # its age is the only sign that there is
        self._settled_start = told.get("run_id")


class RedisPermit:
    """The right to use a device, as Redis confirms it."""

    def __init__(self, server: _Server, terms: _Terms) -> None:
        self.key = terms.key
        self._server = server
        self._terms = terms
        self._names = _Names.of(terms.key)
        self._valid_until = 0.0

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        self._confirm("", 0.0)

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command may be sent now, and record it."""
        self._confirm(command_id, seconds)

    def _confirm(self, command_id: str, seconds: float) -> None:
        """Ask Redis; while it does not answer, this machine's clock decides."""
        number, cause = str(self._terms.fencing), None
        begin = _clock()
        try:
            held, newest, left = self._server.run(
                _CONFIRM, self._names, self._terms.text, number, command_id, _ms(seconds)
            )
        except RedisError as exc:
            cause = exc
        else:
            if held not in ("", self._terms.text) or newest not in ("", number):
                self._valid_until = 0.0  # so that it stays lost when Redis answers no more
                raise self._invalid(self._lost_to(held))
            if held:
                self._prolong(begin, left / 1000)
        if _clock() >= self._valid_until:
            told = f"; it said: {cause}" if cause else ""
            raise self._invalid(f"{self._server} did not renew it in time{told}") from cause

    def _prolong(self, since: float, seconds: float) -> None:
        valid_until = since + seconds - self._server.ttl * _SAFETY
        self._valid_until = max(self._valid_until, valid_until)

    def _lost_to(self, held: str) -> str:
        if held in ("", self._terms.text):
            return "somebody else had it in between"
        return f"{Holder.from_json(held)} has it"

    def _invalid(self, why: str) -> LeaseError:
        return LeaseError(
            f"the device is no longer leased by this run: {why}",
            serial=self.key,
            hint="Nothing was sent. Check that this machine reaches Redis all the time, and that"
            " the process that had leased the device still runs; then start the run again.",
            details={"key": self.key, "fencing": self._terms.fencing},
        )


class RedisHold(RedisPermit):
    """A device that this process has leased; the lock is renewed until it is released."""

    def __init__(
        self, server: _Server, renewer: _Renewer, lock: Lock, terms: _Terms, since: float
    ) -> None:
        super().__init__(server, terms)
        self.holder = terms.holder
        self.ticket = terms.to_ticket()
        self._lock = lock
        self._renewer = renewer
        self._turn = threading.Lock()
        self._is_over = False
        self._prolong(since, server.ttl)
        renewer.add(self)

    def renew(self) -> bool:
        """Renew the lock if it is still ours; False if Redis did not answer."""
        with self._turn:
            begin = _clock()
            try:
                if self._is_over or not self._renewed(begin):
                    self._is_over, self._valid_until = True, 0.0
                    return True
            except RedisError:
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
            is_valid, self._valid_until = _clock() < self._valid_until, 0.0
        if was_over:
            return
        # A Redis that does not answer forgets the lock by itself.
        with suppress(RedisError):
            if is_valid and self._lock.owned() and Flight(self.key).peek() is None:
                self._server.client.delete(self._names.flight)
            self._lock.release()

    def __enter__(self) -> RedisHold:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _renewed(self, now: float) -> bool:
        try:
            self._lock.reacquire()
        except LockError:
            # A Redis that started again may have forgotten the numbers as well. Then only our
            # own clock tells that nobody else can have had the device.
            forgotten = "1" if now < self._valid_until else "0"
            number, ttl = str(self._terms.fencing), _ms(self._server.ttl)
            return bool(
                self._server.run(_RECLAIM, self._names, self._terms.text, number, ttl, forgotten)
            )
        return True


class _Renewer:
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


class _Server:
    """A Redis server, whose errors become errors of this package."""

    def __init__(self, url: str, ttl: float) -> None:
        _require_redis()
        self.ttl = ttl
        parts = urlsplit(check_redis_url(url))
        # What stands before an @ may be a password, and messages travel far.
        self._shown = f"Redis at {parts.netloc.rpartition('@')[2] or parts.path}"
        patience = min(_ANSWER_WITHIN, ttl / 4)
        self.client: Any = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=patience,
            socket_connect_timeout=patience,
            # A connection may be older than the server.
            retry=Retry(NoBackoff(), 1, (RedisConnectionError,)),
        )

    def __str__(self) -> str:
        return self._shown

    @contextmanager
    def answering(self) -> Iterator[Any]:
        """Yield the client; errors of Redis are raised as ``LeaseError``."""
        try:
            yield self.client
        except RedisError as exc:
            raise LeaseError(
                f"{self} keeps the leases and does not work: {exc}",
                code=ErrorCode.REMOTE_HOST_UNREACHABLE,
                hint="Start it, or correct the url; its user must be allowed to read and write"
                " keys that begin with `clawperator:`, and to run scripts.",
            ) from exc

    def run(self, script: str, names: _Names, *arguments: str | int) -> Any:
        """Run a Lua script on the keys of a device."""
        return self.client.eval(script, len(names), *names, *arguments)

    def about(self) -> dict[str, Any]:
        """Return what the server says of itself; nothing if it refuses."""
        try:
            told: dict[str, Any] = self.client.info("server")
        except ResponseError:
            return {}
        return told

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class _Names(NamedTuple):
    """The names of a device's keys in Redis."""

    lock: str
    number: str
    flight: str

    @classmethod
    def of(cls, key: str) -> _Names:
        """Return the names for the key of a device; a host name in it is cut to its first part.

        A machine may know itself by its short name, and others may know it by the full one.
        """
        machine, found, serial = key.partition("/")
        is_address = re.fullmatch(r"[\d.]+|.*:.*", machine)  # or the url of a host
        if machine == HERE or (found and not is_address):
            name = socket.gethostname() if machine == HERE else machine
            key = f"{name.partition('.')[0].lower()}/{serial}"
        return cls(*(f"clawperator:{kind}:{key}" for kind in ("lease", "fencing", "flight")))


class _Terms(NamedTuple):
    """What identifies a lease."""

    key: str
    holder: Holder
    fencing: int

    @classmethod
    def of(cls, ticket: str) -> _Terms:
        """Parse a ticket."""
        shown = json.loads(ticket)
        return cls(shown["key"], Holder.from_json(shown["holder"]), shown["fencing"])

    def to_ticket(self) -> str:
        """Return the ticket."""
        return json.dumps({"key": self.key, "holder": self.text, "fencing": self.fencing})

    @property
    def text(self) -> str:
        """The value of the lock."""
        return self.holder.to_json()


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


def _require_redis() -> None:
    if redis is None:
        raise ConfigurationError(
            "leases in a Redis need the package redis, which is not installed",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[redis]'",
        )


def _clock() -> float:
    """Return the time of a clock that cannot be set and that runs while the machine sleeps."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def _ms(seconds: float) -> int:
    return max(round(seconds * 1000), 1)
