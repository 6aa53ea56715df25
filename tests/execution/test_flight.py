"""One execution in flight on a device, whichever process sends it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.flight import Flight, Unfinished, boot_id, sweep
from pytest_clawperator.execution.lock_file import lock_path, open_lock_file

DEADLINE = 30

HOLDER = """
import sys, time
from pathlib import Path
from pytest_clawperator.execution.flight import Flight

flight = Flight("phone", folder=Path(sys.argv[1]))
with flight.claim("cmd-other", serial="phone") as claim:
    claim.take_off(time.monotonic() + 600)
    print("holding", flush=True)
    sys.stdin.read()
    if sys.argv[2] == "land":
        claim.land()
"""


def holder(folder: Path, ending: str) -> subprocess.Popen[bytes]:
    """Start another process that holds the device until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder), ending],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"holding\n"
    return process


def send(flight: Flight, command_id: str, latest_end: float = 1e12, *ends: str) -> None:
    """Send a command and call what ends it, if anything."""
    with flight.claim(command_id, serial="s") as claim:
        claim.take_off(latest_end)
        for end in ends:
            getattr(claim, end)()


def unfinished(flight: Flight) -> Unfinished | None:
    """Claim the device as the next user, and return what was left on it."""
    with flight.claim("cmd-next", serial="s") as claim:
        return claim.unfinished


def in_threads(fly: Callable[[str], None], *names: str) -> None:
    """Run something in one thread per name, and wait for all."""
    threads = [threading.Thread(target=fly, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert not any(thread.is_alive() for thread in threads)


def test_another_process_is_refused_and_its_end_is_seen(tmp_path: Path) -> None:
    """The conflict names process and command; a command whose end was seen leaves no trace."""
    flight = Flight("phone", folder=tmp_path)
    process = holder(tmp_path, "land")

    with (
        pytest.raises(errors.ExecutionConflictError) as caught,
        flight.claim("cmd-mine", serial="serial-1"),
    ):
        pass
    process.communicate(timeout=DEADLINE)

    assert caught.value.code == ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT
    assert caught.value.serial == "serial-1"
    assert f"process {process.pid} with command cmd-other" in str(caught.value)
    assert caught.value.details["commandId"] == "cmd-mine"
    assert unfinished(flight) is None


def test_a_killed_holder_leaves_its_command(tmp_path: Path) -> None:
    """A kill -9 frees the device, and the next holder learns what may still be running."""
    process = holder(tmp_path, "land")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=DEADLINE)

    left = unfinished(Flight("phone", folder=tmp_path))

    assert left is not None
    assert (left.command_id, left.pid) == ("cmd-other", process.pid)


def test_a_command_that_never_landed_stays_known(tmp_path: Path) -> None:
    """The next holder learns of it until its latest end, and whether it arrived."""
    now = [100.0]
    flight = Flight("phone", folder=tmp_path, clock=lambda: now[0])

    with flight.claim("cmd-0", serial="s"):
        pass
    assert unfinished(flight) is None, "nothing was sent"
    for end in ((), ("arrive",)):
        send(flight, "cmd-1", 160.0, *end)
        left = unfinished(flight)
        assert left is not None
        assert (left.command_id, left.latest_end) == ("cmd-1", 160.0)
        assert left.arrived is bool(end)
    now[0] = 160.0
    assert unfinished(flight) is None


def test_two_threads_never_hold_one_device_together(tmp_path: Path) -> None:
    """Threads of one client wait their turn; clients that close remove no lock of others."""
    shared = Flight("phone", folder=tmp_path)
    inside: list[str] = []
    overlaps: list[list[str]] = []

    def enter(name: str) -> None:
        inside.append(name)
        if len(inside) > 1:
            overlaps.append(list(inside))
        inside.remove(name)

    def wait_turn(name: str) -> None:
        for _ in range(50):
            with shared.claim(name, serial="s"):
                enter(name)

    def open_and_close(name: str) -> None:
        for _ in range(200):
            flight = Flight("phone", folder=tmp_path)
            with suppress(errors.ExecutionConflictError), flight.claim("cmd", serial="s"):
                enter(name)
            flight.close()

    in_threads(wait_turn, "a", "b", "c")
    in_threads(open_and_close, "a", "b", "c", "d")

    assert overlaps == []


def test_another_holder_can_be_waited_for(tmp_path: Path) -> None:
    """With patience, a client that is in the way only for a moment is not a conflict."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)
    flying = first.claim("cmd-1", serial="s")
    flying.__enter__()
    with pytest.raises(errors.ExecutionConflictError):
        second.hold("cmd-2", lambda claim: None, serial="s")
    threading.Timer(0.05, flying.__exit__, (None, None, None)).start()

    assert second.hold("cmd-3", lambda claim: True, serial="s", patience=DEADLINE)


def test_devices_do_not_hinder_each_other(tmp_path: Path) -> None:
    """Keys that look alike once made safe for a file name are still different devices."""
    first, second = Flight("a/b", folder=tmp_path), Flight("a_b", folder=tmp_path)

    with first.claim("cmd-1", serial="s"), second.claim("cmd-2", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is None
    assert len(list(tmp_path.iterdir())) == 2


NOW = 1000.0
RECORD: dict[str, Any] = {
    "command_id": "cmd-liar",
    "latest_end": NOW + 60,
    "pid": 4711,
    "boot": boot_id(),
    "arrived": True,
    "after": "",
}


def changed(**changes: Any) -> bytes:
    """Return a record with other values."""
    return json.dumps({**RECORD, **changes}).encode()


#: What a full disk, a crash or another user can leave in the file.
MALFORMED = {
    "cut short": b"{",
    "a list": b"[]",
    "too few": b'{"pid": 1}',
    "null": b"null",
    "bytes": b"\xff\xfe",
    "utf-16": changed().decode().encode("utf-16"),
    "zeros": bytes(1536),
    "nested": b"[" * 1500,
    "nested objects": b'{"a":' * 300,
    "megabytes": changed() + b" " * 3_000_000,
    "one more": json.dumps({**RECORD, "more": 1}).encode(),
    "infinity": changed(latest_end=float("inf")),
    "no number": changed(latest_end=float("nan")),
    "huge": changed(latest_end=10**1000),
    "far future": changed(latest_end=NOW + 1e6),
    "time as text": changed(latest_end="1e3"),
    "no time": changed(latest_end=None),
    "time as bool": changed(latest_end=True),
    "negative pid": changed(pid=-1),
    "pid as bool": changed(pid=True),
    "pid as list": changed(pid=[]),
    "id as object": changed(command_id={}),
    "half a pair": changed(command_id="\ud800"),
    "long id": changed(command_id="x" * 1000),
    "arrived as text": changed(arrived="yes"),
    "boot as number": changed(boot=7),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a lock file."""
    return lock_path("phone", "flight", folder=tmp_path)


def test_malformed_contents_are_reported_and_replaced(path: Path) -> None:
    """Contents that no run wrote block no run, and the next user finds none of them."""
    for kind, content in MALFORMED.items():
        path.write_bytes(content)
        flight = Flight("phone", folder=path.parent, clock=lambda: NOW)

        assert flight.peek() is None, kind
        with flight.claim("cmd-2", serial="s") as claim:
            assert claim.unfinished is None, kind
            assert f"the lock file {path} had contents that no run wrote" in claim.problem, kind
        with flight.claim("cmd-3", serial="s") as claim:
            assert (claim.unfinished, claim.problem) == (None, ""), kind
        assert path.stat().st_size < 10_000, kind

        path.write_bytes(content)
        with path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with (
                pytest.raises(
                    errors.ExecutionConflictError, match="no readable record in"
                ) as caught,
                flight.claim("mine", serial="s"),
            ):
                pass
        assert str(path) in caught.value.message, kind
        assert caught.value.details["holder"] is None, kind

        flight.close()
        assert not path.exists(), kind


def test_a_record_by_another_user_counts(path: Path) -> None:
    """The record from which the malformed ones are made is a good one."""
    path.write_bytes(changed())

    with Flight("phone", folder=path.parent, clock=lambda: NOW).claim("mine", serial="s") as claim:
        assert (claim.unfinished, claim.problem) == (Unfinished(**RECORD), "")


def test_a_record_of_another_boot_or_of_endless_length_is_not_trusted(path: Path) -> None:
    """The next user waits an hour at most; the clock restarts with each boot."""
    flight = Flight("phone", folder=path.parent, clock=lambda: NOW)

    send(flight, "cmd-1", 1e9)
    left = unfinished(flight)
    path.write_bytes(changed(boot="another"))

    assert left is not None
    assert left.latest_end == NOW + 3600
    assert unfinished(flight) is None


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_removed_folder_ends_the_claim(tmp_path: Path, *, is_replaced: bool) -> None:
    """The holder notices that its lock is gone, and that nothing may be sent."""
    folder = tmp_path / "locks"
    with Flight("phone", folder=folder).claim("cmd-1", serial="s") as claim:
        claim.check()
        shutil.rmtree(folder)
        if is_replaced:
            open_lock_file(lock_path("phone", "flight", folder=folder)).close()

        with pytest.raises(
            errors.LeaseError, match=r"the lock file .* was removed or replaced"
        ) as caught:
            claim.check()

    assert caught.value.code is ErrorCode.DEVICE_LEASED
    assert "The command was not sent" in str(caught.value.hint)


def test_a_lock_on_a_removed_file_is_not_in_the_way(path: Path) -> None:
    """The next user finds a new file, which the other does not have."""
    flight = Flight("phone", folder=path.parent)
    with flight.claim("cmd-1", serial="s"):
        pass

    with path.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        path.unlink()
        with flight.claim("cmd-2", serial="s") as claim:
            claim.check()

    assert path.exists()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="by design: only Linux has names without files"
)
def test_a_removed_folder_does_not_free_the_device_during_a_flight(tmp_path: Path) -> None:
    """While an execution is on the device, a new folder does not make the device free."""
    folder = tmp_path / "locks"
    first, second = Flight("phone", folder=folder), Flight("phone", folder=folder)

    with first.claim("cmd-1", serial="s"):
        shutil.rmtree(folder)
        with (
            pytest.raises(errors.ExecutionConflictError, match="whose lock file was removed"),
            second.claim("cmd-2", serial="s"),
        ):
            pass
    with second.claim("cmd-3", serial="s") as claim:
        claim.check()


def test_a_removed_file_takes_no_command_along(tmp_path: Path) -> None:
    """The process that sent a command still knows it, unless it landed or its time is over."""
    folder, now = tmp_path / "locks", [0.0]
    flight = Flight("phone", folder=folder, clock=lambda: now[0])

    def send_and_remove(command_id: str, *, lands: bool) -> None:
        with flight.claim(command_id, serial="s") as claim:
            claim.take_off(60.0)
            if lands:
                claim.land()
            shutil.rmtree(folder)

    send_and_remove("cmd-0", lands=True)
    assert unfinished(flight) is None
    send_and_remove("cmd-1", lands=False)
    left = unfinished(flight)
    assert left is not None
    assert left.command_id == "cmd-1"
    assert Flight("phone", folder=folder, clock=lambda: 0.0).peek() == left
    send_and_remove("cmd-2", lands=False)
    now[0] = 61.0
    assert unfinished(flight) is None


def test_the_file_is_open_to_every_user(tmp_path: Path) -> None:
    """Folder and file can be used by other users, whatever the umask."""
    folder = tmp_path / "locks"
    old = os.umask(0o077)
    try:
        with Flight("phone", folder=folder).claim("cmd-1", serial="s"):
            pass
    finally:
        os.umask(old)

    assert folder.stat().st_mode & 0o777 == 0o777
    assert next(folder.iterdir()).stat().st_mode & 0o666 == 0o666


def test_a_folder_that_cannot_be_used_is_named_with_its_variable(tmp_path: Path) -> None:
    """If no lock file can be made, the error names the variable that moves the folder."""
    (tmp_path / "file").write_text("")

    with pytest.raises(errors.ConfigurationError, match="CLAWPERATOR_LEASE_DIR"):
        send(Flight("phone", folder=tmp_path / "file"), "cmd-1")


def test_a_process_in_its_own_way_is_named_as_such(tmp_path: Path) -> None:
    """An execution inside an execution is refused, as is one of another client of the process."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    with first.claim("outer", serial="s") as claim:
        claim.take_off(1e12)
        for flight, who in ((first, "by an observer"), (second, "another client of this process")):
            with (
                pytest.raises(errors.ExecutionConflictError, match=who) as caught,
                flight.claim("inner", serial="s"),
            ):
                pass
            assert caught.value.code == ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT
        claim.land()
    assert unfinished(first) is None


def test_a_client_that_closes_removes_its_file_unless_it_is_needed(tmp_path: Path) -> None:
    """The file of an unfinished command, or of a device in use, stays."""
    flight, other = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    with flight.claim("cmd-0", serial="s"):
        other.close()
        with pytest.raises(errors.ExecutionConflictError), other.claim("cmd-1", serial="s"):
            pass
    for end, files in ((), 1), (("land",), 0):
        send(flight, "cmd-1", 1e12, *end)
        flight.close()
        flight.close()
        assert len(list(tmp_path.iterdir())) == files


def test_peeking_takes_no_lock_and_makes_no_file(tmp_path: Path) -> None:
    """What may be on the device can be read while another client has it."""
    flight, onlooker = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    before = onlooker.peek()
    files = list(tmp_path.iterdir())
    with flight.claim("cmd-1", serial="s") as claim:
        on_the_ground = onlooker.peek()
        claim.take_off(1e12)
        flying = onlooker.peek()
        claim.land()
        landed = onlooker.peek()

    assert (before, files, on_the_ground, landed) == (None, [], None, None)
    assert flying is not None
    assert flying.command_id == "cmd-1"


def test_a_full_disk_is_reported_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A take-off that cannot be written down, or only in part, is an error that names the cause."""

    def full(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for pwrite in (full, lambda descriptor, content, offset: len(content) // 2):
        monkeypatch.setattr(os, "pwrite", pwrite)
        with pytest.raises(errors.ConfigurationError, match="No space left on device") as caught:
            send(Flight("phone", folder=tmp_path), "cmd-1")
        assert "Make room on the disk" in str(caught.value)


DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def nothing_swept_yet() -> None:
    """Allow the folders of a test to be swept, whatever was swept in this process before."""
    sweep.cache_clear()


def aged(path: Path, *, days: float = 2) -> Path:
    """Set the age of a file, which is made if it is not there."""
    path.touch()
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def test_lock_files_a_day_old_are_swept(tmp_path: Path) -> None:
    """Files of today, and files with other names, stay; each folder is swept once."""
    kinds = ("flight", "lease", "holder", "port")
    young = {aged(lock_path("new", kind, folder=tmp_path), days=0.5) for kind in kinds}
    others = {aged(tmp_path / name) for name in ("notes.flight", "a-12345678.flight")}
    for kind in kinds:
        aged(lock_path("old", kind, folder=tmp_path))

    sweep(tmp_path)
    left = set(tmp_path.iterdir())
    late = aged(lock_path("late", "flight", folder=tmp_path))
    sweep(tmp_path)

    assert left == young | others
    assert late.exists()


def test_lock_files_that_are_needed_are_not_swept(tmp_path: Path) -> None:
    """A device in use stays leased, and a command that may still run stays known, at any age."""
    send(Flight("running", folder=tmp_path), "cmd", time.monotonic() + 600)
    send(Flight("done", folder=tmp_path), "cmd", time.monotonic() - 1)
    hold = FileLeases(run_id="run", folder=tmp_path).try_take("phone")
    assert hold is not None
    with Flight("phone", folder=tmp_path).claim("cmd", serial="phone"), hold:
        files = {aged(path) for path in tmp_path.iterdir()}

        sweep(tmp_path)

        hold.check()
        assert len(files) == 5
        assert set(tmp_path.iterdir()) == files - {lock_path("done", "flight", folder=tmp_path)}


def test_a_link_and_a_pipe_are_not_swept(tmp_path: Path) -> None:
    """They stay although they have the names of lock files, and so does the link's target."""
    pipe, link = (lock_path(key, "flight", folder=tmp_path) for key in ("pipe", "link"))
    os.mkfifo(pipe)
    target = aged(lock_path("sim-1", "flight", folder=tmp_path.parent))
    link.symlink_to(target)
    for path in (pipe, link):
        os.utime(path, (0, 0), follow_symlinks=False)

    sweep(tmp_path)

    assert set(tmp_path.iterdir()) == {pipe, link}
    assert target.exists()
