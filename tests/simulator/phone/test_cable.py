"""Hosts that are kept out or cut off."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.phone.fault_switch import parse_fault
from tests.doubles.simulator.android_phone import (
    DEADLINE,
    HOME,
    Phone,
    broadcast,
)


class TestAdmission:
    """Who may connect."""

    @pytest.mark.parametrize("state", ["offline", "unauthorized"])
    def test_a_fault_keeps_hosts_out_until_cleared(self, state: str) -> None:
        """A fault keeps hosts out, drops those that are in, and lets them in again."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> None:
            phone.device.cable.disconnect = dropped.set
            phone.device.set_fault(parse_fault([state]))
            assert phone.device.admission() == state
            await asyncio.wait_for(dropped.wait(), DEADLINE)
            dropped.clear()
            phone.device.clear_faults(state)
            await asyncio.wait_for(dropped.wait(), DEADLINE)

        asyncio.run(act())

        assert phone.device.admission() == "device"

    def test_before_it_runs(self) -> None:
        """Faults can be set before anything runs."""
        phone = Phone()

        phone.device.set_fault(parse_fault(["offline"]))

        assert phone.device.admission() == "offline"

    def test_a_disconnect_drops_the_connections_once(self) -> None:
        """A disconnect drops the connections once, after it was answered."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> str:
            phone.device.cable.disconnect = dropped.set
            await phone.shell("sim fault disconnect after=now")
            await asyncio.wait_for(dropped.wait(), DEADLINE)
            return (await phone.shell("sim fault list")).out

        assert asyncio.run(act()) == ""

    def test_disconnect_in_an_execution(self) -> None:
        """A disconnect can wait for an execution, and happens as often as it was asked for."""
        phone = Phone()
        dropped = asyncio.Event()

        async def act() -> None:
            phone.device.cable.disconnect = dropped.set
            await phone.shell("sim fault disconnect times=1")
            assert not dropped.is_set()
            await phone.shell(broadcast(HOME))
            await asyncio.wait_for(dropped.wait(), DEADLINE)

        asyncio.run(act())

        assert phone.out("sim fault list") == ""

    def test_the_banner_names_the_phone(self) -> None:
        """A host is reported what phone it is."""
        assert "ro.product.model=Pixel 9;" in Phone().device.banner
