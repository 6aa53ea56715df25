"""Who holds a device, for the messages to those who want it."""

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

    ``since`` is only shown: nothing is computed from it, so setting the date changes nothing.
    """

    owner: str
    pid: int
    host: str
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
            run_id=run_id,
            since=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
            token=secrets.token_hex(8),
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Holder:
        """Parse what a holder wrote; an unreadable one is ``UNKNOWN``, and still a holder."""
        try:
            holder = cls(**json.loads(text))
        except (ValueError, TypeError):
            return UNKNOWN
        return holder

    def to_json(self) -> str:
        """Return the holder as JSON."""
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
