"""What a lease in Redis consists of: the names of its keys, its holder and its number."""

from __future__ import annotations

import json
import re
import socket
from typing import NamedTuple

from pytest_clawperator.devices.holder import Holder, machine_id
from pytest_clawperator.devices.inventory import HERE


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
