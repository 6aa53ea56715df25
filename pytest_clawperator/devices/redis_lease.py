"""Leases in Redis, for devices that several machines share.

A lease is redis-py's lock, renewed in the background, and a fencing number that counts the
holders of the device. A lock that is not renewed expires, and others can take it; the
holder stops sending before that, by its own clock, whether Redis answers or not. A record of
the last command shows the next holder, on whichever machine, what may still be running on
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
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_clawperator.devices.holder import Holder, machine_id
from pytest_clawperator.devices.inventory import HERE
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
from pytest_clawperator.execution.flight import Flight

if TYPE_CHECKING:
    from redis import Redis
    from redis.lock import Lock
try:
    import redis
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as RedisConnectionError
    from redis.exceptions import LockError, RedisError, ResponseError
    from redis.retry import Retry
except ImportError:  # an extra
    redis = None  # type: ignore[assignment]  # a module elsewhere; `_require_redis` asks

TIME_TO_LIVE = 10.0

# A part of the time to live in which a holder no longer sends, for what is on its way.
_SAFETY = 0.05

# How often Redis is asked again while a lease is in doubt.
_PAUSE = 0.1

_NEVER = float("-inf")

# How long an answer of Redis may take; several fit into the time to live.
_ANSWER_WITHIN = 2.0

_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


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
        notify: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._server = Server(url, ttl)
        # Redis counts whole seconds of its own time.
        self._settle_for = ttl + 1 if settle is None else settle
        self._renewer = Renewer(ttl / 3)
        self._run_id = run_id
        self._notify = notify
        self._settled_start: object = None

    def try_take(self, key: str) -> RedisHold | None:
        """Lease the device; return None if it is taken."""
        with self._server.answering() as client:
            self._settle()
            holder = Holder.here(self._run_id)
            begin = lease_time()
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
        """Return who holds the device, if anyone does."""
        with self._server.answering() as client:
            found = find_lock(client, key)
        return None if found is None else found[0]

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; return False if this holder does not have it.

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
        valid_until = shown.inherited(now=lease_time(), ttl=self._server.ttl)
        return RedisPermit(self._server, shown.terms, valid_until=valid_until)

    def close(self) -> None:
        """Close the connections; leases are released before."""
        self._server.close()

    def _settle(self) -> None:
        """Wait until holders had the time to renew their locks in a Redis that has just started.

        It may start once more meanwhile.
        """
        reported = self._server.about()
        while reported.get("run_id") != self._settled_start:
            left = self._settle_for - float(reported.get("uptime_in_seconds", "inf"))
            if left > 0:
                self._notify(
                    f"{self._server} just restarted; waiting {left:.0f} s for current holders to"
                    " renew their leases"
                )
                time.sleep(left)  # its age is the only sign that there is
            self._settled_start = reported.get("run_id")
            reported = self._server.about()


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


# Returns who has the lock, the number of the newest holder and the milliseconds that the lock
# still lives; records the command if the caller has the lock.
_CONFIRM = """
local held, number = redis.call('get', KEYS[1]), redis.call('get', KEYS[2])
if held == ARGV[1] and number == ARGV[2] and ARGV[3] ~= '' then
    redis.call('set', KEYS[3], ARGV[3], 'px', ARGV[4])
end
return {held or '', number or '', redis.call('pttl', KEYS[1])}
"""


class RedisPermit:
    """The right to use a device, as Redis confirms it.

    A lease is in doubt while Redis does not answer, and when Redis came back and has forgotten
    it. While Redis does not answer, this machine's clock decides; ``valid_until`` is what is
    known of the lease at first. A lease that is in doubt and no longer valid by the clock is
    waited for, at most for the time to live: the holder, whose lease may be valid for longer,
    restores it meanwhile if no one else can have had the device.
    """

    def __init__(self, server: Server, terms: Terms, *, valid_until: float = 0.0) -> None:
        self.key = terms.key
        self._server = server
        self._terms = terms
        self._names = terms.names
        self._valid_until = valid_until
        self._in_doubt_since: float | None = None

    def check(self) -> None:
        """Raise if the lease is no longer valid."""
        self._confirm("", 0.0)

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command may be sent now, and record it."""
        self._confirm(command_id, seconds)

    def _confirm(self, command_id: str, seconds: float) -> None:
        """Ask Redis until it confirms the lease, or until it cannot be valid any more."""
        while not self._is_confirmed(command_id, seconds):
            sleep(_PAUSE)

    def _is_confirmed(self, command_id: str, seconds: float) -> bool:
        """Ask Redis once; False if the lease is in doubt, and Redis is to be asked again."""
        number, begin = self._terms.fencing, lease_time()
        try:
            held, newest, left = self._server.run(
                _CONFIRM, self._names, self._terms.text, number, command_id, milliseconds(seconds)
            )
        except NoAnswer as error:
            return self._decide_alone(begin, error)
        if held not in ("", self._terms.text) or int(newest or 0) > number:
            self._end()
            raise self._invalid(self._lost_to(held))
        if held:
            self._prolong(begin, left / 1000)
            self._in_doubt_since = None
            return True
        # A server that knows the number did not forget the lock: that expired or was released.
        is_forgotten = int(newest or 0) < number
        self._wait_or_raise(begin, self._patience(begin) if is_forgotten else self._valid_until)
        return False

    def _decide_alone(self, begin: float, error: NoAnswer) -> bool:
        """Whether the lease is valid by this machine's clock, while Redis does not answer."""
        patience = self._patience(begin)
        if lease_time() < self._valid_until:
            return True
        self._wait_or_raise(begin, patience, cause=error)
        return False

    def _patience(self, now: float) -> float:
        """Return until when a lease that is in doubt can be restored."""
        if self._in_doubt_since is None:
            self._in_doubt_since = now
        return self._in_doubt_since + self._server.ttl

    def _wait_or_raise(self, now: float, until: float, cause: NoAnswer | None = None) -> None:
        if now >= until:
            reported = f"; it said: {cause}" if cause else ""
            raise self._invalid(f"{self._server} did not renew it in time{reported}") from cause

    def _prolong(self, since: float, seconds: float) -> None:
        valid_until = since + seconds - self._server.ttl * _SAFETY
        self._valid_until = max(self._valid_until, valid_until)

    def _end(self) -> None:
        """Take note that the lease is lost, and stays lost when Redis answers no more."""
        self._valid_until, self._in_doubt_since = 0.0, _NEVER

    def _lost_to(self, held: str) -> str:
        if held in ("", self._terms.text):
            return "another holder had it in between"
        return f"{Holder.from_json(held)} has it"

    def _invalid(self, why: str) -> LeaseError:
        return LeaseError(
            f"the device is no longer leased by this run: {why}",
            serial=self.key,
            hint="Nothing was sent. Check that this machine reaches Redis all the time, and that"
            " the process that had leased the device still runs; then start the run again.",
            details={"key": self.key, "fencing": self._terms.fencing},
        )


def milliseconds(seconds: float) -> int:
    """Return a time as Redis takes it."""
    return max(round(seconds * 1000), 1)


def lease_time() -> float:
    """Return the time of a clock that cannot be set and that runs while the machine sleeps."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


# Takes back a lock that Redis forgot, unless another holder has had the device since. A number
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
            begin = lease_time()
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
            is_valid = lease_time() < self._valid_until
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
        """Take back a lock that Redis forgot; return False if another may have had the device.

        A Redis that started again may have forgotten the numbers as well. Then only our own
        clock proves that no one else can have had the device.
        """
        is_sure = "1" if now < self._valid_until else "0"
        ttl = milliseconds(self._server.ttl)
        arguments = (self._terms.text, self._terms.fencing, ttl, is_sure)
        return bool(self._server.run(_RECLAIM, self._names, *arguments))


class Renewer:
    """A thread that renews the leases of this process, for as long as there are any."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._leases: list[RedisHold] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, lease: RedisHold) -> None:
        """Begin to renew this lease."""
        with self._changed:
            self._leases.append(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()

    def remove(self, lease: RedisHold) -> None:
        """Renew this lease no longer."""
        with self._changed:
            if lease in self._leases:
                self._leases.remove(lease)
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


def lock_device(
    client: Redis, key: str, holder: Holder, *, server: Server
) -> tuple[Lock, Names] | None:
    """Lock a device and return by which names; return None if it is taken.

    A process that has one of both locks checks the other one afterwards, so that no two processes
    of a machine have one each.
    """
    shared, own = Names.of(key), Names.of_machine(key, holder.machine)
    lock = _try_lock(client, shared, holder, server.ttl)
    if own is None:
        return None if lock is None else (lock, shared)
    mine, other = shared, own
    if lock is None:
        found = _locked_by(client, shared)
        if found is None or not _is_namesake(found):
            return None
        mine, other = own, shared
        lock = _try_lock(client, own, holder, server.ttl)
    if lock is None:
        return None
    found = _locked_by(client, other)
    if found is None or _is_namesake(found):
        return lock, mine
    server.release(lock)
    return None


def find_lock(client: Redis, key: str) -> tuple[Holder, Names] | None:
    """Return who has locked a device, if anyone has, and by which names."""
    shared, own = Names.of(key), Names.of_machine(key, machine_id())
    found = _locked_by(client, shared)
    if found is not None and (own is None or not _is_namesake(found)):
        return found, shared
    found = None if own is None else _locked_by(client, own)
    return None if found is None or own is None else (found, own)


def _try_lock(client: Redis, names: Names, holder: Holder, ttl: float) -> Lock | None:
    lock = client.lock(names.lock, timeout=ttl, thread_local=False)
    return lock if lock.acquire(blocking=False, token=holder.to_json()) else None


def _locked_by(client: Redis, names: Names) -> Holder | None:
    text = client.get(names.lock)
    return None if text is None else Holder.from_json(text)


def _is_namesake(found: Holder) -> bool:
    """Whether a holder is of another machine that has the host name of this one."""
    is_called_alike = short_name(found.host) == short_name(socket.gethostname())
    return is_called_alike and found.machine not in ("", machine_id())


class Names(NamedTuple):
    """The names of a device's keys in Redis."""

    lock: str
    number: str
    flight: str

    @classmethod
    def of(cls, key: str) -> Names:
        """Return the names for the key of a device; a host name in it is cut to its first part.

        A machine may know itself by its short name, and others may know it by the full one.
        """
        machine, found, serial = key.partition("/")
        is_address = re.fullmatch(r"[\d.]+|.*:.*", machine)  # or the url of a host
        if machine == HERE or (found and not is_address):
            name = socket.gethostname() if machine == HERE else machine
            key = f"{short_name(name)}/{serial}"
        return cls._at(key)

    @classmethod
    def of_machine(cls, key: str, machine: str) -> Names | None:
        """Return the names that only this machine uses; None for a device of several machines.

        They are for a device that is known by its place, while another machine that has the
        same host name uses the names of its own device there.
        """
        place, _, serial = key.partition("/")
        return cls._at(f"{machine}/{serial}") if place == HERE else None

    @classmethod
    def _at(cls, key: str) -> Names:
        return cls(*(f"clawperator:{kind}:{key}" for kind in ("lease", "fencing", "flight")))


def short_name(host: str) -> str:
    """Return the first part of a host name, by which a machine is known to others."""
    return host.partition(".")[0].lower()


class Terms(NamedTuple):
    """What identifies a lease; ``names`` are those of its keys in Redis."""

    key: str
    holder: Holder
    fencing: int
    names: Names

    @property
    def text(self) -> str:
        """The value of the lock."""
        return self.holder.to_json()


class Ticket(NamedTuple):
    """What the holder of a lease hands to a process that borrows it.

    ``valid_until`` is how long the lease was valid when the ticket was made, by the clock of
    the holder's machine.
    """

    terms: Terms
    valid_until: float

    @classmethod
    def parse(cls, text: str) -> Ticket:
        """Parse a ticket."""
        shown = json.loads(text)
        holder, names = Holder.from_json(shown["holder"]), Names(*shown["names"])
        terms = Terms(shown["key"], holder, shown["fencing"], names)
        return cls(terms, shown["valid_until"])

    def to_json(self) -> str:
        """Return the ticket as JSON."""
        shown = {**self.terms._asdict(), "holder": self.terms.text}
        return json.dumps({**shown, "valid_until": self.valid_until})

    def inherited(self, *, now: float, ttl: float) -> float:
        """Return until when the lease is valid for a borrower; 0 if its clock is another one."""
        is_here = self.terms.holder.machine == machine_id()
        return self.valid_until if is_here and self.valid_until <= now + ttl else 0.0


class NoAnswer(Exception):
    """Redis did not answer, or refused what was asked of it."""


class Server:
    """A Redis server; ``ttl`` is how many seconds a lock lives there unless it is renewed."""

    def __init__(self, url: str, ttl: float) -> None:
        _require_redis()
        self.ttl = ttl
        parts = urlsplit(url)
        # What stands before an @ may be a password, and messages travel far.
        self._shown = f"Redis at {parts.netloc.rpartition('@')[2] or parts.path}"
        patience = min(_ANSWER_WITHIN, ttl / 4)
        self._client: Any = redis.Redis.from_url(
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
    def client(self) -> Iterator[Any]:
        """Yield the client of redis-py; its errors are raised as ``NoAnswer``."""
        try:
            yield self._client
        except RedisError as exc:
            raise NoAnswer(str(exc)) from exc

    @contextmanager
    def answering(self) -> Iterator[Any]:
        """Yield the client; its errors are raised as ``LeaseError``."""
        try:
            yield self._client
        except (NoAnswer, RedisError) as exc:
            raise LeaseError(
                f"{self} keeps the leases and does not work: {exc}",
                code=ErrorCode.REMOTE_HOST_UNREACHABLE,
                hint="Start it, or correct the url; its user must be allowed to read and write"
                " keys that begin with `clawperator:`, and to run scripts.",
            ) from exc

    def run(self, script: str, names: Names, *arguments: str | int) -> Any:
        """Run a Lua script on the keys of a device."""
        with self.client() as client:
            return client.eval(script, len(names), *names, *arguments)

    def renew(self, lock: Lock) -> bool:
        """Let a lock live for another ``ttl`` seconds; False if it is no longer there."""
        with self.client():
            try:
                lock.reacquire()
            except LockError:
                return False
            return True

    def release(self, lock: Lock) -> None:
        """Release a lock; a Redis that does not answer forgets it by itself."""
        with suppress(RedisError):
            lock.release()

    def about(self) -> dict[str, Any]:
        """Return what the server says of itself; nothing if it refuses."""
        with self.client() as client:
            try:
                reported: dict[str, Any] = client.info("server")
            except ResponseError:
                return {}
            return reported

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _require_redis() -> None:
    if redis is None:
        raise ConfigurationError(
            "leases in a Redis need the package redis, which is not installed",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[redis]'",
        )
