"""A leased device, lent to programs that its holder starts: they take no lease of their own.

The ticket of the lease travels in an environment variable. Whoever finds it there checks before
each command that the holder still has the device, as the workers of a run do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from pytest_clawperator.devices.lease import Permit, Say, open_leases
from pytest_clawperator.errors import ConfigurationError

VARIABLE = "CLAWPERATOR_LENT_DEVICE"


@dataclass(frozen=True)
class _Lent:
    """A device, the ticket of its lease, and where leases are kept."""

    key: str
    ticket: str
    where: str | None


def lend(ticket: str, *, key: str, where: str | None) -> dict[str, str]:
    """Return what a program must find in its environment to use a leased device."""
    return {VARIABLE: json.dumps(asdict(_Lent(key, ticket, where)))}


@contextmanager
def borrow(
    key: str, *, run_id: str, say: Say, environment: Mapping[str, str] = os.environ
) -> Iterator[Permit | None]:
    """Yield the right to use a device that was lent to this process; None if it was not."""
    text = environment.get(VARIABLE)
    lent = _parsed(text) if text else None
    if lent is None or lent.key != key:
        yield None
        return
    store = open_leases(lent.where, run_id=run_id, say=say)
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
            f"{VARIABLE} lends no device: {text[:200]!r}",
            hint="Leave the variable to the programs that set it, and unset it here.",
        ) from error
