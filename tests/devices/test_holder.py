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


def test_a_holder_is_described_in_one_line() -> None:
    """The text names the user, the process, the machine, the run and the time."""
    holder = Holder(
        owner="ann", pid=47, host="rack", machine="m2", run_id="r9", since="2026-01-02", token="t"
    )

    assert str(holder) == "ann (process 47 on rack, run r9) since 2026-01-02"


def test_this_process_describes_itself() -> None:
    """Two leases of one process differ in their token, and a holder survives being written."""
    first, second = Holder.here("läufer"), Holder.here("läufer")

    assert (first.pid, first.host, first.run_id) == (os.getpid(), socket.gethostname(), "läufer")
    assert first.token != second.token
    assert Holder.from_json(first.to_json()) == first


def test_processes_of_a_machine_agree_which_it_is() -> None:
    """What identifies the machine is the same in every process, and is not its name."""
    program = f"from {machine_id.__module__} import machine_id; print(machine_id())"

    printed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)

    assert printed.stdout.decode().strip() == machine_id() != socket.gethostname()


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
def test_an_unreadable_holder_is_still_a_holder(kind: str) -> None:
    """Damaged data does not make the device free; the text says where the data is."""
    holder = Holder.from_json(MALFORMED[kind])
    found = Holder.from_json(MALFORMED[kind], found_in="/locks/x")

    assert holder == UNKNOWN
    assert str(holder) == "a holder who left no readable name"
    assert str(found) == "a holder who left no readable name in /locks/x"


def test_a_user_without_a_name_can_hold_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the user may have a number only."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)

    assert Holder.here("r1").owner == f"user {os.getuid()}"
