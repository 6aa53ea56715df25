"""Leases as files: they die with their process, and problems with files are errors."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
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
lease.release()
"""


class OtherProcess:
    """Another process that has leased the device PH1; ``line`` is what it prints."""

    def __init__(self, folder: Path, ending: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder), ending],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent.parent,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def end(self) -> None:
        """Let it release the device and end, with all that it started."""
        self.process.communicate(timeout=DEADLINE)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., OtherProcess]]:
    """Return a function that starts another process which leases the device."""
    started: list[OtherProcess] = []

    def start(ending: str = "release") -> OtherProcess:
        started.append(OtherProcess(tmp_path / "locks", ending))
        return started[-1]

    yield start
    for each in started:
        each.end()


Start = Callable[..., OtherProcess]


def test_another_process_has_it_until_it_releases(store: FileLeases, start: Start) -> None:
    """One holder at a time across processes, with a name that others can read."""
    other = start()
    refused, holder = store.try_take("PH1"), store.holder("PH1")
    other.end()

    with take(store, "PH1") as lease:
        mine = store.holder("PH1")

    assert refused is None
    assert holder is not None
    assert (holder.pid, holder.run_id) == (other.process.pid, "other")
    assert mine == lease.holder
    assert store.holder("PH1") is None


def test_a_lease_dies_with_its_process(store: FileLeases, start: Start, tmp_path: Path) -> None:
    """After a kill -9 the device is free, even while others read the dead holder's file.

    A process that borrowed the device may not send, whether or not the device is leased again.
    """
    other = start()
    borrowed = store.borrow(other.line)
    borrowed.check()
    other.kill()
    being_read = next((tmp_path / "locks").glob("*.holder")).open("rb")
    fcntl.flock(being_read, fcntl.LOCK_SH)
    threading.Timer(0.1, being_read.close).start()

    holder = store.holder("PH1")
    with pytest.raises(LeaseError, match="it is not leased"):
        borrowed.check()
    with take(store, "PH1") as lease:
        with pytest.raises(LeaseError, match=r"run mine.* has it, not .*run other"):
            borrowed.check()
        assert lease.holder.pid == os.getpid()

    assert holder is None


def test_a_fork_of_a_dead_holder_holds_nothing(store: FileLeases, start: Start) -> None:
    """A forked child can neither release the lease nor keep it."""
    forked = start("fork")
    while_both_live = store.try_take("PH1")
    forked.kill()

    holder = store.holder("PH1")
    take(store, "PH1").release()
    os.kill(int(forked.line), 0)  # the child lives

    assert while_both_live is None
    assert holder is None


def test_files_are_open_to_every_user_and_removed(store: FileLeases, tmp_path: Path) -> None:
    """Whatever the umask, all users can lease the device; its files do not pile up."""
    old = os.umask(0o077)
    try:
        lease = take(store, "a/b:5555")
    finally:
        os.umask(old)

    modes = {path.suffix: path.stat().st_mode & 0o666 for path in (tmp_path / "locks").iterdir()}
    lease.release()

    assert modes == {".lease": 0o666, ".holder": 0o666}
    assert list((tmp_path / "locks").iterdir()) == []


def test_a_lease_is_valid_until_it_is_released(store: FileLeases) -> None:
    """The holder and a borrower may send commands while it lasts, and none afterwards."""
    with take(store, "PH1") as lease:
        borrowed = store.borrow(lease.ticket)
        for each in (lease, borrowed):
            each.check()
            each.clear("cmd-1", 30.0)
    lease.release()  # again

    assert borrowed.key == "PH1"
    with pytest.raises(LeaseError, match="it was released"):
        lease.check()
    with pytest.raises(LeaseError, match=r"it is not leased, not .*run mine"):
        borrowed.clear("cmd-1", 30.0)


def test_a_lock_file_that_was_removed_ends_the_lease(store: FileLeases, tmp_path: Path) -> None:
    """The holder notices that its lock file is gone, and removes no other holder's file."""
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
def test_a_file_system_without_locks_is_refused(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """There is no fallback to something that is not a lock."""

    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", no_locks)

    with pytest.raises(ConfigurationError, match="on a file system without real locks") as caught:
        store.try_take("PH1")

    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)


@pytest.mark.parametrize("accepts", ["nothing", "half"])
def test_a_full_disk_leaves_the_device_free(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch, accepts: str
) -> None:
    """A lease whose holder cannot be recorded, or only in part, is not taken."""

    def full(descriptor: int, content: bytes, offset: int) -> int:
        if accepts == "half":
            return len(content) // 2
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(ConfigurationError, match="No space left on device") as caught:
            store.try_take("PH1")

    assert "Make room on that disk" in str(caught.value)
    assert store.holder("PH1") is None
    take(store, "PH1").release()


def test_an_unusable_folder_is_refused(tmp_path: Path) -> None:
    """If no file can be made, the error names the file and the variable that moves it."""
    (tmp_path / "file").write_text("")
    store = FileLeases(run_id="r1", folder=tmp_path / "file")

    with pytest.raises(ConfigurationError) as caught:
        store.try_take("PH1")

    assert str(tmp_path / "file") in str(caught.value)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)


def test_similar_keys_are_different_devices(store: FileLeases) -> None:
    """Keys that are equal once made safe for a file name do not hinder each other."""
    with take(store, "a/b"), take(store, "a_b") as second:
        second.check()

    assert store.holder("a_b") is None


def test_without_flock_nothing_can_be_leased(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On Windows the error says so."""
    monkeypatch.setattr(lock_file, "fcntl", None)

    with pytest.raises(ConfigurationError, match="this system has no flock"):
        FileLeases(run_id="r1", folder=tmp_path)


def test_concurrent_releases_never_let_two_in(tmp_path: Path) -> None:
    """A lock on a file that was removed in between is not a lease."""
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
        assert not store.evict("PH1", former.holder)
        lease.check()
        with pytest.raises(LeaseError):
            former.check()
        former.release()
        lease.check()
