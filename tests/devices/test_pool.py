"""The devices of a run: held, assigned one to a worker, and given back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
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
    """Return the leases of this run."""
    return FileLeases(run_id="mine", folder=tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> FileLeases:
    """Return the same leases as another run sees them."""
    return FileLeases(run_id="theirs", folder=tmp_path)


@pytest.fixture
def pool(store: FileLeases) -> Iterator[DevicePool]:
    """Return a pool of four devices, none of which is held yet."""
    devices = DevicePool([candidate(serial) for serial in "ABCD"], store=store, select=first)
    yield devices
    devices.close()


def serials(candidates: Iterable[Candidate]) -> str:
    """Return the serials as one text."""
    return "".join(one.serial for one in candidates)


def test_each_worker_gets_a_device_of_its_own(pool: DevicePool) -> None:
    """Workers get different devices, each with its address and ticket."""
    pool.hold_each([pool.candidates] * 2)

    leases = [pool.take("gw0"), pool.take("gw1")]

    assert [(one.serial, one.key, one.adb) for one in leases] == [
        ("A", "key of A", "127.0.0.1:5037"),
        ("B", "key of B", "127.0.0.1:5037"),
    ]
    assert all(one.ticket for one in leases)
    assert {worker: one.serial for worker, one in pool.taken.items()} == {"gw0": "A", "gw1": "B"}


def test_a_held_device_is_kept_from_other_runs(pool: DevicePool, others: FileLeases) -> None:
    """Others see who holds a device until the run releases it."""
    pool.hold_each([pool.candidates])
    during = others.holder("key of A")

    pool.close()

    assert during is not None
    assert during.run_id == "mine"
    assert others.holder("key of A") is None


def test_a_ticket_is_valid_while_the_device_is_held(pool: DevicePool, store: FileLeases) -> None:
    """Another process of the run may use the device for as long as the run holds it."""
    pool.hold_each([pool.candidates])
    permit = store.borrow(pool.take("gw0").ticket or "")
    permit.check()

    pool.close()

    with pytest.raises(LeaseError, match="no longer leased by this run"):
        permit.check()


def test_all_free_devices_can_be_held(pool: DevicePool, others: FileLeases) -> None:
    """Devices of others are left alone, and their holders are returned."""
    with take(others, "key of B") as theirs:
        told = pool.hold_free(pool.candidates)

    assert serials(pool.held) == "ACD"
    assert told == [f"B is held by {theirs.holder}"]


def test_a_device_of_each_group_is_held_or_none(pool: DevicePool, others: FileLeases) -> None:
    """All groups get a device, or nothing is held and the error says who has what is missing."""
    a, b, c, _ = pool.candidates

    with take(others, "key of B"), pytest.raises(LeaseError, match=r": B is held by"):
        pool.hold_each([[a, c], [b]])
    before = pool.held
    pool.hold_each([[a, b, c], [a, b]])

    assert before == ()
    assert serials(pool.held) == "AB"


def test_fewer_devices_than_wanted_are_refused_at_once(pool: DevicePool) -> None:
    """Waiting would not help, so there is none."""
    with pytest.raises(NoDeviceError, match="2 workers need 2 devices, one each, but there is 1"):
        pool.hold_each([pool.candidates[:1]] * 2, wait=60.0)


def test_devices_beyond_the_need_are_released(pool: DevicePool, others: FileLeases) -> None:
    """Those that no worker needs are released at once."""
    pool.hold_free(pool.candidates)

    pool.keep(1)

    assert serials(pool.held) == "A"
    assert others.holder("key of B") is None


def test_one_of_each_group_is_kept(pool: DevicePool) -> None:
    """Released or reserved first is what a group has several of."""
    pool.hold_free(pool.candidates)
    a, b, c, d = pool.candidates
    groups = [[a, b, c], [c, d], [d]]

    pool.keep(3, groups=groups)
    spare = pool.reserve(1, groups=groups)

    assert serials(pool.held) == "ABD"
    assert serials(spare) == "B"
    assert serials(pool.free) == "AD"


@pytest.mark.parametrize("gone", ["gw0", "gw1", "gw2"])
def test_a_replacement_gets_the_device_of_its_worker(pool: DevicePool, gone: str) -> None:
    """The worker that replaces another one goes on with its device."""
    pool.hold_free(pool.candidates)
    given = {worker: pool.take(worker) for worker in ("gw0", "gw1", "gw2")}

    pool.give_back(gone)

    assert pool.take("gw3") == given[gone]


def test_a_device_that_was_put_aside_is_assigned_to_nobody(pool: DevicePool) -> None:
    """Nobody gets a device that does not work."""
    pool.hold_each([pool.candidates] * 2)
    pool.take("gw0")

    pool.put_aside("gw0")
    pool.give_back("gw0")

    assert pool.take("gw1").serial == "B"
    with pytest.raises(NoDeviceError):
        pool.take("gw2")


def test_a_worker_gets_only_a_device_that_fits(pool: DevicePool) -> None:
    """Of the free devices only those that fit are considered."""
    pool.hold_free(pool.candidates)

    lease = pool.take("main", fits=lambda info: info.serial == "C")

    assert lease.serial == "C"


def test_a_worker_without_a_device_gives_none_back(pool: DevicePool) -> None:
    """Nothing changes for the others."""
    pool.hold_each([pool.candidates])

    pool.give_back("gw7")

    assert pool.take("gw0").serial == "A"
    with pytest.raises(NoDeviceError):
        pool.take("gw1")


def test_a_selection_that_is_no_candidate_is_refused(store: FileLeases) -> None:
    """None, or a device that is not free, is an error."""
    pool = DevicePool([candidate("A")], store=store, select=lambda free, worker_id: None)
    pool.hold_each([pool.candidates])

    with pytest.raises(ConfigurationError, match="gw0 is none of the candidates: None"):
        pool.take("gw0")

    pool.close()


@pytest.fixture
def spares(pool: DevicePool) -> Spares:
    """Return two spare devices, beside two for workers."""
    pool.hold_free(pool.candidates)
    return Spares([pool.lease_of(one) for one in pool.reserve(2)])


def test_spares_are_kept_from_workers(pool: DevicePool, spares: Spares) -> None:
    """A spare device is assigned to no worker."""
    free = serials(pool.free)

    assert (free, spares.count) == ("AB", 2)


def test_requests_for_spares_are_served_whole_and_in_order(spares: Spares) -> None:
    """Nobody has a part of what it waits for."""
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


def test_a_worker_that_died_waiting_blocks_nobody(spares: Spares) -> None:
    """Its request is forgotten, and the next one is served."""
    given: dict[str, Sequence[Lease]] = {}
    for worker in ("gw0", "gw1", "gw2"):
        spares.ask(worker, 2, partial(given.__setitem__, worker))

    spares.give_back("gw1")
    spares.give_back("gw0")

    assert list(given) == ["gw0", "gw2"]


def test_more_spares_than_there_are_are_refused(spares: Spares) -> None:
    """The remedy has the number that would do."""
    with pytest.raises(ConfigurationError) as caught:
        spares.ask("gw0", 3, lambda leases: None)

    assert "its own and 3 more, and this run keeps 2 spare" in str(caught.value)
    assert caught.value.advice == (Remedy(RemedyKind.KEEP_SPARES, count=3),)


def test_asking_for_spares_twice_is_refused(spares: Spares) -> None:
    """A test that has some cannot wait for more: two such tests would wait for each other."""
    spares.ask("gw0", 1, lambda leases: None)

    with pytest.raises(ConfigurationError, match="has them still"):
        spares.ask("gw0", 1, lambda leases: None)


def test_the_selected_device_comes_first(store: FileLeases) -> None:
    """It is selected before it is held, among those that nobody has."""
    found = [candidate(serial) for serial in "ABC"]
    pool = DevicePool(found, store=store, select=lambda free, worker_id: free[-1])

    with take(store, "key of C"):
        chosen = pool.chosen_first("main")

    assert [one.serial for one in chosen] == ["B", "A", "C"]


def test_a_broken_spare_is_given_to_nobody() -> None:
    """Who waits for more than are left is told at once."""
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


def test_the_error_for_too_few_devices_counts_spares() -> None:
    """The message counts them apart, and the hint says to keep fewer."""
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
def test_the_error_for_too_few_devices_says_what_would_do(
    workers: int, serials: list[str], said: str, hint: str
) -> None:
    """It says how many there are, and for how many workers that is enough."""
    error = too_few(workers, [candidate(serial) for serial in serials])

    assert error.code is ErrorCode.NO_DEVICES
    assert error.message == said
    assert hint in str(error.hint)
