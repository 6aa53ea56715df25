"""Leases of clients: one holder, an end in time, and no device that is still busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.errors import ErrorCode, LeaseError
from pytest_clawperator.service.leasing import Leasing


def play(act: Callable[[Leasing], Awaitable[Any]]) -> None:
    """Run a scene with leases, and end them."""

    async def played() -> None:
        leasing = Leasing()
        try:
            await act(leasing)
        finally:
            leasing.close()

    asyncio.run(played())


def test_a_device_has_one_holder_who_is_named() -> None:
    """Neither another client nor a run of this machine can have it until it is released."""

    async def act(leasing: Leasing) -> None:
        lease = await leasing.take("PH1", "key-1", owner="ada on laptop", ttl=60)
        with pytest.raises(LeaseError, match="ada on laptop") as caught:
            await leasing.take("PH1", "key-1", owner="bob", ttl=60)
        assert caught.value.code == ErrorCode.DEVICE_LEASED
        store = open_leases(run_id="local")
        assert store.try_take("key-1") is None
        assert "ada on laptop, through clawperator serve" in str(store.holder("key-1"))
        leasing.release(lease.token)
        hold = store.try_take("key-1")
        assert hold is not None
        hold.release()

    play(act)


def test_a_device_that_a_run_holds_is_not_used() -> None:
    """Neither by a client nor by the service, not even for a picture; the run is named."""

    async def act(leasing: Leasing) -> None:
        leasing.check_visible("PH1", "key-3")
        hold = open_leases(run_id="nightly").try_take("key-3")
        assert hold is not None
        with hold:
            with pytest.raises(LeaseError, match="run nightly"):
                await leasing.take("PH1", "key-3", owner="ada", ttl=60)
            with pytest.raises(LeaseError, match="run nightly"), leasing.held("PH1", "key-3", None):
                pass
            with pytest.raises(LeaseError, match="run nightly"):
                leasing.check_visible("PH1", "key-3")

    play(act)


def test_a_lease_that_is_not_renewed_ends() -> None:
    """Its tunnels are closed with it, and the device is free."""

    async def act(leasing: Leasing) -> None:
        lease = await leasing.take("PH1", "key-4", owner="ada", ttl=0.01)
        ended = asyncio.Event()
        lease.on_end.append(ended.set)
        await asyncio.wait_for(ended.wait(), 20)
        with pytest.raises(LeaseError):
            leasing.renew(lease.token)
        assert leasing.of("PH1") is None

    play(act)


def test_a_device_that_may_be_busy_stays_taken() -> None:
    """A client that is gone may have left an execution on it."""

    async def act(leasing: Leasing) -> None:
        lease = await leasing.take("PH1", "key-5", owner="ada", ttl=60)
        leasing.note_flight(lease.token, 30)
        leasing.release(lease.token, busy=True)
        with pytest.raises(LeaseError, match="whose last execution may still run for"):
            await leasing.take("PH1", "key-5", owner="bob", ttl=60)

    play(act)


def test_a_lease_is_for_its_device_alone() -> None:
    """Without its token one may only look; threads of the service share a device."""

    async def act(leasing: Leasing) -> None:
        lease = await leasing.take("PH1", "key-6", owner="ada", ttl=60)
        with pytest.raises(LeaseError, match="for PH1"), leasing.held("PH2", "k", lease.token):
            pass
        with pytest.raises(LeaseError, match="ada"), leasing.held("PH1", "key-6", None):
            pass
        leasing.check_visible("PH1", "key-6")
        with leasing.held("PH1", "key-6", lease.token) as hold:
            assert hold is lease.hold
        with leasing.held("PH3", "key-7", None) as one, leasing.held("PH3", "key-7", None) as two:
            assert one is two
            leasing.check_visible("PH3", "key-7")
        assert open_leases(run_id="x").holder("key-7") is None

    play(act)
