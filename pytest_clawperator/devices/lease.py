"""Whose device it is: one holder at a time, across processes, runs, users and machines.

A store knows the leases: one of files for the users of one machine, one of Redis for
several machines. Whoever has a lease may use the device until it gives the lease back or
dies; before each broadcast it asks the lease whether that is still so.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.remedies import Remedy, RemedyKind

# How often a device that is held is tried again, and how often people are told of it.
RETRY_PAUSE, SAY_EVERY = 0.1, 10.0
# How much later than the device must be done its former user may let go of it.
LANDING_GRACE = 5.0

_REDIS = ("redis://", "rediss://", "unix://")
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
_WAIT_HINT = (
    Remedy(RemedyKind.WAIT_FOR_DEVICE),
    ", choose another device, or end that process.",
)

Say = Callable[[str], None]
Name = Callable[[str], str]


class Permit(Protocol):
    """The right to use a device, of the process that leased it or of one that it lent it to."""

    @property
    def key(self) -> str:
        """What the device is."""

    def check(self) -> None:
        """Raise if the lease is no longer valid."""

    def clear(self, command_id: str, seconds: float) -> None:
        """Raise unless this command may be sent now; the device may be busy with it so long."""


class Hold(Permit, Protocol):
    """A device in the hands of this process, until it is released or the process dies.

    ``fencing`` is a number that each holder of the device has higher than the one before,
    where the store counts; ``ticket`` is a text with which another process of the same run
    can borrow the device.
    """

    @property
    def holder(self) -> Holder:
        """Who has the device: this process."""

    @property
    def fencing(self) -> int | None:
        """The number of this lease, where the store counts."""

    @property
    def ticket(self) -> str:
        """What ``LeaseStore.borrow`` wants to see."""

    def release(self) -> None:
        """Give the device back; a second time changes nothing."""

    def __enter__(self) -> Hold: ...

    def __exit__(self, *exc_info: object) -> None: ...


class LeaseStore(Protocol):
    """Where the leases are kept."""

    def try_take(self, key: str) -> Hold | None:
        """Take the device, or give None if somebody has it."""

    def holder(self, key: str) -> Holder | None:
        """Tell who has the device; looking never makes a taking fail."""

    def borrow(self, ticket: str) -> Permit:
        """Use the device that another process of the run has leased."""

    def close(self) -> None:
        """Let go of what the store itself uses; leases are released before."""


def check_place(where: str) -> str:
    """Give where leases are kept, if that can be."""
    if (problem := _problem(where)) is None:
        return where
    # What stands before an @, or where a host should, may be a password.
    shown = re.sub(r"://:[^/]*", "://…", where.rpartition("@")[2].partition("?")[0])
    raise ConfigurationError(
        f"{shown!r} is no place to keep leases: {problem}",
        hint="Allowed: redis://host:6379/0 (or rediss://, unix://), or nothing for lock files on"
        " this machine.",
    )


def _problem(where: str) -> str | None:
    """Say why leases cannot be kept there."""
    if not where.startswith(_REDIS):
        return f"it begins with none of {', '.join(_REDIS)}"
    try:
        url = urlsplit(where)
        if "@" in f"{url.path}{url.query}{url.fragment}":
            return "its password must be encoded: write %2F for a /, %23 for a #, %3F for a ?"
        _ = url.port  # raises where it is none
    except ValueError:
        return "its host or port cannot be read"
    if url.scheme != "unix":
        return _problem_of_query(url) if url.hostname else "it names no host"
    if url.hostname or not url.path.strip("/"):
        return "a socket is named by its whole path, as in unix:///run/redis.sock"
    return _problem_of_query(url)


def _problem_of_query(url: SplitResult) -> str | None:
    """Say what is wrong with the database and what else is asked for."""
    asked = parse_qsl(url.query, keep_blank_values=True)
    known = (*_OPTIONS, *(_TLS_OPTIONS if url.scheme == "rediss" else ()))
    for name, _ in asked:
        if name not in known:
            return f"{name} is unknown; known: {', '.join(known)}"
    databases = [value for name, value in asked if name == "db"]
    if url.scheme != "unix" and url.path.strip("/"):
        databases.append(url.path.strip("/"))
    if not all(re.fullmatch(r"[0-9]+", one) for one in databases):
        return "its database is no number"
    return None


def open_leases(
    where: str | None = None, *, run_id: str, say: Say = lambda text: None
) -> LeaseStore:
    """Open the store that is meant: a Redis by its url, else the files of this machine."""
    # Each store is imported when it is used: most runs need one, and Redis is an extra.
    if not where:
        from pytest_clawperator.devices.file_lease import FileLeases

        return FileLeases(run_id=run_id)
    check_place(where)
    from pytest_clawperator.devices.redis_lease import RedisLeases

    return RedisLeases(where, run_id=run_id, say=say)


def take(store: LeaseStore, key: str, *, wait: float = 0.0, say: Say = lambda text: None) -> Hold:
    """Take a device; if somebody has it, wait at most so long, then raise who."""
    return take_each(store, [[key]], wait=wait, say=say)[0]


def take_all(
    store: LeaseStore, keys: Sequence[str], *, wait: float = 0.0, say: Say = lambda text: None
) -> list[Hold]:
    """Take all of the devices or none, and give them in the order of the keys."""
    return take_each(store, [[key] for key in keys], wait=wait, say=say)


def take_each(
    store: LeaseStore,
    groups: Sequence[Sequence[str]],
    *,
    wait: float = 0.0,
    say: Say = lambda text: None,
    name: Name = str,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> list[Hold]:
    """Take a device of each group, the first that is free, or none at all.

    If somebody has them, wait at most so long, then raise who. Nothing is held while waiting,
    so two that want the same devices cannot block each other. ``name`` tells what people call
    the device with that key.
    """
    begin = clock()
    say_next = begin
    while (taken := _try_each(store, groups)) is None:
        now = clock()
        if now >= begin + wait:
            raise _held(store, groups, name, waited=wait)
        if now >= say_next:
            say(f"waiting for {_wanted(store, groups, name)}; {begin + wait - now:.0f} s left")
            say_next += SAY_EVERY
        # Those who wait for the same devices should not all come back at once.
        pause(min(RETRY_PAUSE * (0.5 + secrets.randbelow(1000) / 1000), begin + wait - now))
    return taken


def await_landing(
    key: str,
    *,
    serial: str,
    say: Say = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Let a process that lost its lease see the end of the execution that it has in flight.

    It may not send another one, so this ends; should it not, the conflict is raised.
    """
    flight, deadline = Flight(key), clock() + LANDING_GRACE
    told = False
    while True:
        try:
            with flight.claim("handover", serial=serial):
                return
        except ExecutionConflictError as conflict:
            holder = conflict.details["holder"]
            if holder is not None:
                deadline = max(deadline, holder["latest_end"] + LANDING_GRACE)
            if clock() >= deadline:
                raise
            if not told:
                say(f"waiting for the former user's execution to end: {conflict.message}")
                told = True
        pause(RETRY_PAUSE)


def _try_each(store: LeaseStore, groups: Sequence[Sequence[str]]) -> list[Hold] | None:
    """Take a free device of each group; if one group has none, take none."""
    if len(groups) > 1:
        # Who takes a few only to give them back keeps others from having them.
        free = {key for key in _distinct(groups) if store.holder(key) is None}
        groups = [[key for key in group if key in free] for group in groups]
    taken: dict[int, Hold] = {}
    with ExitStack() as held:
        # Those with the least choice come first.
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
    told = "; ".join(held) or "others come and go"
    return told if len(keys) == 1 and held else f"{len(groups)} of {len(keys)} devices ({told})"


def _held(
    store: LeaseStore, groups: Sequence[Sequence[str]], name: Name, *, waited: float
) -> LeaseError:
    keys = _distinct(groups)
    holders = {key: who for key in keys if (who := store.holder(key)) is not None}
    if len(keys) == 1 and holders:
        return _held_by(keys[0], holders[keys[0]], name, waited=waited)
    after = f" after {waited:g} s of waiting" if waited else ""
    told = "; ".join(f"{name(key)} is held by {holder}" for key, holder in holders.items())
    count = f"{len(groups)} device{'s are' if len(groups) > 1 else ' is'}"
    return LeaseError(
        f"{count} wanted{after}, and {len(keys) - len(holders)} of {len(keys)} can be had:"
        f" {told or 'others took them in between'}",
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
