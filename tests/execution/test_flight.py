"""One execution in flight on a device, whoever sends it."""

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
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
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


def test_another_process_is_refused_and_told_who_flies(tmp_path: Path) -> None:
    """A device that another process uses gives a conflict that names process and command."""
    flight = Flight("phone", folder=tmp_path)
    process = holder(tmp_path, "land")

    with (
        pytest.raises(ExecutionConflictError) as caught,
        flight.claim("cmd-mine", serial="serial-1"),
    ):
        pass
    process.communicate(timeout=DEADLINE)

    assert caught.value.code == ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT
    assert caught.value.serial == "serial-1"
    assert f"process {process.pid} with command cmd-other" in str(caught.value)
    assert caught.value.details["commandId"] == "cmd-mine"


def test_after_a_landing_nothing_is_left(tmp_path: Path) -> None:
    """A command whose end was seen leaves no trace for the next holder."""
    flight = Flight("phone", folder=tmp_path)
    holder(tmp_path, "land").communicate(timeout=DEADLINE)

    with flight.claim("cmd-mine", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is None


def test_a_killed_holder_leaves_its_command(tmp_path: Path) -> None:
    """A kill -9 frees the device, and the next holder learns what may still be running."""
    flight = Flight("phone", folder=tmp_path)
    process = holder(tmp_path, "land")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=DEADLINE)

    with flight.claim("cmd-mine", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is not None
    assert unfinished.command_id == "cmd-other"
    assert unfinished.pid == process.pid


def test_a_command_that_never_landed_stays_known(tmp_path: Path) -> None:
    """A claim that ends without a landing leaves the command for the next one."""
    now = [100.0]
    flight = Flight("phone", folder=tmp_path, clock=lambda: now[0])
    with flight.claim("cmd-1", serial="s") as claim:
        claim.take_off(160.0)

    with flight.claim("cmd-2", serial="s") as claim:
        before = claim.unfinished
    now[0] = 160.0
    with flight.claim("cmd-3", serial="s") as claim:
        after = claim.unfinished

    assert before is not None
    assert before.command_id == "cmd-1"
    assert before.latest_end == 160.0
    assert after is None


def test_an_arrival_stays_known(tmp_path: Path) -> None:
    """Who comes next learns whether the device is known to have the command."""
    flight = Flight("phone", folder=tmp_path, clock=lambda: 100.0)
    arrived = []
    for arrives in (False, True):
        with flight.claim("cmd-1", serial="s") as claim:
            claim.take_off(160.0)
            if arrives:
                claim.arrive()
        with flight.claim("cmd-2", serial="s") as claim:
            assert claim.unfinished is not None
            arrived.append((claim.unfinished.command_id, claim.unfinished.arrived))

    assert arrived == [("cmd-1", False), ("cmd-1", True)]


def test_a_claim_that_sent_nothing_leaves_nothing(tmp_path: Path) -> None:
    """Only a command that took off can be unfinished."""
    flight = Flight("phone", folder=tmp_path)
    with flight.claim("cmd-1", serial="s"):
        pass

    with flight.claim("cmd-2", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is None


def test_threads_of_one_client_wait_their_turn(tmp_path: Path) -> None:
    """Two threads never hold one device at once, and neither is refused."""
    flight = Flight("phone", folder=tmp_path)
    inside: list[str] = []
    overlaps: list[list[str]] = []

    def fly(name: str) -> None:
        for _ in range(50):
            with flight.claim(name, serial="s"):
                inside.append(name)
                if len(inside) > 1:
                    overlaps.append(list(inside))
                inside.remove(name)

    threads = [threading.Thread(target=fly, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)

    assert not any(thread.is_alive() for thread in threads)
    assert overlaps == []


def test_two_clients_of_one_process_conflict(tmp_path: Path) -> None:
    """A second client on the same device is another sender, also in the same process."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    with (
        first.claim("cmd-1", serial="s"),
        pytest.raises(ExecutionConflictError),
        second.claim("cmd-2", serial="s"),
    ):
        pass


def test_a_former_holder_can_be_waited_for(tmp_path: Path) -> None:
    """With patience, who is in the way for a moment only is no conflict."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)
    flying = first.claim("cmd-1", serial="s")
    flying.__enter__()
    threading.Timer(0.05, flying.__exit__, (None, None, None)).start()

    with pytest.raises(ExecutionConflictError):
        second.hold("cmd-2", lambda claim: None, serial="s")
    held = second.hold("cmd-3", lambda claim: True, serial="s", patience=DEADLINE)

    assert held


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


def test_malformed_contents_are_told_and_replaced(path: Path) -> None:
    """Contents that no run wrote stop nobody, and the next user finds none of them."""
    for kind in MALFORMED:
        path.write_bytes(MALFORMED[kind])
        flight = Flight("phone", folder=path.parent, clock=lambda: NOW)

        peeked = flight.peek()
        with flight.claim("cmd-2", serial="s") as claim:
            found = claim.unfinished, claim.problem
        with flight.claim("cmd-3", serial="s") as claim:
            then = claim.unfinished, claim.problem

        assert peeked is None, kind
        assert found[0] is None, kind
        assert f"the lock file {path} had contents that no run wrote" in found[1], kind
        assert then == (None, ""), kind
        assert path.stat().st_size < 10_000, kind


def test_malformed_contents_of_a_file_in_use_are_a_conflict(path: Path) -> None:
    """Somebody has the device, whatever they wrote; the message says where it stands."""
    for kind in MALFORMED:
        path.write_bytes(MALFORMED[kind])
        with path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with (
                pytest.raises(ExecutionConflictError, match="no readable record in") as caught,
                Flight("phone", folder=path.parent, clock=lambda: NOW).claim("mine", serial="s"),
            ):
                pass

        assert str(path) in caught.value.message, kind
        assert caught.value.details["holder"] is None, kind


def test_a_file_with_malformed_contents_can_be_removed(path: Path) -> None:
    """What is of no use to anybody goes with the client."""
    for kind in MALFORMED:
        path.write_bytes(MALFORMED[kind])

        Flight("phone", folder=path.parent, clock=lambda: NOW).close()

        assert not path.exists(), kind


def test_a_record_by_another_user_counts(path: Path) -> None:
    """The record from which the malformed ones are made is a good one."""
    path.write_bytes(changed())

    with Flight("phone", folder=path.parent, clock=lambda: NOW).claim("mine", serial="s") as claim:
        found = claim.unfinished, claim.problem

    assert found == (Unfinished(**RECORD), "")


def test_no_command_is_recorded_as_endless(path: Path) -> None:
    """However long a command may take, the next user waits an hour at most."""
    flight = Flight("phone", folder=path.parent, clock=lambda: NOW)

    with flight.claim("cmd-1", serial="s") as claim:
        claim.take_off(1e9)
    with flight.claim("cmd-2", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is not None
    assert unfinished.latest_end == NOW + 3600


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_removed_folder_ends_the_claim(tmp_path: Path, *, is_replaced: bool) -> None:
    """Who has the device notices that its lock is gone, and that nothing may be sent."""
    folder = tmp_path / "locks"
    with Flight("phone", folder=folder).claim("cmd-1", serial="s") as claim:
        claim.check()
        shutil.rmtree(folder)
        if is_replaced:
            open_lock_file(lock_path("phone", "flight", folder=folder)).close()

        with pytest.raises(LeaseError, match=r"the lock file .* was removed or replaced") as caught:
            claim.check()

    assert caught.value.code is ErrorCode.DEVICE_LEASED
    assert "The command was not sent" in str(caught.value.hint)


def test_a_file_that_is_gone_is_nobodys_lock(path: Path) -> None:
    """Who keeps a removed file locked is not in the way of those who find a new one."""
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
def test_a_removed_folder_lets_nobody_in_during_a_flight(tmp_path: Path) -> None:
    """While an execution is on the device, a new folder does not make the device free."""
    folder = tmp_path / "locks"
    first, second = Flight("phone", folder=folder), Flight("phone", folder=folder)

    with first.claim("cmd-1", serial="s"):
        shutil.rmtree(folder)
        with (
            pytest.raises(ExecutionConflictError, match="whose lock file was removed"),
            second.claim("cmd-2", serial="s"),
        ):
            pass
    with second.claim("cmd-3", serial="s") as claim:
        claim.check()


def test_a_removed_file_takes_no_command_along(tmp_path: Path) -> None:
    """A command whose record was removed stays known to the process that sent it."""
    folder = tmp_path / "locks"
    flight = Flight("phone", folder=folder, clock=lambda: 0.0)
    with flight.claim("cmd-1", serial="phone") as claim:
        claim.take_off(60.0)
        shutil.rmtree(folder)

    with flight.claim("cmd-2", serial="phone") as claim:
        left = claim.unfinished

    assert left is not None
    assert left.command_id == "cmd-1"
    assert Flight("phone", folder=folder, clock=lambda: 0.0).peek() == left


def test_a_removed_file_brings_no_command_back_that_ended(tmp_path: Path) -> None:
    """A command that landed, or whose time has passed, is not waited for."""
    folder, now = tmp_path / "locks", [0.0]
    flight = Flight("phone", folder=folder, clock=lambda: now[0])
    with flight.claim("cmd-1", serial="phone") as claim:
        claim.take_off(60.0)
        claim.land()
        shutil.rmtree(folder)
    with flight.claim("cmd-2", serial="phone") as claim:
        after_landing = claim.unfinished
        claim.take_off(60.0)
        shutil.rmtree(folder)
    now[0] = 61.0
    with flight.claim("cmd-3", serial="phone") as claim:
        after_its_time = claim.unfinished

    assert (after_landing, after_its_time) == (None, None)


def test_a_record_of_another_boot_is_no_record(tmp_path: Path) -> None:
    """The monotonic clock begins anew with each boot, so older records say nothing."""
    flight = Flight("phone", folder=tmp_path)
    with flight.claim("cmd-1", serial="s") as claim:
        claim.take_off(1e12)
    path = next(tmp_path.iterdir())
    path.write_text(json.dumps({**json.loads(path.read_text()), "boot": "another"}))

    with flight.claim("cmd-2", serial="s") as claim:
        unfinished = claim.unfinished

    assert unfinished is None


def test_the_file_is_open_to_every_user(tmp_path: Path) -> None:
    """Folder and file can be used by whoever comes next, whatever the umask."""
    folder = tmp_path / "locks"
    old = os.umask(0o077)
    try:
        with Flight("phone", folder=folder).claim("cmd-1", serial="s"):
            pass
    finally:
        os.umask(old)

    assert folder.stat().st_mode & 0o777 == 0o777
    assert next(folder.iterdir()).stat().st_mode & 0o666 == 0o666


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """Where no lock file can be made, the error names the variable that moves the folder."""
    (tmp_path / "file").write_text("")

    with (
        pytest.raises(ConfigurationError) as caught,
        Flight("phone", folder=tmp_path / "file").claim("cmd-1", serial="s"),
    ):
        pass

    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)


def test_a_thread_cannot_claim_what_it_holds(tmp_path: Path) -> None:
    """An execution inside an execution is refused by name; waiting for it would never end."""
    flight = Flight("phone", folder=tmp_path)

    with (
        flight.claim("outer", serial="s"),
        pytest.raises(ExecutionConflictError, match="by an observer") as caught,
        flight.claim("inner", serial="s"),
    ):
        pass
    with flight.claim("next", serial="s") as claim:
        unfinished = claim.unfinished

    assert caught.value.code == ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT
    assert unfinished is None


def test_another_client_of_the_same_process_is_called_so(tmp_path: Path) -> None:
    """A process that stands in its own way is not sent looking for another one."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    with first.claim("outer", serial="s") as claim:
        claim.take_off(1e12)
        with (
            pytest.raises(ExecutionConflictError, match="another client of this process"),
            second.claim("inner", serial="s"),
        ):
            pass


def test_the_file_goes_with_the_client(tmp_path: Path) -> None:
    """A device that nobody uses and that is known to be done leaves no file."""
    flight = Flight("phone", folder=tmp_path)
    with flight.claim("cmd-1", serial="s") as claim:
        claim.take_off(1e12)
        claim.land()

    flight.close()
    flight.close()

    assert list(tmp_path.iterdir()) == []


def test_the_file_of_an_unfinished_command_stays(tmp_path: Path) -> None:
    """What the next holder has to know is not thrown away."""
    flight = Flight("phone", folder=tmp_path)
    with flight.claim("cmd-1", serial="s") as claim:
        claim.take_off(1e12)

    flight.close()

    assert len(list(tmp_path.iterdir())) == 1


def test_the_file_of_a_device_in_use_stays(tmp_path: Path) -> None:
    """Closing one client does not take the lock from under another."""
    first, second = Flight("phone", folder=tmp_path), Flight("phone", folder=tmp_path)

    with first.claim("cmd-1", serial="s"):
        second.close()
        with pytest.raises(ExecutionConflictError), second.claim("cmd-2", serial="s"):
            pass

    assert len(list(tmp_path.iterdir())) == 1


def test_closing_and_claiming_at_once_never_lets_two_in(tmp_path: Path) -> None:
    """A lock on a file that was removed in between counts for nothing."""
    inside: list[int] = []
    overlaps: list[int] = []

    def fly(number: int) -> None:
        for _ in range(200):
            flight = Flight("phone", folder=tmp_path)
            with suppress(ExecutionConflictError), flight.claim("cmd", serial="s"):
                inside.append(number)
                if len(inside) > 1:
                    overlaps.append(number)
                inside.remove(number)
            flight.close()

    threads = [threading.Thread(target=fly, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)

    assert not any(thread.is_alive() for thread in threads)
    assert overlaps == []


def test_looking_gets_into_nobodys_way(tmp_path: Path) -> None:
    """What may be on the device can be read while another has it, and leaves no file behind."""
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


def test_a_full_disk_is_told_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A take-off that cannot be written down, or not wholly, is an error that says so."""

    def full(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told = []
    for pwrite in (full, lambda descriptor, content, offset: len(content) // 2):
        monkeypatch.setattr(os, "pwrite", pwrite)
        with (
            pytest.raises(ConfigurationError) as caught,
            Flight("phone", folder=tmp_path).claim("cmd-1", serial="s") as claim,
        ):
            claim.take_off(1e12)
        told.append(str(caught.value))

    assert all("No space left on device" in text for text in told)
    assert all("Make room on the disk" in text for text in told)


DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def nothing_swept_yet() -> None:
    """Allow the folders of a test to be swept, whatever was swept in this process before."""
    sweep.cache_clear()


def left(folder: Path, key: str, kind: str, *, days: float = 2) -> Path:
    """Leave a file as a process does that is killed, so many days ago."""
    path = lock_path(key, kind, folder=folder)
    path.touch()
    return aged(path, days=days)


def aged(path: Path, *, days: float = 2) -> Path:
    """Set the age of a file."""
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("kind", ["flight", "lease", "holder", "port"])
def test_lock_files_a_day_old_are_swept(tmp_path: Path, kind: str) -> None:
    """What is a day old and in nobody's hands is removed."""
    left(tmp_path, "sim-1", kind)

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["flight", "lease", "holder", "port"])
def test_lock_files_of_today_are_not_swept(tmp_path: Path, kind: str) -> None:
    """What was touched today is left alone: somebody may be about to use it."""
    young = left(tmp_path, "sim-1", kind, days=0.5)

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [young]


def test_files_with_other_names_are_not_swept(tmp_path: Path) -> None:
    """A file that has no name of ours is not touched."""
    others = {
        aged(tmp_path / name) for name in _made(tmp_path, "notes.flight", "a-12345678.flight")
    }

    sweep(tmp_path)

    assert set(tmp_path.iterdir()) == others


def _made(folder: Path, *names: str) -> tuple[str, ...]:
    for name in names:
        (folder / name).touch()
    return names


def test_the_file_of_a_command_that_may_still_run_is_not_swept(tmp_path: Path) -> None:
    """A file that tells of a command on the device stays until its time has passed."""
    with Flight("phone", folder=tmp_path).claim("cmd", serial="phone") as claim:
        claim.take_off(time.monotonic() + 600)
    with Flight("done", folder=tmp_path).claim("cmd", serial="done") as claim:
        claim.take_off(time.monotonic() - 1)
    running = aged(lock_path("phone", "flight", folder=tmp_path))
    aged(lock_path("done", "flight", folder=tmp_path))

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [running]


def test_lock_files_in_use_are_not_swept(tmp_path: Path) -> None:
    """A device that somebody holds stays theirs, however long they have had it."""
    flight = Flight("phone", folder=tmp_path)
    with (
        flight.claim("cmd", serial="phone"),
        FileLeases(run_id="run", folder=tmp_path).try_take("phone") as hold,  # type: ignore[union-attr]
    ):
        used = {aged(path) for path in tmp_path.iterdir()}

        sweep(tmp_path)

        hold.check()
        assert set(tmp_path.iterdir()) == used
        assert len(used) == 3


def test_a_folder_is_swept_once_in_a_process(tmp_path: Path) -> None:
    """The folder is looked through once, not with every client that is closed."""
    sweep(tmp_path)
    late = left(tmp_path, "sim-1", "flight")

    sweep(tmp_path)

    assert list(tmp_path.iterdir()) == [late]


def test_what_is_no_lock_file_is_not_swept(tmp_path: Path) -> None:
    """A link and a pipe that have the names of lock files stay, and what the link leads to."""
    pipe, link = (lock_path(key, "flight", folder=tmp_path) for key in ("pipe", "link"))
    os.mkfifo(pipe)
    aged(pipe)
    target = left(tmp_path.parent, "sim-1", "flight")
    link.symlink_to(target)
    then = time.time() - 2 * DAY
    os.utime(link, (then, then), follow_symlinks=False)

    sweep(tmp_path)

    assert set(tmp_path.iterdir()) == {pipe, link}
    assert target.exists()
