"""Who holds a device, in words."""

from __future__ import annotations

import getpass
import os
import socket

import pytest

from pytest_clawperator.devices.holder import UNKNOWN, Holder


def test_a_holder_is_told_in_one_line() -> None:
    """The text names the user, the process, the machine, the run and the time."""
    holder = Holder(
        owner="ann", pid=47, host="rack-2", run_id="r9", since="2026-01-02 03:04:05", token="t"
    )

    told = str(holder)

    assert told == "ann (process 47 on rack-2, run r9) since 2026-01-02 03:04:05"


def test_this_process_describes_itself() -> None:
    """Two leases of one process differ in their token alone."""
    first, second = Holder.here("r1"), Holder.here("r1")

    assert (first.pid, first.host, first.run_id) == (os.getpid(), socket.gethostname(), "r1")
    assert first.token != second.token


def test_what_is_written_can_be_read() -> None:
    """A holder is the same after writing and reading it."""
    holder = Holder.here("läufer")

    read = Holder.from_json(holder.to_json())

    assert read == holder


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": 1}', b"\xff\xfe", "   "])
def test_what_cannot_be_read_is_somebody(text: str | bytes) -> None:
    """Damaged data names nobody, and does not make the device free."""
    holder = Holder.from_json(text)

    assert holder == UNKNOWN
    assert str(holder) == "somebody who left no readable name"


def test_a_user_without_a_name_can_hold_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the user may have a number only."""

    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)

    holder = Holder.here("r1")

    assert holder.owner == f"user {os.getuid()}"
