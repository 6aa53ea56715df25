"""Leasing one or several devices, waiting for them, and naming their holders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.lease import (
    LENT_VARIABLE,
    Hold,
    await_landing,
    borrow,
    check_redis_url,
    lend,
    open_leases,
    take_each,
)
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

    def take_some(self, store: FileLeases, keys: list[str], **options: Any) -> list[Hold]:
        """Lease devices on this clock."""
        groups = [keys] * int(options.pop("count", 0)) or [[key] for key in keys]
        return take_each(
            store,
            groups,
            say=self.said.append,
            clock=self.clock,
            pause=self.pause,
            **options,
        )


@pytest.fixture
def store(tmp_path: Path) -> FileLeases:
    """Return the leases of this run."""
    return FileLeases(run_id="mine", folder=tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> FileLeases:
    """Return the same leases as another run sees them."""
    return FileLeases(run_id="theirs", folder=tmp_path)


def test_a_device_that_is_held_is_refused_at_once(store: FileLeases, others: FileLeases) -> None:
    """Without a limit nobody waits, and the error names the holder and what to do."""
    with take(others, "PH1") as held, pytest.raises(LeaseError) as caught:
        take(store, "PH1")

    assert caught.value.code == ErrorCode.DEVICE_LEASED
    assert caught.value.serial == "PH1"
    assert f"the device is held by {held.holder}" in str(caught.value)
    assert "run theirs" in str(caught.value)
    assert Remedy(RemedyKind.WAIT_FOR_DEVICE) in caught.value.advice
    assert caught.value.details["holder"]["run_id"] == "theirs"


def test_waiting_ends_when_the_device_is_released(store: FileLeases, others: FileLeases) -> None:
    """Who waits gets the device soon after it was released."""
    held = take(others, "PH1")
    waiting = Waiting(at=107.0, happens=held.release)

    (lease,) = waiting.take_some(store, ["PH1"], wait=60.0)
    lease.release()

    assert lease.holder.run_id == "mine"
    assert 107.0 <= waiting.now < 107.5


def test_waiting_is_reported_and_has_a_limit(store: FileLeases, others: FileLeases) -> None:
    """The holder is named every ten seconds, and the wait ends at its limit."""
    waiting = Waiting()

    with take(others, "PH1") as held, pytest.raises(LeaseError) as caught:
        waiting.take_some(store, ["PH1"], wait=25.0)

    assert waiting.now == pytest.approx(125.0)
    assert waiting.said[0] == f"waiting for PH1, held by {held.holder}; 25 s left"
    assert len(waiting.said) == 3
    assert f"after 25 s of waiting the device is still held by {held.holder}" in str(caught.value)


def test_several_devices_come_in_the_order_asked_for(store: FileLeases) -> None:
    """The leases stand in the order of the keys."""
    leases = take_all(store, ["C", "A", "B"])

    keys = [lease.key for lease in leases]
    for lease in leases:
        lease.release()

    assert keys == ["C", "A", "B"]


def test_if_one_device_is_missing_none_is_leased(store: FileLeases, others: FileLeases) -> None:
    """Those that were free are free again, and the error names the holder of the other."""
    with take(others, "B"), pytest.raises(LeaseError) as caught:
        take_all(store, ["A", "B", "C"])

    assert "3 devices are wanted, and 2 of 3 can be had: B is held by" in str(caught.value)
    assert [store.holder(key) for key in "ABC"] == [None, None, None]


def test_nothing_is_held_while_waiting(store: FileLeases, others: FileLeases) -> None:
    """Others can have what is free meanwhile, so that nobody can block anybody."""
    held = take(others, "B")
    seen: list[Holder | None] = []

    def look() -> None:
        seen.extend(others.holder(key) for key in "AC")
        held.release()

    leases = Waiting(at=101.0, happens=look).take_some(store, ["A", "B", "C"], wait=10.0)
    for lease in leases:
        lease.release()

    assert seen == [None, None]
    assert len(leases) == 3


def test_nothing_is_leased_only_to_be_released(
    store: FileLeases, others: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where too few are free, none is leased even for a moment."""
    tried: list[str] = []
    monkeypatch.setattr(store, "try_take", tried.append)

    with take(others, "B"), pytest.raises(LeaseError):
        take_all(store, ["A", "B"])

    assert tried == []


def test_as_many_as_wanted_are_leased_of_many(store: FileLeases, others: FileLeases) -> None:
    """The first free ones are leased, and no more than wanted."""
    with take(others, "A"):
        leases = take_each(store, [["D", "A", "B", "C"]] * 2)
        free = [key for key in "BCD" if others.holder(key) is None]
    for lease in leases:
        lease.release()

    assert [lease.key for lease in leases] == ["D", "B"]
    assert free == ["C"]


def test_each_group_gets_a_device_of_its_own(store: FileLeases, others: FileLeases) -> None:
    """Groups that share devices get different ones; who has the least choice chooses first."""
    with take(others, "B"):
        leases = take_each(store, [["A", "B", "C"], ["A", "B"]])
    for lease in leases:
        lease.release()

    assert [lease.key for lease in leases] == ["C", "A"]


def test_too_few_free_devices_are_counted(store: FileLeases, others: FileLeases) -> None:
    """If fewer are free than wanted, the error says how many there are."""
    waiting = Waiting()

    with take(others, "A"), pytest.raises(LeaseError) as caught:
        waiting.take_some(store, ["A", "B"], count=2, wait=5.0)

    assert "2 devices are wanted after 5 s of waiting, and 1 of 2 can be had" in str(caught.value)
    assert waiting.said[0].startswith("waiting for 2 of 2 devices (A, held by ")


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


def test_crossed_wishes_do_not_block_each_other(tmp_path: Path) -> None:
    """Four that want overlapping sets, written in any order, all get them in the end."""
    wishes = [["A", "B", "C"], ["C", "B"], ["B", "A"], ["C", "A"]]
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

    threads = [threading.Thread(target=run, args=(str(n), keys)) for n, keys in enumerate(wishes)]
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


@pytest.fixture
def lock_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep all lock files in a folder of the test's own."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


def test_the_former_user_may_see_its_execution_end(lock_folder: Path) -> None:
    """The new holder waits for the execution that the former one still has in flight."""
    orphan = Flight("PH1")
    said: list[str] = []
    flying = orphan.claim("cmd-orphan", serial="PH1")
    claim = flying.__enter__()
    claim.take_off(time.monotonic() + 600)

    def land(seconds: float) -> None:
        claim.land()
        flying.__exit__(None, None, None)

    await_landing("PH1", serial="serial-1", say=said.append, pause=land)

    assert len(said) == 1
    assert "with command cmd-orphan" in said[0]
    assert list(lock_folder.iterdir()) == []


@pytest.mark.usefixtures("lock_folder")
def test_a_former_user_that_does_not_end_is_a_conflict() -> None:
    """Past the latest end of that execution, the conflict is raised."""
    waiting = Waiting()

    with Flight("PH1").claim("cmd-orphan", serial="PH1") as claim:
        claim.take_off(waiting.now + 60)
        with pytest.raises(ExecutionConflictError):
            await_landing("PH1", serial="serial-1", clock=waiting.clock, pause=waiting.pause)

    assert waiting.now == pytest.approx(165.0, abs=0.2)


def test_a_liar_who_keeps_the_device_is_not_waited_for_without_end(lock_folder: Path) -> None:
    """Somebody may write a later end each time; the conflict is raised after an hour at most."""
    waiting = Waiting()

    with Flight("PH1").claim("cmd-liar", serial="PH1") as claim:

        def pause(seconds: float) -> None:
            waiting.pause(100)
            claim.take_off(waiting.now + 1000)

        claim.take_off(waiting.now)
        with pytest.raises(ExecutionConflictError):
            await_landing("PH1", serial="serial-1", clock=waiting.clock, pause=pause)

    assert waiting.now <= 100 + 3600 + 200


def test_malformed_contents_are_told_by_who_takes_over(lock_folder: Path) -> None:
    """What is wrong with the lock file is said once, and nothing is waited for."""
    said: list[str] = []
    path = lock_path("PH1", "flight", folder=lock_folder)
    path.write_bytes(b"[" * 1500)

    for _ in range(2):
        await_landing("PH1", serial="serial-1", say=said.append)

    assert len(said) == 1
    assert str(path) in said[0]


def test_leases_are_files_unless_a_redis_is_named(lock_folder: Path) -> None:
    """Without an address the leases are those of this machine."""
    opened = open_leases(run_id="r1")

    with take(opened, "PH1"):
        kinds = {path.suffix for path in lock_folder.iterdir()}
    opened.close()

    assert kinds == {".lease", ".holder"}


@pytest.mark.parametrize("where", ["http://:secret@host:80", "redis", "files"])
def test_an_address_that_is_no_store_is_refused(where: str) -> None:
    """The error says what is allowed, and shows no password."""
    with pytest.raises(ConfigurationError) as caught:
        open_leases(where, run_id="r1")

    assert "redis://host:6379/0" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_messages_name_devices_by_their_serials(store: FileLeases, others: FileLeases) -> None:
    """Notices and errors have serials instead of keys, where these are known."""
    serials = {"127.0.0.1/emulator-5554": "emulator-5554", "R58M123": "192.0.2.20:5555"}
    keys, waiting = list(serials), Waiting()

    with take(others, keys[0]), take(others, keys[1]):
        with pytest.raises(LeaseError) as one:
            waiting.take_some(store, keys[:1], wait=1.0, name=serials.__getitem__)
        with pytest.raises(LeaseError) as both:
            waiting.take_some(store, keys, wait=1.0, name=serials.__getitem__)

    assert one.value.serial == "emulator-5554"
    assert "emulator-5554 is held by " in str(both.value)
    assert "192.0.2.20:5555 is held by " in str(both.value)
    assert waiting.said[0].startswith("waiting for emulator-5554, held by ")
    assert "(emulator-5554, held by " in waiting.said[-1]
    assert "127.0.0.1/" not in f"{both.value.message}{waiting.said}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the lock files here."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


def test_a_lent_device_may_be_used_while_its_holder_has_it(folder: Path) -> None:
    """No lease is taken for it, and each command is checked."""
    hold = FileLeases(run_id="run").try_take("phone-1")
    assert hold is not None
    environment = lend(hold.ticket, key="phone-1", where=None)

    with borrow("phone-1", run_id="script", say=print, environment=environment) as permit:
        assert permit is not None
        permit.clear("c1", 1.0)
        hold.release()
        with pytest.raises(LeaseError, match="no longer leased"):
            permit.clear("c2", 1.0)


@pytest.mark.parametrize("key", ["phone-2", ""])
def test_another_device_is_not_lent(key: str) -> None:
    """Whoever wants it must lease it, and so must who was lent nothing."""
    environment = lend("{}", key="phone-1", where=None) if key else {}

    with borrow(key, run_id="script", say=print, environment=environment) as permit:
        assert permit is None


def test_a_device_that_its_holder_lost_is_refused_at_once() -> None:
    """Before anything is asked of it."""
    hold = FileLeases(run_id="run").try_take("phone-1")
    assert hold is not None
    environment = lend(hold.ticket, key="phone-1", where=None)
    hold.release()

    with (
        pytest.raises(LeaseError),
        borrow("phone-1", run_id="script", say=print, environment=environment),
    ):
        pytest.fail("it was lent")


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"key": "a"}', "[" * 100_000])
def test_a_variable_that_lends_nothing_is_named(text: str) -> None:
    """With what to do about it."""
    with (
        pytest.raises(ConfigurationError, match=LENT_VARIABLE),
        borrow("a", run_id="script", say=print, environment={LENT_VARIABLE: text}),
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
    ],
)
def test_a_url_that_cannot_keep_leases_is_refused(url: str, reason: str) -> None:
    """The error says what is wrong and what is allowed, and shows no password."""
    with pytest.raises(ConfigurationError) as caught:
        check_redis_url(url)

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
def test_a_url_that_redis_understands_is_taken(url: str) -> None:
    """Hosts, addresses, users, sockets, databases and TLS options are understood."""
    assert check_redis_url(url) == url
