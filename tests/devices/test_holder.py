"""Who holds a device, in words."""

from __future__ import annotations

import getpass
import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from pytest_clawperator.devices.holder import UNKNOWN, Holder, machine_id


def test_a_holder_is_told_in_one_line() -> None:
    """The text names the user, the process, the machine, the run and the time."""
    holder = Holder(
        owner="ann",
        pid=47,
        host="rack-2",
        machine="m2",
        run_id="r9",
        since="2026-01-02 03:04:05",
        token="t",
    )

    told = str(holder)

    assert told == "ann (process 47 on rack-2, run r9) since 2026-01-02 03:04:05"


def test_this_process_describes_itself() -> None:
    """Two leases of one process differ in their token alone."""
    first, second = Holder.here("r1"), Holder.here("r1")

    assert (first.pid, first.host, first.run_id) == (os.getpid(), socket.gethostname(), "r1")
    assert first.token != second.token


def test_processes_of_a_machine_agree_which_it_is() -> None:
    """What identifies the machine is the same in every process, and is not its name."""
    program = f"from {machine_id.__module__} import machine_id; print(machine_id())"

    told = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)

    assert told.stdout.decode().strip() == machine_id()
    assert machine_id() != socket.gethostname()


def test_what_is_written_can_be_read() -> None:
    """A holder is the same after writing and reading it."""
    holder = Holder.here("läufer")

    read = Holder.from_json(holder.to_json())

    assert read == holder


def changed(**changes: Any) -> str:
    """Return a holder as text, with other values."""
    return json.dumps({**asdict(Holder.here("r1")), **changes})


#: What a crash or another user can leave in the place of a holder.
MALFORMED: dict[str, str | bytes] = {
    "nothing": "",
    "blanks": "   ",
    "cut short": "{",
    "a list": "[]",
    "null": "null",
    "too few": '{"pid": 1}',
    "one more": changed(more=1),
    "bytes": b"\xff\xfe",
    "nested": "[" * 100_000,
    "pid as text": changed(pid="4711"),
    "pid as bool": changed(pid=True),
    "negative pid": changed(pid=-1),
    "huge pid": changed(pid=10**4000),
    "infinite pid": changed(pid=float("inf")),
    "owner as list": changed(owner=["ada"]),
    "no host": changed(host=None),
    "long run": changed(run_id="x" * 100_000),
    "half a pair": changed(owner="\ud800"),
    "no token": changed(token=""),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_what_cannot_be_read_is_somebody(kind: str) -> None:
    """Damaged data names nobody, and does not make the device free; the text says where it is."""
    unreadable = MALFORMED[kind]

    holder, found = Holder.from_json(unreadable), Holder.from_json(unreadable, found_in="/locks/x")

    assert holder == UNKNOWN
    assert str(holder) == "a holder who left no readable name"
    assert str(found) == "a holder who left no readable name in /locks/x"


def test_a_user_without_a_name_can_hold_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the user may have a number only."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)

    holder = Holder.here("r1")

    assert holder.owner == f"user {os.getuid()}"
