"""Leases of clients: one holder, an end in time, and no device that is still busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.errors import ErrorCode, LeaseError
from pytest_clawperator.service.leasing import Leasing


def play(act: Callable[[Leasing], Awaitable[Any]]) -> Any:
    """Run a scene with leases, and end them."""

    async def played() -> Any:
        leasing = Leasing()
        try:
            return await act(leasing)
        finally:
            leasing.close()

    return asyncio.run(played())


def test_a_device_has_one_holder_who_is_named() -> None:
    """The second one learns who has it."""

    async def act(leasing: Leasing) -> LeaseError:
        await leasing.take("PH1", "key-1", owner="ada on laptop", ttl=60)
        with pytest.raises(LeaseError) as caught:
            await leasing.take("PH1", "key-1", owner="bob", ttl=60)
        return caught.value

    error = play(act)

    assert error.code == ErrorCode.DEVICE_LEASED
    assert "ada on laptop" in error.message


def test_a_run_of_this_machine_cannot_have_it_meanwhile() -> None:
    """The service holds the machine's own lease for its client, until that releases it."""

    async def act(leasing: Leasing) -> tuple[str, Any]:
        lease = await leasing.take("PH1", "key-2", owner="ada", ttl=60)
        store = open_leases(run_id="local")
        assert store.try_take("key-2") is None
        told = str(store.holder("key-2"))
        leasing.release(lease.token)
        return told, store.try_take("key-2")

    told, hold = play(act)

    assert "ada, through clawperator serve" in told
    assert hold is not None
    hold.release()


def test_a_device_that_a_run_holds_is_not_had() -> None:
    """Neither for a client nor for an execution of the service, and the run is named."""
    with open_leases(run_id="nightly").try_take("key-3") as hold:  # type: ignore[union-attr] # free
        assert hold is not None

        async def act(leasing: Leasing) -> list[str]:
            told = []
            with pytest.raises(LeaseError) as caught:
                await leasing.take("PH1", "key-3", owner="ada", ttl=60)
            told.append(str(caught.value))
            with pytest.raises(LeaseError) as caught, leasing.held("PH1", "key-3", None):
                pass
            return [*told, str(caught.value)]

        assert all("run nightly" in text for text in play(act))


def test_a_lease_that_is_not_renewed_ends() -> None:
    """Its tunnels are closed with it, and the device is free."""

    async def act(leasing: Leasing) -> bool:
        lease = await leasing.take("PH1", "key-4", owner="ada", ttl=0.01)
        ended = asyncio.Event()
        lease.on_end.append(ended.set)
        await asyncio.wait_for(ended.wait(), 20)
        with pytest.raises(LeaseError):
            leasing.renew(lease.token)
        return leasing.of("PH1") is None

    assert play(act)


def test_a_device_that_may_be_busy_stays_taken() -> None:
    """A client that is gone may have left an execution on it."""

    async def act(leasing: Leasing) -> str:
        lease = await leasing.take("PH1", "key-5", owner="ada", ttl=60)
        leasing.note_flight(lease.token, 30)
        leasing.release(lease.token, busy=True)
        with pytest.raises(LeaseError) as caught:
            await leasing.take("PH1", "key-5", owner="bob", ttl=60)
        return caught.value.message

    assert "whose last execution may still run for" in play(act)


def test_the_token_of_another_device_is_refused() -> None:
    """A lease is for its device alone; without the token one may only look."""

    async def act(leasing: Leasing) -> None:
        lease = await leasing.take("PH1", "key-6", owner="ada", ttl=60)
        with pytest.raises(LeaseError, match="for PH1"), leasing.held("PH2", "k", lease.token):
            pass
        with pytest.raises(LeaseError, match="ada"), leasing.held("PH1", "key-6", None):
            pass
        leasing.check_visible("PH1", "key-6")
        with leasing.held("PH1", "key-6", lease.token) as hold:
            assert hold is lease.hold

    play(act)


def test_who_looks_is_in_nobodys_way() -> None:
    """A run can have the device at any moment; then nobody looks at it."""

    async def act(leasing: Leasing) -> str:
        leasing.check_visible("PH1", "key-8")
        hold = open_leases(run_id="nightly").try_take("key-8")
        assert hold is not None
        with hold, pytest.raises(LeaseError) as caught:
            leasing.check_visible("PH1", "key-8")
        with leasing.held("PH1", "key-8", None):
            leasing.check_visible("PH1", "key-8")
        return str(caught.value)

    assert "run nightly" in play(act)


def test_several_threads_of_the_service_share_a_device() -> None:
    """A picture can be taken while an execution runs; the last one frees the device."""

    async def act(leasing: Leasing) -> None:
        with leasing.held("PH1", "key-7", None) as one, leasing.held("PH1", "key-7", None) as two:
            assert one is two
        assert open_leases(run_id="x").holder("key-7") is None

    play(act)
