"""Whose device it is: one holder at a time, across processes, runs, users and machines.

A store keeps the leases: in files for the users of one machine, in Redis for several
machines. The holder of a lease may use the device until it releases the lease or dies;
before each broadcast the lease is checked. A new kind of store is a module beside
``file_lease`` and ``redis_lease``, and an address that ``open_leases`` knows.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
from pytest_clawperator.execution.flight import LONGEST_FLIGHT, Flight
from pytest_clawperator.remedies import Remedy, RemedyKind

# How often a leased device is tried again, and how often the wait is reported. Those who
# wait for any of several devices cannot wait inside one lock.
RETRY_PAUSE, SAY_EVERY = 0.1, 10.0

# How long after the device must be done its former user may still hold it.
LANDING_GRACE = 5.0

_WAIT_HINT = (
    Remedy(RemedyKind.WAIT_FOR_DEVICE),
    ", choose another device, or end that process.",
)

Notify = Callable[[str], None]

Name = Callable[[str], str]

LENT_VARIABLE = "CLAWPERATOR_LENT_DEVICE"

_SCHEMES = ("redis://", "rediss://", "unix://")

# What may follow a `?`. Others would change how long answers are waited for, or show a password.
_OPTIONS = ("db",)

_TLS_OPTIONS = (
    "ssl_ca_certs",
    "ssl_ca_path",
    "ssl_cert_reqs",
    "ssl_certfile",
    "ssl_check_hostname",
    "ssl_keyfile",
)


class Permit(Protocol):
    """The right to use a device: of the process that leased it, or of one that borrows it."""

    @property
    def key(self) -> str:
        """The key of the device, which is the same whatever it is called."""

    def check(self) -> None:
        """Raise if the lease is no longer valid."""

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command, which may keep the device busy so long, may be sent."""


class Hold(Permit, Protocol):
    """A device that this process has leased, until it is released or the process dies.

    ``ticket`` is a text with which another process of the same run can borrow the device.
    """

    @property
    def holder(self) -> Holder:
        """Who has the device: this process."""

    @property
    def ticket(self) -> str:
        """The text for ``LeaseStore.borrow``."""

    def release(self) -> None:
        """Release the device; a second call changes nothing."""

    def __enter__(self) -> Hold: ...

    def __exit__(self, *exc_info: object) -> None: ...


class LeaseStore(Protocol):
    """Where the leases are kept."""

    def try_take(self, key: str) -> Hold | None:
        """Lease the device; return None if it is taken."""

    def holder(self, key: str) -> Holder | None:
        """Return who holds the device, if anyone does; never get in the way of ``try_take``."""

    def evict(self, key: str, holder: Holder) -> bool:
        """Take the device from this holder; return False if this holder does not have it."""

    def borrow(self, ticket: str) -> Permit:
        """Return the right to use a device that another process of the run has leased."""

    def close(self) -> None:
        """Close what the store itself uses; leases are released before."""


def open_leases(
    where: str | None = None, *, run_id: str, notify: Notify = lambda text: None
) -> LeaseStore:
    """Open the store of leases: the Redis at this address, else the files of this machine."""
    if not where:
        return FileLeases(run_id=run_id)
    check_redis_url(where)
    # Redis is an extra, and takes long to import.
    from pytest_clawperator.devices.redis_lease import RedisLeases

    return RedisLeases(where, run_id=run_id, notify=notify)


def take_each(
    store: LeaseStore,
    groups: Sequence[Sequence[str]],
    *,
    wait: float = 0.0,
    notify: Notify = lambda text: None,
    name: Name = str,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> list[Hold]:
    """Lease a device of each group, the first that is free, or none at all.

    Where too few are free, or the store cannot be reached, wait up to ``wait`` seconds, then
    raise ``LeaseError`` with their holders or the reason. Nothing is held while waiting, so two
    that want the same devices cannot block each other. ``name`` returns what people call the
    device with that key.
    """
    deadline = clock() + wait
    notifier = _Notifier(notify, deadline, clock)
    while True:
        try:
            taken = _try_each(store, groups)
            if taken is not None:
                return taken
            if clock() >= deadline:
                raise _held(store, groups, name, waited=wait)
            notifier.notify("devices", lambda: f"waiting for {_wanted(store, groups, name)}")
        except LeaseError as error:
            if error.code != ErrorCode.REMOTE_HOST_UNREACHABLE or clock() >= deadline:
                raise
            notifier.notify("store", partial(str, f"waiting, because {error.message}"))
        # Those who wait for the same devices should not all come back at once.
        some_time = RETRY_PAUSE * (0.5 + secrets.randbelow(1000) / 1000)
        pause(max(min(some_time, deadline - clock()), 0.0))


def await_store(
    store: LeaseStore,
    key: str,
    *,
    wait: float,
    notify: Notify = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Wait up to ``wait`` seconds for a store that cannot be reached, then raise its error."""
    deadline = clock() + wait
    notifier = _Notifier(notify, deadline, clock)
    while True:
        try:
            store.holder(key)
        except LeaseError as error:
            if error.code != ErrorCode.REMOTE_HOST_UNREACHABLE or clock() >= deadline:
                raise
            notifier.notify("store", partial(str, f"waiting, because {error.message}"))
            pause(RETRY_PAUSE)
        else:
            return


class _Notifier:
    """Report what is waited for: immediately when it changes, then from time to time."""

    def __init__(self, notify: Notify, deadline: float, clock: Callable[[], float]) -> None:
        self._notify = notify
        self._deadline = deadline
        self._clock = clock
        self._topic = ""
        self._next = 0.0

    def notify(self, topic: str, what: Callable[[], str]) -> None:
        """Report what is waited for, unless this topic was reported recently."""
        now = self._clock()
        if topic != self._topic or now >= self._next:
            self._notify(f"{what()}; {self._deadline - now:.0f} s left")
            self._topic, self._next = topic, now + SAY_EVERY


def await_landing(
    key: str,
    *,
    serial: str,
    notify: Notify = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Wait for the end of an execution that the former holder still has in flight.

    It cannot send another one, so the wait ends; if it does not, the conflict is raised.
    """
    begin = clock()
    deadline, at_most = begin + LANDING_GRACE, begin + LONGEST_FLIGHT + LANDING_GRACE
    reported = False
    while True:
        try:
            _claim_once(key, serial, notify)
            return
        except ExecutionConflictError as conflict:
            holder = conflict.details["holder"]
            if holder is not None:
                deadline = min(max(deadline, holder["latest_end"] + LANDING_GRACE), at_most)
            if clock() >= deadline:
                raise
            if not reported:
                notify(f"waiting for the former user's execution to end: {conflict.message}")
                reported = True
        pause(RETRY_PAUSE)


def _claim_once(key: str, serial: str, notify: Notify) -> None:
    """Take the device for a moment; no lock file is left by that."""
    flight = Flight(key)
    with closing(flight), flight.claim("handover", serial=serial) as claim:
        if claim.problem:
            notify(claim.problem)


def _try_each(store: LeaseStore, groups: Sequence[Sequence[str]]) -> list[Hold] | None:
    """Lease a free device of each group; None, and no lease, if a group has none."""
    if len(groups) > 1:
        # Leases that are released at once would keep others from having the devices.
        free = {key for key in _distinct(groups) if store.holder(key) is None}
        groups = [[key for key in group if key in free] for group in groups]
    taken: dict[int, Hold] = {}
    with ExitStack() as held:
        # Groups with the least choice come first.
        for number in sorted(range(len(groups)), key=lambda number: len(groups[number])):
            hold = _first_free(store, groups[number], without={one.key for one in taken.values()})
            if hold is None:
                return None
            held.callback(hold.release)
            taken[number] = hold
        held.pop_all()
    return [taken[number] for number in range(len(groups))]


def _first_free(store: LeaseStore, keys: Iterable[str], *, without: set[str]) -> Hold | None:
    for key in keys:
        hold = None if key in without else store.try_take(key)
        if hold is not None:
            return hold
    return None


def _distinct(groups: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(key for group in groups for key in group))


def _wanted(store: LeaseStore, groups: Sequence[Sequence[str]], name: Name) -> str:
    """Describe what is waited for."""
    keys = _distinct(groups)
    held = [f"{name(key)}, held by {who}" for key in keys if (who := store.holder(key))]
    shown = "; ".join(held) or "others come and go"
    return shown if len(keys) == 1 and held else f"{len(groups)} of {len(keys)} devices ({shown})"


def _held(
    store: LeaseStore, groups: Sequence[Sequence[str]], name: Name, *, waited: float
) -> LeaseError:
    keys = _distinct(groups)
    holders = {key: who for key in keys if (who := store.holder(key)) is not None}
    if len(keys) == 1 and holders:
        return _held_by(keys[0], holders[keys[0]], name, waited=waited)
    after = f" after {waited:g} s of waiting" if waited else ""
    reported = "; ".join(f"{name(key)} is held by {holder}" for key, holder in holders.items())
    count = f"{len(groups)} device{'s are' if len(groups) > 1 else ' is'}"
    return LeaseError(
        f"{count} wanted{after}, and {len(keys) - len(holders)} of {len(keys)} can be had:"
        f" {reported or 'others took them in between'}",
        hint=_WAIT_HINT,
        details={"keys": keys, "holders": {k: asdict(v) for k, v in holders.items()}},
    )


def _held_by(key: str, holder: Holder, name: Name, *, waited: float) -> LeaseError:
    still = f"after {waited:g} s of waiting the device is still" if waited else "the device is"
    return LeaseError(
        f"{still} held by {holder}",
        code=ErrorCode.DEVICE_LEASED,
        serial=name(key),
        hint=_WAIT_HINT,
        details={"key": key, "holder": asdict(holder)},
    )


@dataclass(frozen=True)
class _Lent:
    """A device, the ticket of its lease, and where leases are kept."""

    key: str
    ticket: str
    where: str | None


def lend(ticket: str, *, key: str, where: str | None) -> dict[str, str]:
    """Return what a program must find in its environment to use a leased device."""
    return {LENT_VARIABLE: json.dumps(asdict(_Lent(key, ticket, where)))}


@contextmanager
def borrow(
    key: str, *, run_id: str, notify: Notify, environment: Mapping[str, str] = os.environ
) -> Iterator[Permit | None]:
    """Yield the right to use a device that was lent to this process; None if it was not."""
    text = environment.get(LENT_VARIABLE)
    lent = _parsed(text) if text else None
    if lent is None or lent.key != key:
        yield None
        return
    store = open_leases(lent.where, run_id=run_id, notify=notify)
    try:
        permit = store.borrow(lent.ticket)
        permit.check()
        yield permit
    finally:
        store.close()


def _parsed(text: str) -> _Lent:
    try:
        return _Lent(**json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{LENT_VARIABLE} lends no device: {text[:200]!r}",
            hint="Leave the variable to the programs that set it, and unset it here.",
        ) from error


def check_redis_url(url: str) -> str:
    """Return the url; raise ``ConfigurationError`` with what is wrong, without its password."""
    if (problem := _problem(url)) is None:
        return url
    # What stands before an @, or where a host should, may be a password.
    shown = re.sub(r"://:[^/]*", "://…", url.rpartition("@")[2].partition("?")[0])
    raise ConfigurationError(
        f"{shown!r} is not a place to keep leases: {problem}",
        hint="Allowed: redis://host:6379/0 (or rediss://, unix://), or nothing for lock files on"
        " this machine.",
    )


def _problem(url: str) -> str | None:
    """Return why leases cannot be kept there."""
    if not url.startswith(_SCHEMES):
        return f"it begins with none of {', '.join(_SCHEMES)}"
    try:
        parts = urlsplit(url)
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":
            return "its password must be encoded: write %2F for a /, %23 for a #, %3F for a ?"
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return "its host or port cannot be read"
    if parts.scheme != "unix":
        return _problem_of_query(parts) if parts.hostname else "it names no host"
    if parts.hostname or not parts.path.strip("/"):
        return "a socket is named by its whole path, as in unix:///run/redis.sock"
    return _problem_of_query(parts)


def _problem_of_query(url: SplitResult) -> str | None:
    """Return what is wrong with the database and the options."""
    given = parse_qsl(url.query, keep_blank_values=True)
    known = (*_OPTIONS, *(_TLS_OPTIONS if url.scheme == "rediss" else ()))
    for name, _ in given:
        if name not in known:
            return f"{name} is unknown; known: {', '.join(known)}"
    databases = [value for name, value in given if name == "db"]
    if url.scheme != "unix" and url.path.strip("/"):
        databases.append(url.path.strip("/"))
    if not all(re.fullmatch(r"[0-9]+", one) for one in databases):
        return "its database is not a number"
    return None
