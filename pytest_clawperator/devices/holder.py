"""Who holds a device, in words for those who would like to have it."""

from __future__ import annotations

import getpass
import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a device, since when, and a token that no other lease has.

    ``since`` is for people alone: nothing is computed from it, so that setting the date
    changes nothing.
    """

    owner: str
    pid: int
    host: str
    run_id: str
    since: str
    token: str

    @classmethod
    def here(cls, run_id: str) -> Holder:
        """Describe this process, which takes a device now."""
        return cls(
            owner=_user(),
            pid=os.getpid(),
            host=socket.gethostname(),
            run_id=run_id,
            since=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
            token=secrets.token_hex(8),
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Holder:
        """Read what a holder left; one that cannot be read holds the device all the same."""
        try:
            holder = cls(**json.loads(text))
        except (ValueError, TypeError):
            return UNKNOWN
        return holder

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        if self == UNKNOWN:
            return "somebody who left no readable name"
        run = f", run {self.run_id}" if self.run_id else ""
        return f"{self.owner} (process {self.pid} on {self.host}{run}) since {self.since}"


UNKNOWN = Holder(owner="", pid=0, host="", run_id="", since="", token="")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that has no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "a user without a name"
