"""Leasing one or several devices, waiting for them, and naming their holders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices import lease as leasing
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.lease import Hold, await_landing, borrow, take_each
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
)
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.lock_file import lock_path
from pytest_clawperator.remedies import Remedy, RemedyKind
from tests.doubles.leases import take, take_all

DEADLINE = 30.0


@dataclass
class Waiting:
    """Time that only pauses move, and something that happens at a given time."""

    at: float = 1e9
    happens: Callable[[], None] = lambda: None
    now: float = 100.0
    said: list[str] = field(default_factory=list)

    def clock(self) -> float:
        """Return the time."""
        return self.now

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        if self.now >= self.at:
            self.at = 1e9
            self.happens()

    def take(self, store: FileLeases, groups: list[list[str]], **options: Any) -> list[Hold]:
        """Lease a device of each group on this clock."""
        options.update(clock=self.clock, pause=self.pause)
        return take_each(store, groups, notify=self.said.append, **options)


def released(holds: list[Hold]) -> str:
    """Release the devices and return their keys."""
    for hold in holds:
        hold.release()
    return "".join(hold.key for hold in holds)


@pytest.fixture(autouse=True)
def lock_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep all lock files in a folder of the test's own."""
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(folder))
    return folder


def test_a_held_device_is_refused_without_waiting(store: FileLeases, others: FileLeases) -> None:
    """The error names the holder and what to do."""
    with take(others, "PH1") as held, pytest.raises(LeaseError) as caught:
        take(store, "PH1")

    assert caught.value.code == ErrorCode.DEVICE_LEASED
    assert caught.value.serial == "PH1"
    assert f"the device is held by {held.holder}" in str(caught.value)
    assert "run theirs" in str(caught.value)
    assert Remedy(RemedyKind.WAIT_FOR_DEVICE) in caught.value.advice
    assert caught.value.details["holder"]["run_id"] == "theirs"


def test_waiting_ends_when_the_device_is_released(store: FileLeases, others: FileLeases) -> None:
    """The device is leased soon after its release; nothing else is held meanwhile."""
    held = take(others, "B")
    seen: list[Holder | None] = []

    def release() -> None:
        seen.extend(others.holder(key) for key in "AC")
        held.release()

    waiting = Waiting(at=107.0, happens=release)
    holds = waiting.take(store, [["A"], ["B"], ["C"]], wait=60.0)

    assert released(holds) == "ABC"
    assert {hold.holder.run_id for hold in holds} == {"mine"}
    assert 107.0 <= waiting.now < 107.5
    assert seen == [None, None]


def test_waiting_is_reported_and_has_a_limit(store: FileLeases, others: FileLeases) -> None:
    """The holder is named every ten seconds, and the wait ends at its limit."""
    waiting = Waiting()

    with take(others, "PH1") as held, pytest.raises(LeaseError) as caught:
        waiting.take(store, [["PH1"]], wait=25.0)

    assert waiting.now == pytest.approx(125.0)
    assert waiting.said[0] == f"waiting for PH1, held by {held.holder}; 25 s left"
    assert len(waiting.said) == 3
    assert f"after 25 s of waiting the device is still held by {held.holder}" in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "held", "leased"),
    [
        ([["C"], ["A"], ["B"]], "", "CAB"),
        ([["D", "A", "B", "C"]] * 2, "A", "DB"),
        ([["A", "B", "C"], ["A", "B"]], "B", "CA"),
    ],
    ids=["in the order asked for", "the first free ones", "the least choice chooses first"],
)
def test_each_group_gets_a_device_of_its_own(
    store: FileLeases, others: FileLeases, groups: list[list[str]], held: str, leased: str
) -> None:
    """Groups that share devices get different ones, and no more than wanted are leased."""
    theirs = take_all(others, list(held))

    holds = take_each(store, groups)
    free = {key for group in groups for key in group if store.holder(key) is None}

    assert released(holds) == leased
    assert free == {key for group in groups for key in group} - {*leased, *held}
    released(theirs)


def test_if_one_device_is_missing_none_is_leased(
    store: FileLeases, others: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even for a moment; the error counts them and names the holder of the other."""
    waiting, tried = Waiting(), list[str]()
    monkeypatch.setattr(store, "try_take", tried.append)

    with take(others, "B"):
        with pytest.raises(LeaseError, match=r"3 devices are wanted, and 2 of 3 .*: B is held"):
            take_all(store, ["A", "B", "C"])
        assert tried == []
        with pytest.raises(LeaseError, match="2 devices are wanted after 5 s of waiting, and 1 of"):
            waiting.take(store, [["A", "B"]] * 2, wait=5.0)

    assert waiting.said[0].startswith("waiting for 2 of 2 devices (B, held by ")


def test_an_error_in_the_middle_leaves_nothing_leased(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at the second device releases the first one."""
    whole = store.try_take

    def fragile(key: str) -> Hold | None:
        if key == "B":
            raise OSError("the disk broke")
        return whole(key)

    monkeypatch.setattr(store, "try_take", fragile)

    with pytest.raises(OSError, match="the disk broke"):
        take_all(store, ["A", "B"])

    assert store.holder("A") is None


def test_crossed_requests_do_not_block_each_other(tmp_path: Path) -> None:
    """Four that want overlapping sets, written in any order, all get them in the end."""
    wanted = [["A", "B", "C"], ["C", "B"], ["B", "A"], ["C", "A"]]
    rounds: list[str] = []
    inside: dict[str, str] = {}
    overlaps: list[str] = []

    def run(name: str, keys: list[str]) -> None:
        own = FileLeases(run_id=name, folder=tmp_path)
        for _ in range(3):
            leases = take_all(own, keys, wait=DEADLINE)
            overlaps.extend(key for key in keys if inside.setdefault(key, name) != name)
            for lease in leases:
                inside.pop(lease.key)
                lease.release()
            rounds.append(name)

    threads = [threading.Thread(target=run, args=(str(n), keys)) for n, keys in enumerate(wanted)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)

    assert sorted(rounds) == sorted("0123" * 3)
    assert overlaps == []


def test_setting_the_date_changes_nothing(
    store: FileLeases, others: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leasing, waiting, checking and releasing work without the date."""

    def no_date() -> float:
        raise AssertionError("the date was asked for")

    monkeypatch.setattr(time, "time", no_date)
    held = take(others, "PH1")
    threading.Timer(0.01, held.release).start()

    with take(store, "PH1", wait=DEADLINE) as lease:
        lease.check()

    assert store.holder("PH1") is None


def test_messages_name_devices_by_their_serials(store: FileLeases, others: FileLeases) -> None:
    """Notices and errors have serials instead of keys, if these are known."""
    serials = {"127.0.0.1/emulator-5554": "emulator-5554", "R58M123": "192.0.2.20:5555"}
    (one, other), waiting = serials, Waiting()

    with take(others, one), take(others, other):
        with pytest.raises(LeaseError) as single:
            waiting.take(store, [[one]], wait=1.0, name=serials.__getitem__)
        with pytest.raises(LeaseError) as both:
            waiting.take(store, [[one], [other]], wait=1.0, name=serials.__getitem__)

    assert single.value.serial == "emulator-5554"
    assert "emulator-5554 is held by " in str(both.value)
    assert "192.0.2.20:5555 is held by " in str(both.value)
    assert waiting.said[0].startswith("waiting for emulator-5554, held by ")
    assert "(emulator-5554, held by " in waiting.said[-1]
    assert "127.0.0.1/" not in f"{both.value.message}{waiting.said}"


def test_the_execution_of_the_former_holder_is_waited_for(lock_folder: Path) -> None:
    """The new holder waits for the execution that the former one still has in flight."""
    said: list[str] = []
    flying = Flight("PH1").claim("cmd-orphan", serial="PH1")
    claim = flying.__enter__()
    claim.take_off(time.monotonic() + 600)

    def land(seconds: float) -> None:
        claim.land()
        flying.__exit__(None, None, None)

    await_landing("PH1", serial="serial-1", notify=said.append, pause=land)

    assert len(said) == 1
    assert "with command cmd-orphan" in said[0]
    assert list(lock_folder.iterdir()) == []


@pytest.mark.parametrize(("postpones", "ends"), [(False, 165.0), (True, 3700.0)])
def test_an_execution_that_does_not_end_is_a_conflict(postpones: bool, ends: float) -> None:
    """It is raised past the latest end of the execution, and after an hour if that moves on."""
    waiting = Waiting()

    with Flight("PH1").claim("cmd-orphan", serial="PH1") as claim:

        def pause(seconds: float) -> None:
            waiting.pause(100 if postpones else seconds)
            if postpones:
                claim.take_off(waiting.now + 1000)

        claim.take_off(waiting.now + 60)
        with pytest.raises(ExecutionConflictError):
            await_landing("PH1", serial="serial-1", clock=waiting.clock, pause=pause)

    assert waiting.now == pytest.approx(ends, abs=200 if postpones else 0.2)


def test_a_malformed_flight_file_is_reported_once(lock_folder: Path) -> None:
    """The message names the file, and nothing is waited for."""
    said: list[str] = []
    path = lock_path("PH1", "flight", folder=lock_folder)
    path.write_bytes(b"[" * 1500)

    for _ in range(2):
        await_landing("PH1", serial="serial-1", notify=said.append)

    assert len(said) == 1
    assert str(path) in said[0]


def test_leases_are_files_unless_a_redis_is_named(lock_folder: Path) -> None:
    """Without an address the leases are those of this machine."""
    opened = leasing.open_leases(run_id="r1")

    with take(opened, "PH1"):
        kinds = {path.suffix for path in lock_folder.iterdir()}
    opened.close()

    assert kinds == {".lease", ".holder"}


def test_a_lent_device_may_be_used_while_its_holder_has_it() -> None:
    """No lease is taken for it, and it is checked before and with each command."""
    hold = take(FileLeases(run_id="run"), "phone-1")
    environment = leasing.lend(hold.ticket, key="phone-1", where=None)

    with borrow("phone-1", run_id="script", notify=print, environment=environment) as permit:
        assert permit is not None
        permit.clear("c1", 1.0)
        hold.release()
        with pytest.raises(LeaseError, match="no longer leased"):
            permit.clear("c2", 1.0)
    with (
        pytest.raises(LeaseError),
        borrow("phone-1", run_id="script", notify=print, environment=environment),
    ):
        pytest.fail("it was lent")


@pytest.mark.parametrize("key", ["phone-2", ""])
def test_a_device_that_was_not_lent_must_be_leased(key: str) -> None:
    """A variable for another device, or none, lends nothing."""
    environment = leasing.lend("{}", key="phone-1", where=None) if key else {}

    with borrow(key, run_id="script", notify=print, environment=environment) as permit:
        assert permit is None


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"key": "a"}', "[" * 100_000])
def test_a_malformed_variable_is_named(text: str) -> None:
    """The error names the variable."""
    variable = leasing.LENT_VARIABLE
    with (
        pytest.raises(ConfigurationError, match=variable),
        borrow("a", run_id="script", notify=print, environment={variable: text}),
    ):
        pytest.fail("it was lent")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://", "it names no host"),
        ("redis:///0", "it names no host"),
        ("redis://:SECRET@/0", "it names no host"),
        ("redis://host:port/0", "its host or port cannot be read"),
        ("redis://[::1/0", "its host or port cannot be read"),
        ("redis://host:6379/abc", "its database is not a number"),
        ("redis://host:6379/0/1", "its database is not a number"),
        ("redis://host?db=abc", "its database is not a number"),
        ("redis://host?foo=SECRET", "foo is unknown; known: db"),
        ("redis://host?password=SECRET", "password is unknown; known: db"),
        ("redis://host?socket_timeout=99", "socket_timeout is unknown; known: db"),
        ("redis://host?ssl_cert_reqs=none", "ssl_cert_reqs is unknown; known: db"),
        ("rediss://host?foo=1", "foo is unknown; known: db, ssl_ca_certs, "),
        ("unix://run/redis.sock", "a socket is named by its whole path"),
        ("unix://", "a socket is named by its whole path"),
        ("redis://:abc/SECRET@127.0.0.1:6399/0", "write %2F for a /"),
        ("redis://:abc#SECRET@127.0.0.1:6399/0", "%23 for a #"),
        ("redis://:abc?SECRET@127.0.0.1:6399/0", "%3F for a ?"),
        ("http://:SECRET@host", "it begins with none of redis://, rediss://, unix://"),
        ("files", "it begins with none of redis://, rediss://, unix://"),
    ],
)
def test_an_unusable_url_for_leases_is_refused(url: str, reason: str) -> None:
    """The error states what is wrong and what is allowed, and shows no password."""
    with pytest.raises(ConfigurationError) as caught:
        leasing.open_leases(url, run_id="r1")

    assert reason in caught.value.message
    assert "is not a place to keep leases: " in caught.value.message
    assert "Allowed: redis://host:6379/0" in (caught.value.hint or "")
    assert "SECRET" not in str(caught.value)
    assert "abc#" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://host",
        "redis://host/",
        "redis://[::1]:6379/0",
        "redis://ada:p%2Fw@host:6379/15",
        "redis://:p@w@host?db=2",
        "rediss://host?ssl_cert_reqs=none&ssl_ca_certs=/etc/ca.pem",
        "unix:///run/redis.sock",
        "unix://:pw@/run/redis.sock?db=3",
    ],
)
def test_a_url_that_redis_understands_is_accepted(url: str) -> None:
    """Hosts, addresses, users, sockets, databases and TLS options are understood."""
    assert leasing.check_redis_url(url) == url
