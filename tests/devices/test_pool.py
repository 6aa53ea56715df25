"""Devices are held against others, handed out one to a worker, and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.pool import Candidate, DevicePool, Lease, Spares, too_few
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceUnavailableError,
    ErrorCode,
    LeaseError,
    NoDeviceError,
)
from pytest_clawperator.remedies import Remedy, RemedyKind
from tests.doubles.leases import take


def candidate(serial: str) -> Candidate:
    """Make a device that could be used."""
    return Candidate(info=DeviceInfo(serial=serial, key=f"key of {serial}"), adb="127.0.0.1:5037")


def first(free: Sequence[Candidate], worker_id: str) -> Candidate:
    """Take the first."""
    return free[0]


@pytest.fixture
def store(tmp_path: Path) -> FileLeases:
    """Give the leases of this run."""
    return FileLeases(run_id="mine", folder=tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> FileLeases:
    """Give the same leases as another run sees them."""
    return FileLeases(run_id="theirs", folder=tmp_path)


@pytest.fixture
def pool(store: FileLeases) -> Iterator[DevicePool]:
    """Give a pool of four devices, none of which is held yet."""
    devices = DevicePool([candidate(serial) for serial in "ABCD"], store=store, select=first)
    yield devices
    devices.close()


def serials(candidates: Iterable[Candidate]) -> str:
    """Name devices in short."""
    return "".join(one.serial for one in candidates)


def test_one_each(pool: DevicePool) -> None:
    """Workers get different devices, with what is needed to reach and to use them."""
    pool.hold_each([pool.candidates] * 2)

    leases = [pool.take("gw0"), pool.take("gw1")]

    assert [(one.serial, one.key, one.adb) for one in leases] == [
        ("A", "key of A", "127.0.0.1:5037"),
        ("B", "key of B", "127.0.0.1:5037"),
    ]
    assert all(one.ticket for one in leases)
    assert {worker: one.serial for worker, one in pool.taken.items()} == {"gw0": "A", "gw1": "B"}


def test_what_is_held_nobody_else_can_have(pool: DevicePool, others: FileLeases) -> None:
    """Others see who holds a device, until the run lets go of it."""
    pool.hold_each([pool.candidates])
    during = others.holder("key of A")

    pool.close()

    assert during is not None
    assert during.run_id == "mine"
    assert others.holder("key of A") is None


def test_a_ticket_proves_it(pool: DevicePool, store: FileLeases) -> None:
    """Another process of the run may use the device for as long as the run holds it."""
    pool.hold_each([pool.candidates])
    permit = store.borrow(pool.take("gw0").ticket or "")
    permit.check()

    pool.close()

    with pytest.raises(LeaseError, match="no longer leased by this run"):
        permit.check()


def test_all_that_are_free(pool: DevicePool, others: FileLeases) -> None:
    """Devices of others are left alone, and it is said whose they are."""
    with take(others, "key of B") as theirs:
        told = pool.hold_free(pool.candidates)

    assert serials(pool.held) == "ACD"
    assert told == [f"B is held by {theirs.holder}"]


def test_a_device_of_each_group(pool: DevicePool, others: FileLeases) -> None:
    """All groups get a device, or nothing is held and the error says who has what is missing."""
    a, b, c, _ = pool.candidates

    with take(others, "key of B"), pytest.raises(LeaseError, match=r": B is held by"):
        pool.hold_each([[a, c], [b]])
    before = pool.held
    pool.hold_each([[a, b, c], [a, b]])

    assert before == ()
    assert serials(pool.held) == "AB"


def test_fewer_devices_than_wanted(pool: DevicePool) -> None:
    """No waiting makes one device two."""
    with pytest.raises(NoDeviceError, match="2 workers need 2 devices, one each, but there is 1"):
        pool.hold_each([pool.candidates[:1]] * 2, wait=60.0)


def test_no_more_than_needed(pool: DevicePool, others: FileLeases) -> None:
    """Those that no worker will have are given back at once."""
    pool.hold_free(pool.candidates)

    pool.keep(1)

    assert serials(pool.held) == "A"
    assert others.holder("key of B") is None


def test_one_of_each_group_is_kept(pool: DevicePool) -> None:
    """What is given back, or kept from workers, is first what the groups have several of."""
    pool.hold_free(pool.candidates)
    a, b, c, d = pool.candidates
    groups = [[a, b, c], [c, d], [d]]

    pool.keep(3, groups=groups)
    spare = pool.reserve(1, groups=groups)

    assert serials(pool.held) == "ABD"
    assert serials(spare) == "B"
    assert serials(pool.free) == "AD"


@pytest.mark.parametrize("gone", ["gw0", "gw1", "gw2"])
def test_a_replacement(pool: DevicePool, gone: str) -> None:
    """Whoever comes for a worker that ended gets that worker's device."""
    pool.hold_free(pool.candidates)
    given = {worker: pool.take(worker) for worker in ("gw0", "gw1", "gw2")}

    pool.give_back(gone)

    assert pool.take("gw3") == given[gone]


def test_a_device_that_was_put_aside(pool: DevicePool) -> None:
    """Nobody gets a device that does not work."""
    pool.hold_each([pool.candidates] * 2)
    pool.take("gw0")

    pool.put_aside("gw0")
    pool.give_back("gw0")

    assert pool.take("gw1").serial == "B"
    with pytest.raises(NoDeviceError):
        pool.take("gw2")


def test_only_one_that_fits(pool: DevicePool) -> None:
    """A worker can be choosy."""
    pool.hold_free(pool.candidates)

    lease = pool.take("main", fits=lambda info: info.serial == "C")

    assert lease.serial == "C"


def test_an_unknown_worker(pool: DevicePool) -> None:
    """A worker that had no device gives none back."""
    pool.hold_each([pool.candidates])

    pool.give_back("gw7")

    assert pool.take("gw0").serial == "A"
    with pytest.raises(NoDeviceError):
        pool.take("gw1")


def test_a_choice_that_is_none(store: FileLeases) -> None:
    """A device that is not free, or no device, is no choice."""
    pool = DevicePool([candidate("A")], store=store, select=lambda free, worker_id: None)
    pool.hold_each([pool.candidates])

    with pytest.raises(ConfigurationError, match="gw0 is none of the candidates: None"):
        pool.take("gw0")

    pool.close()


@pytest.fixture
def spares(pool: DevicePool) -> Spares:
    """Give two spare devices, beside two for workers."""
    pool.hold_free(pool.candidates)
    return Spares([pool.lease_of(one) for one in pool.reserve(2)])


def test_spares_are_kept_from_workers(pool: DevicePool, spares: Spares) -> None:
    """What is spare is for nobody until a test asks."""
    free = serials(pool.free)

    assert (free, spares.count) == ("AB", 2)


def test_spares_come_in_whole_sets(spares: Spares) -> None:
    """Who comes first is served first, and nobody has a part of what it waits for."""
    given: dict[str, Sequence[Lease]] = {}
    for worker, count in (("gw0", 1), ("gw1", 2), ("gw2", 1)):
        spares.ask(worker, count, partial(given.__setitem__, worker))
    at_first = sorted(given)

    spares.give_back("gw0")
    then = sorted(given)
    spares.give_back("gw1")

    assert at_first == ["gw0"]
    assert then == ["gw0", "gw1"]
    assert [lease.serial for lease in given["gw1"]] == ["C", "D"]
    assert sorted(given) == ["gw0", "gw1", "gw2"]


def test_a_worker_that_died_waiting(spares: Spares) -> None:
    """Who is gone blocks nobody."""
    given: dict[str, Sequence[Lease]] = {}
    for worker in ("gw0", "gw1", "gw2"):
        spares.ask(worker, 2, partial(given.__setitem__, worker))

    spares.give_back("gw1")
    spares.give_back("gw0")

    assert list(given) == ["gw0", "gw2"]


def test_more_than_there_are(spares: Spares) -> None:
    """What can never be is refused at once, with how many would do."""
    with pytest.raises(ConfigurationError) as caught:
        spares.ask("gw0", 3, lambda leases: None)

    assert "its own and 3 more, and this run keeps 2 spare" in str(caught.value)
    assert caught.value.advice == (Remedy(RemedyKind.KEEP_SPARES, count=3),)


def test_asking_twice(spares: Spares) -> None:
    """A test that has some cannot wait for more: two of them would wait for each other."""
    spares.ask("gw0", 1, lambda leases: None)

    with pytest.raises(ConfigurationError, match="has them still"):
        spares.ask("gw0", 1, lambda leases: None)


def test_the_chosen_first(store: FileLeases) -> None:
    """Who picks a device picks it before it is held, of those that nobody has."""
    found = [candidate(serial) for serial in "ABC"]
    pool = DevicePool(found, store=store, select=lambda free, worker_id: free[-1])

    with take(store, "key of C"):
        chosen = pool.chosen_first("main")

    assert [one.serial for one in chosen] == ["B", "A", "C"]


def test_a_spare_that_breaks() -> None:
    """A spare device that does not work is given to nobody, and nobody waits for it in vain."""
    spares = Spares([Lease(serial="A", key="A"), Lease(serial="B", key="B")])
    given: list[list[str]] = []

    def grant(leases: Sequence[Lease]) -> None:
        given.append([lease.serial for lease in leases])

    spares.ask("gw0", 1, grant)
    spares.ask("gw1", 2, grant)
    spares.ask("gw2", 1, grant)
    spares.put_aside("A")
    spares.put_aside("A")
    spares.give_back("gw0")

    assert given == [["A"], [], ["B"]]
    with pytest.raises(DeviceUnavailableError, match="has 1 spare: 1 did not work and was put"):
        spares.ask("gw1", 2, grant)


def test_too_few_with_spares() -> None:
    """Spare devices are told as what they are."""
    error = too_few(2, [candidate("A"), candidate("B")], spare=1)

    assert error.message.startswith(
        "2 workers need 2 devices, one each, and 1 more shall be spare, but there are 2: A, B"
    )
    assert error.hint is not None
    assert error.hint.startswith("Start no more workers than 1, keep fewer devices spare, connect ")


@pytest.mark.parametrize(
    ("workers", "serials", "said", "hint"),
    [
        (3, ["A", "B"], "3 workers need 3 devices, one each, but there are 2: A, B", "than 2, "),
        (2, ["A"], "2 workers need 2 devices, one each, but there is 1: A", "than 1, "),
        (1, [], "1 worker needs 1 device, but there are 0: none", "Connect more devices, or "),
    ],
)
def test_too_few(workers: int, serials: list[str], said: str, hint: str) -> None:
    """The error tells how many there are, and how many workers they will do for."""
    error = too_few(workers, [candidate(serial) for serial in serials])

    assert error.code is ErrorCode.NO_DEVICES
    assert error.message == said
    assert hint in str(error.hint)
