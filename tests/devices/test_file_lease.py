"""Leases as files: they die with their process, and trouble with files is told."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.errors import ConfigurationError, LeaseError
from pytest_clawperator.execution import lock_file
from tests.doubles.leases import take

DEADLINE = 30.0

HOLDER = """
import os, sys
from pathlib import Path
from pytest_clawperator.devices.file_lease import FileLeases

lease = FileLeases(run_id="other", folder=Path(sys.argv[1])).try_take("PH1")
if sys.argv[2] == "fork":
    if os.fork() == 0:
        lease.release()
        print(os.getpid(), flush=True)
        sys.stdin.read()
        os._exit(0)
else:
    print(lease.ticket, flush=True)
sys.stdin.read()
if sys.argv[2] == "release":
    lease.release()
"""


class OtherProcess:
    """Another process that has leased the device PH1."""

    def __init__(self, folder: Path, ending: str = "release") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder), ending],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent.parent,
        )

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def end(self) -> None:
        """Let it end by itself, and all that it started."""
        self.process.communicate(timeout=DEADLINE)


@pytest.fixture
def store(tmp_path: Path) -> FileLeases:
    """Return leases in a folder of the test's own."""
    return FileLeases(run_id="mine", folder=tmp_path / "locks")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherProcess]:
    """Start another process that has leased the device."""
    other = OtherProcess(tmp_path / "locks")
    yield other
    other.end()


@pytest.fixture
def forked(tmp_path: Path) -> Iterator[OtherProcess]:
    """Start another process that has leased the device and then forked."""
    forked = OtherProcess(tmp_path / "locks", "fork")
    yield forked
    forked.end()


def test_another_process_has_it_until_it_releases(store: FileLeases, other: OtherProcess) -> None:
    """One holder at a time across processes, with a name that others can read."""
    other.line()
    refused, holder = store.try_take("PH1"), store.holder("PH1")
    other.end()

    with take(store, "PH1") as lease:
        mine = store.holder("PH1")

    assert refused is None
    assert holder is not None
    assert (holder.pid, holder.run_id) == (other.process.pid, "other")
    assert mine == lease.holder
    assert store.holder("PH1") is None


def test_a_lease_dies_with_its_process(store: FileLeases, other: OtherProcess) -> None:
    """After a kill -9 the device is free, though the dead one's name is still there."""
    other.line()
    other.kill()

    holder = store.holder("PH1")
    lease = take(store, "PH1")
    lease.release()

    assert holder is None
    assert lease.holder.pid == os.getpid()


def test_a_fork_of_a_dead_holder_holds_nothing(store: FileLeases, forked: OtherProcess) -> None:
    """A forked child can neither release the lease nor keep it."""
    child = int(forked.line())
    while_both_live = store.try_take("PH1")
    forked.kill()

    holder, lease = store.holder("PH1"), store.try_take("PH1")
    os.kill(child, 0)  # it lives

    assert while_both_live is None
    assert holder is None
    assert lease is not None
    lease.release()


def test_files_are_open_to_every_user(tmp_path: Path) -> None:
    """Whatever the umask, all users can lease the device and see who has it."""
    store = FileLeases(run_id="r1", folder=tmp_path / "locks")
    old = os.umask(0o077)
    try:
        lease = take(store, "a/b:5555")
    finally:
        os.umask(old)

    modes = {path.suffix: path.stat().st_mode & 0o666 for path in (tmp_path / "locks").iterdir()}
    lease.release()

    assert modes == {".lease": 0o666, ".holder": 0o666}


def test_reading_the_holder_keeps_nobody_from_leasing(
    store: FileLeases, other: OtherProcess, tmp_path: Path
) -> None:
    """While others read the file of a dead holder, the device is free and can be leased."""
    other.line()
    other.kill()
    looked_at = next((tmp_path / "locks").glob("*.holder")).open("rb")
    fcntl.flock(looked_at, fcntl.LOCK_SH)
    threading.Timer(0.1, looked_at.close).start()

    holder = store.holder("PH1")
    lease = store.try_take("PH1")

    assert holder is None
    assert lease is not None
    lease.release()


def test_a_valid_lease_passes_its_checks(store: FileLeases) -> None:
    """While the lease lasts, commands may be sent, by the holder and by who borrows the device."""
    with take(store, "PH1") as lease:
        borrowed = store.borrow(lease.ticket)

        lease.check()
        lease.clear("cmd-1", 30.0)
        borrowed.check()
        borrowed.clear("cmd-1", 30.0)

    assert borrowed.key == "PH1"


def test_a_released_lease_is_invalid(store: FileLeases) -> None:
    """After the release neither the holder nor a borrower may send a command."""
    lease = take(store, "PH1")
    borrowed = store.borrow(lease.ticket)
    lease.release()
    lease.release()

    with pytest.raises(LeaseError, match="it was released"):
        lease.check()
    with pytest.raises(LeaseError, match=r"it is not leased, not .*run mine"):
        borrowed.clear("cmd-1", 30.0)


def test_a_borrower_notices_that_its_lender_died(store: FileLeases, other: OtherProcess) -> None:
    """A worker whose controller was killed may not send, whoever has the device now."""
    borrowed = store.borrow(other.line())
    borrowed.check()
    other.kill()

    with pytest.raises(LeaseError, match="it is not leased"):
        borrowed.check()
    with take(store, "PH1"), pytest.raises(LeaseError, match=r"run mine.* has it, not .*run other"):
        borrowed.check()


def test_a_lock_file_that_was_removed_ends_the_lease(store: FileLeases, tmp_path: Path) -> None:
    """Who removes lock files ends leases; the holder notices, and removes nobody else's file."""
    lease = take(store, "PH1")
    for path in (tmp_path / "locks").iterdir():
        path.unlink()
    successor = take(store, "PH1")

    with pytest.raises(LeaseError, match="the lock file was removed:"):
        lease.check()
    lease.release()

    successor.check()
    assert store.holder("PH1") == successor.holder
    successor.release()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """There is no fallback to something that is not a lock."""

    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)

    with pytest.raises(ConfigurationError) as caught:
        store.try_take("PH1")

    assert "is on a file system without real locks" in str(caught.value)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)


def test_a_full_disk_is_told_and_leaves_the_device_free(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease whose holder cannot be recorded is not taken."""
    write = os.pwrite

    def full(descriptor: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(ConfigurationError) as caught:
        store.try_take("PH1")
    monkeypatch.setattr(os, "pwrite", write)
    holder, lease = store.holder("PH1"), store.try_take("PH1")

    assert "No space left on device" in str(caught.value)
    assert "Make room on that disk" in str(caught.value)
    assert holder is None
    assert lease is not None
    lease.release()


def test_a_disk_that_takes_half_is_full(store: FileLeases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that was cut short is no record."""
    monkeypatch.setattr(os, "pwrite", lambda descriptor, content, offset: len(content) // 2)

    with pytest.raises(ConfigurationError, match="No space left on device"):
        store.try_take("PH1")

    assert store.holder("PH1") is None


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """Where no file can be made, the error names the file and the variable that moves it."""
    (tmp_path / "file").write_text("")
    store = FileLeases(run_id="r1", folder=tmp_path / "file")

    with pytest.raises(ConfigurationError) as caught:
        store.try_take("PH1")

    assert str(tmp_path / "file") in str(caught.value)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)


def test_devices_do_not_hinder_each_other(store: FileLeases) -> None:
    """Keys that look alike once made safe for a file name are still different devices."""
    with take(store, "a/b"), take(store, "a_b") as second:
        second.check()

    assert store.holder("a_b") is None


def test_without_flock_the_error_says_where_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On Windows nothing can be leased, and the error says so."""
    monkeypatch.setattr(lock_file, "fcntl", None)

    with pytest.raises(ConfigurationError, match="this system has no flock"):
        FileLeases(run_id="r1", folder=tmp_path)


def test_a_device_that_nobody_has_leaves_no_file(store: FileLeases, tmp_path: Path) -> None:
    """Simulated phones have new names every time, so what they leave would pile up."""
    take(store, "PH1").release()

    assert list((tmp_path / "locks").iterdir()) == []


def test_releasing_and_leasing_at_once_never_lets_two_in(tmp_path: Path) -> None:
    """A lock on a file that was removed in between is no lease."""
    inside: list[int] = []
    overlaps: list[int] = []

    def come_and_go(number: int) -> None:
        leases = FileLeases(run_id=str(number), folder=tmp_path)
        for _ in range(100):
            hold = leases.try_take("PH1")
            if hold is not None:
                inside.append(number)
                if len(inside) > 1:
                    overlaps.append(number)
                inside.remove(number)
                hold.release()

    threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)

    assert not any(thread.is_alive() for thread in threads)
    assert overlaps == []


def test_a_device_is_taken_from_its_holder(store: FileLeases) -> None:
    """The former holder may send nothing more, and the next one is left alone."""
    former = take(store, "PH1")
    assert store.evict("PH1", former.holder)

    with take(store, "PH1") as lease:
        again = store.evict("PH1", former.holder)
        lease.check()
        with pytest.raises(LeaseError):
            former.check()
        former.release()
        lease.check()

    assert again is False
