"""The devices of a run: held, assigned one to a worker, and given back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.pool import (
    Candidate,
    Demand,
    DevicePool,
    Lease,
    Spares,
    too_few,
)
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceUnavailableError,
    ErrorCode,
    LeaseError,
    NoDeviceError,
)
from pytest_clawperator.remedies import Remedy, RemedyKind
from tests.doubles.leases import take


def candidates(serials: str) -> list[Candidate]:
    """Return devices that could be used."""
    return [
        Candidate(info=DeviceInfo(serial=one, key=f"key of {one}"), adb="127.0.0.1:5037")
        for one in serials
    ]


def serials(devices: Iterable[Candidate | Lease]) -> str:
    """Return the serials as one text."""
    return "".join(one.serial for one in devices)


@pytest.fixture
def pool(store: FileLeases) -> Iterator[DevicePool]:
    """Return a pool of four devices, none of which is held yet."""
    devices = DevicePool(candidates("ABCD"), store=store, select=lambda free, worker_id: free[0])
    yield devices
    devices.close()


@pytest.fixture
def spares(pool: DevicePool) -> Spares:
    """Return two spare devices, beside two for workers."""
    pool.hold_free(pool.candidates)
    return Spares([pool.lease_of(one) for one in pool.reserve(2)])


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


def test_a_held_device_is_kept_from_other_runs(
    pool: DevicePool, store: FileLeases, others: FileLeases
) -> None:
    """Others see the holder, and tickets are valid, until the run releases the device."""
    pool.hold_each([pool.candidates])
    during = others.holder("key of A")
    permit = store.borrow(pool.take("gw0").ticket or "")
    permit.check()

    pool.close()

    assert during is not None
    assert during.run_id == "mine"
    assert others.holder("key of A") is None
    with pytest.raises(LeaseError, match="no longer leased by this run"):
        permit.check()


def test_all_free_devices_can_be_held(pool: DevicePool, others: FileLeases) -> None:
    """Devices of others are left alone, and their holders are returned."""
    with take(others, "key of B") as theirs:
        held_by_others = pool.hold_free(pool.candidates)

    assert serials(pool.held) == "ACD"
    assert held_by_others == [f"B is held by {theirs.holder}"]


def test_a_device_of_each_group_is_held_or_none(pool: DevicePool, others: FileLeases) -> None:
    """All groups get a device, or nothing is held and the error names the other holder."""
    a, b, c, _ = pool.candidates

    with take(others, "key of B"), pytest.raises(LeaseError, match=r": B is held by"):
        pool.hold_each([[a, c], [b]])
    before = pool.held
    pool.hold_each([[a, b, c], [a, b]])

    assert before == ()
    assert serials(pool.held) == "AB"


def test_fewer_devices_than_wanted_are_refused_without_waiting(pool: DevicePool) -> None:
    """Waiting would not help."""
    with pytest.raises(NoDeviceError, match="2 workers need 2 devices, one each, but there is 1"):
        pool.hold_each([pool.candidates[:1]] * 2, wait=60.0)


def test_devices_beyond_the_need_are_released(pool: DevicePool, others: FileLeases) -> None:
    """One of each group is kept; devices that fewer groups want go first."""
    pool.hold_free(pool.candidates)
    a, b, c, d = pool.candidates
    groups = [[a, b, c], [c, d], [d]]

    pool.keep(3, groups=groups)
    spare = pool.reserve(1, groups=groups)
    kept, free = serials(pool.held), serials(pool.free)
    pool.keep(2)

    assert (kept, serials(spare), free) == ("ACD", "A", "CD")
    assert others.holder("key of B") is others.holder("key of D") is None


@pytest.mark.parametrize(
    ("demands", "taken", "reserved"),
    [
        ([("C", 1)], "AC", "B"),
        ([("AC", 5), ("D", 1)], "AD", "C"),
        ([("AB", 1), ("BC", 1), ("CA", 1)], "AB", "C"),
        ([("AB", 1), ("C", 3), ("B", 1)], "CB", "A"),
        ([("A", 1), ("B", 1), ("C", 1)], "AB", "C"),
        ([("X", 1)], "AB", "C"),
    ],
    ids=str,
)
def test_workers_get_the_devices_that_tests_need(
    pool: DevicePool,
    others: FileLeases,
    demands: list[tuple[str, int]],
    taken: str,
    reserved: str,
) -> None:
    """In exchange for a device that is needed less; without a gain everything stays."""
    pool.hold_free(pool.candidates[:3])
    pool.reserve(1)
    for worker in ("gw0", "gw1"):
        pool.take(worker)

    had = pool.exchange(
        [
            Demand(keys=frozenset(f"key of {one}" for one in wanted), weight=weight)
            for wanted, weight in demands
        ]
    )

    changed = [who for who, one in zip(("gw0", "gw1"), taken, strict=True) if one not in "AB"]
    assert (serials(pool.taken.values()), serials(pool.reserved)) == (taken, reserved)
    assert set(had) >= set(changed)
    assert {one for one in "ABCD" if others.holder(f"key of {one}")} == {*taken, *reserved}


def test_a_device_of_another_run_is_not_exchanged(pool: DevicePool, others: FileLeases) -> None:
    """The tests that need it have to do without."""
    pool.hold_free(pool.candidates[:2])
    pool.take("gw0")

    with take(others, "key of D"):
        had = pool.exchange([Demand(keys=frozenset({"key of D"}))])

    assert had == {}
    assert serials(pool.held) == "AB"


@pytest.mark.parametrize("gone", ["gw0", "gw1", "gw2"])
def test_a_replacement_gets_the_device_of_its_worker(pool: DevicePool, gone: str) -> None:
    """The worker that replaces another one continues with its device."""
    pool.hold_free(pool.candidates)
    given = {worker: pool.take(worker) for worker in ("gw0", "gw1", "gw2")}

    pool.give_back("gw7")  # has none
    pool.give_back(gone)

    assert pool.take("gw3") == given[gone]


def test_a_device_that_was_put_aside_is_not_assigned_again(pool: DevicePool) -> None:
    """No worker gets a device that does not work."""
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

    assert pool.take("main", fits=lambda info: info.serial == "C").serial == "C"


def test_a_selection_must_be_a_candidate(store: FileLeases) -> None:
    """None, or a device that is not free, is an error."""
    pool = DevicePool(candidates("A"), store=store, select=lambda free, worker_id: None)
    pool.hold_each([pool.candidates])

    with pytest.raises(ConfigurationError, match="gw0 is none of the candidates: None"):
        pool.take("gw0")

    pool.close()


def test_the_selected_device_comes_first(store: FileLeases) -> None:
    """It is selected before it is held, among those that are free."""
    pool = DevicePool(candidates("ABC"), store=store, select=lambda free, worker_id: free[-1])

    with take(store, "key of C"):
        assert serials(pool.chosen_first("main")) == "BAC"


def test_requests_for_spares_are_served_whole_and_in_order(
    pool: DevicePool, spares: Spares
) -> None:
    """No worker has a part of what it waits for, and none gets a spare as its own device."""
    given: dict[str, Sequence[Lease]] = {}
    for worker, count in (("gw0", 1), ("gw1", 2), ("gw2", 1)):
        spares.ask(worker, count, partial(given.__setitem__, worker))
    at_first = sorted(given)

    spares.give_back("gw0")
    then = sorted(given)
    spares.give_back("gw1")

    assert (serials(pool.free), spares.count) == ("AB", 2)
    assert (at_first, then, sorted(given)) == (["gw0"], ["gw0", "gw1"], ["gw0", "gw1", "gw2"])
    assert serials(given["gw1"]) == "CD"


def test_a_worker_that_died_waiting_blocks_no_other(spares: Spares) -> None:
    """Its request is forgotten, and the next one is served."""
    given: dict[str, Sequence[Lease]] = {}
    for worker in ("gw0", "gw1", "gw2"):
        spares.ask(worker, 2, partial(given.__setitem__, worker))

    spares.give_back("gw1")
    spares.give_back("gw0")

    assert list(given) == ["gw0", "gw2"]


def test_impossible_requests_for_spares_are_refused(spares: Spares) -> None:
    """Too many are refused with the number needed; a second request could cause a deadlock."""
    with pytest.raises(ConfigurationError) as caught:
        spares.ask("gw0", 3, lambda leases: None)
    spares.ask("gw0", 1, lambda leases: None)
    with pytest.raises(ConfigurationError, match="has them still"):
        spares.ask("gw0", 1, lambda leases: None)

    assert "its own and 3 more, and this run keeps 2 spare" in str(caught.value)
    assert caught.value.advice == (Remedy(RemedyKind.KEEP_SPARES, count=3),)


def test_a_broken_spare_is_not_given_out_again(spares: Spares) -> None:
    """A worker that waits for more than are left gets an empty answer immediately."""
    given: list[str] = []

    def grant(leases: Sequence[Lease]) -> None:
        given.append(serials(leases))

    spares.ask("gw0", 1, grant)
    spares.ask("gw1", 2, grant)
    spares.ask("gw2", 1, grant)
    spares.put_aside("C")
    spares.put_aside("C")
    spares.give_back("gw0")

    assert given == ["C", "", "D"]
    with pytest.raises(DeviceUnavailableError, match="has 1 spare: 1 did not work and was put"):
        spares.ask("gw1", 2, grant)


@pytest.mark.parametrize(
    ("workers", "devices", "spare", "message", "hint"),
    [
        (3, "AB", 0, "3 workers need 3 devices, one each, but there are 2: A, B", "than 2, "),
        (2, "A", 0, "2 workers need 2 devices, one each, but there is 1: A", "than 1, "),
        (1, "", 0, "1 worker needs 1 device, but there are 0: none", "Connect more devices, or "),
        (
            2,
            "AB",
            1,
            "2 workers need 2 devices, one each, and 1 more as spare devices, but there are 2: "
            "A, B",
            "Start no more workers than 1, keep fewer devices spare, connect ",
        ),
    ],
)
def test_the_error_for_too_few_devices_states_what_is_enough(
    workers: int, devices: str, spare: int, message: str, hint: str
) -> None:
    """It counts the devices, and for how many workers they are enough."""
    error = too_few(workers, candidates(devices), spare=spare)

    assert error.code is ErrorCode.NO_DEVICES
    assert error.message == message
    assert hint in str(error.hint)
