"""Which lock in Redis is that of a device, also where several machines have one host name.

A device that is known by its place, such as an emulator, is locked by the name of its machine,
which other machines know as well. While a namesake, another machine of that name, has locked a
device of its own so, it is locked by what only its machine has.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from pytest_clawperator.devices.holder import Holder, machine_id
from pytest_clawperator.devices.redis.server import Server
from pytest_clawperator.devices.redis.terms import Names, short_name

if TYPE_CHECKING:
    from redis import Redis
    from redis.lock import Lock


def lock_device(
    client: Redis, key: str, holder: Holder, *, server: Server
) -> tuple[Lock, Names] | None:
    """Lock a device, and return by which names; None if somebody has it.

    Whoever has one of both locks looks for the other one afterwards, so that no two processes
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
    """Return who has locked a device, if anybody, and by which names."""
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
