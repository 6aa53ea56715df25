"""Who holds a device, for the messages to others who want it."""

from __future__ import annotations

import getpass
import json
import os
import secrets
import socket
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from pytest_clawperator.execution.flight import boot_id

_MAX_LENGTH = 512
_MAX_PID = 2**31


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a device, since when, and a token that no other lease has.

    ``host`` is the name of the machine, which others may have as well; ``machine`` is its own.
    ``since`` is only shown: nothing is computed from it, so setting the date changes nothing.
    """

    owner: str
    pid: int
    host: str
    machine: str
    run_id: str
    since: str
    token: str

    @classmethod
    def here(cls, run_id: str) -> Holder:
        """Return this process as a holder, from now on."""
        return cls(
            owner=_user(),
            pid=os.getpid(),
            host=socket.gethostname(),
            machine=machine_id(),
            run_id=run_id,
            since=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
            token=secrets.token_hex(8),
        )

    @classmethod
    def from_json(cls, text: str | bytes, *, found_in: str = "") -> Holder:
        """Parse what a holder wrote; an unreadable one is still a holder, without a name.

        Anyone can have written it. ``found_in`` is where it was found, for the message.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not _is_holder(found):
            return replace(UNKNOWN, host=found_in)
        return cls(**found)

    def to_json(self) -> str:
        """Return the holder as JSON."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        if not self.token:
            return "a holder who left no readable name" + (self.host and f" in {self.host}")
        run = f", run {self.run_id}" if self.run_id else ""
        return f"{self.owner} (process {self.pid} on {self.host}{run}) since {self.since}"


UNKNOWN = Holder(owner="", pid=0, host="", machine="", run_id="", since="", token="")


@cache
def machine_id() -> str:
    """Return what only this machine has, or this container: a text for its loopback network."""
    with suppress(OSError):
        if boot := boot_id():  # a container has the boot of its host, and a network of its own
            return f"{boot}-{Path('/proc/self/ns/net').stat().st_ino}"
    return f"{uuid.getnode():012x}"  # not Linux: the address of its network card


def _is_holder(found: Any) -> bool:
    """Whether it has the fields of a holder, each of its kind and short enough to be shown."""
    names = {field.name for field in fields(Holder)}
    if not isinstance(found, dict) or found.keys() != names or not found["token"]:
        return False
    pid = found["pid"]
    texts = [found[name] for name in names - {"pid"}]
    return type(pid) is int and 0 <= pid < _MAX_PID and all(map(_is_text, texts))


def _is_text(value: Any) -> bool:
    if type(value) is not str or len(value) > _MAX_LENGTH:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in value)  # no halves of pairs


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that has no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "a user without a name"
