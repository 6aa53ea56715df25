"""Taking one or several devices, waiting for them, and telling who has them."""

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
    Hold,
    await_landing,
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
        """Tell the time."""
        return self.now

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        if self.now >= self.at:
            self.at = 1e9
            self.happens()

    def take_some(self, store: FileLeases, keys: list[str], **options: Any) -> list[Hold]:
        """Take devices on this clock."""
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
    """Give the leases that the tests ask for."""
    return FileLeases(run_id="mine", folder=tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> FileLeases:
    """Give the same leases as another run sees them."""
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


def test_waiting_ends_when_the_device_is_given_back(store: FileLeases, others: FileLeases) -> None:
    """Who waits gets the device soon after it was released."""
    held = take(others, "PH1")
    waiting = Waiting(at=107.0, happens=held.release)

    (lease,) = waiting.take_some(store, ["PH1"], wait=60.0)
    lease.release()

    assert lease.holder.run_id == "mine"
    assert 107.0 <= waiting.now < 107.5


def test_waiting_is_told_and_has_a_limit(store: FileLeases, others: FileLeases) -> None:
    """Who waits says for whom, now and then, and gives up in time."""
    waiting = Waiting()

    with take(others, "PH1") as held, pytest.raises(LeaseError) as caught:
        waiting.take_some(store, ["PH1"], wait=25.0)

    assert waiting.now == pytest.approx(125.0)
    assert waiting.said[0] == f"waiting for PH1, held by {held.holder}; 25 s left"
    assert len(waiting.said) == 3
    assert f"after 25 s of waiting the device is still held by {held.holder}" in str(caught.value)


def test_several_devices_come_in_the_order_asked_for(store: FileLeases) -> None:
    """The order of taking is fixed; the order of giving is the caller's."""
    leases = take_all(store, ["C", "A", "B"])

    keys = [lease.key for lease in leases]
    for lease in leases:
        lease.release()

    assert keys == ["C", "A", "B"]


def test_all_or_none(store: FileLeases, others: FileLeases) -> None:
    """If one device is missing none is kept, and the error tells which is held by whom."""
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


def test_nothing_is_taken_for_nothing(
    store: FileLeases, others: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is plain that too few are free, none is taken even for a moment."""
    tried: list[str] = []
    monkeypatch.setattr(store, "try_take", tried.append)

    with take(others, "B"), pytest.raises(LeaseError):
        take_all(store, ["A", "B"])

    assert tried == []


def test_some_of_many(store: FileLeases, others: FileLeases) -> None:
    """So many as wanted are taken of those that are free, and no more."""
    with take(others, "A"):
        leases = take_each(store, [["D", "A", "B", "C"]] * 2)
        free = [key for key in "BCD" if others.holder(key) is None]
    for lease in leases:
        lease.release()

    assert [lease.key for lease in leases] == ["D", "B"]
    assert free == ["C"]


def test_a_device_of_each_group(store: FileLeases, others: FileLeases) -> None:
    """Groups that share devices get different ones; who has the least choice chooses first."""
    with take(others, "B"):
        leases = take_each(store, [["A", "B", "C"], ["A", "B"]])
    for lease in leases:
        lease.release()

    assert [lease.key for lease in leases] == ["C", "A"]


def test_too_few_of_many(store: FileLeases, others: FileLeases) -> None:
    """If fewer are free than wanted, the error says how many there are."""
    waiting = Waiting()

    with take(others, "A"), pytest.raises(LeaseError) as caught:
        waiting.take_some(store, ["A", "B"], count=2, wait=5.0)

    assert "2 devices are wanted after 5 s of waiting, and 1 of 2 can be had" in str(caught.value)
    assert waiting.said[0].startswith("waiting for 2 of 2 devices (A, held by ")


def test_trouble_in_the_middle_leaves_nothing_taken(
    store: FileLeases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at the second device gives the first one back."""
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
    """Nobody looks at the date: taking, waiting, checking and releasing work without it."""

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
    """Let everything that asks for the folder of the locks have this one."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("lock_folder")
def test_the_former_user_may_see_its_execution_end() -> None:
    """Who has the lease waits for an execution that its predecessor still watches."""
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


@pytest.mark.usefixtures("lock_folder")
def test_a_former_user_that_does_not_end_is_a_conflict() -> None:
    """Past the latest end of that execution, the conflict is told as it is."""
    waiting = Waiting()

    with Flight("PH1").claim("cmd-orphan", serial="PH1") as claim:
        claim.take_off(waiting.now + 60)
        with pytest.raises(ExecutionConflictError):
            await_landing("PH1", serial="serial-1", clock=waiting.clock, pause=waiting.pause)

    assert waiting.now == pytest.approx(165.0, abs=0.2)


def test_leases_are_files_unless_a_redis_is_named(lock_folder: Path) -> None:
    """Without a place, the leases of this machine are meant."""
    opened = open_leases(run_id="r1")

    with take(opened, "PH1"):
        kinds = {path.suffix for path in lock_folder.iterdir()}
    opened.close()

    assert kinds == {".lease", ".holder"}


@pytest.mark.parametrize("where", ["http://:secret@host:80", "redis", "files"])
def test_a_place_that_is_none_is_refused(where: str) -> None:
    """The error says what is allowed, and keeps passwords to itself."""
    with pytest.raises(ConfigurationError) as caught:
        open_leases(where, run_id="r1")

    assert "redis://host:6379/0" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_device_is_called_what_people_call_it(store: FileLeases, others: FileLeases) -> None:
    """What waits and fails names devices by their serials, where these are known."""
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
