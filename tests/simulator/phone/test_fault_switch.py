"""Faults with an effect of their own: another Operator is installed, log streams end."""

from __future__ import annotations

import asyncio

from tests.doubles.simulator.android_phone import (
    DEADLINE,
    Phone,
)


class TestOperatorFaults:
    """Whether the Operator is there, and which, can be changed while the phone runs."""

    def packages(self, phone: Phone) -> list[str]:
        """List the variants of the Operator that are installed."""
        listed = phone.run("pm list packages com.clawperator.operator").out
        return sorted(line.removeprefix("package:") for line in listed.split())

    def test_absent_and_back(self) -> None:
        """The fault takes the Operator away; clearing it brings it back, set up as before."""
        phone = Phone()
        enabled = phone.run("settings get secure enabled_accessibility_services").out

        phone.run("sim fault operator_absent")
        gone = self.packages(phone)
        phone.run("sim fault clear")

        assert gone == []
        assert self.packages(phone) == ["com.clawperator.operator"]
        assert phone.run("settings get secure enabled_accessibility_services").out == enabled

    def test_only_the_other_variant_is_installed(self) -> None:
        """Only the variant that was not asked for is installed."""
        phone = Phone()

        phone.run("sim fault operator_variant")

        assert self.packages(phone) == ["com.clawperator.operator.dev"]


class TestLogFaults:
    """Faults of the log."""

    def test_log_streams_end(self) -> None:
        """Cutting the log ends the streams that are open."""
        phone = Phone()

        async def act() -> int:
            reader = asyncio.create_task(phone.shell("logcat"))
            while not phone.device.stats.commands["logcat"]:
                await asyncio.sleep(0)
            await phone.shell("sim fault log_cut times=1")
            return (await asyncio.wait_for(reader, DEADLINE)).status

        assert asyncio.run(act()) == 0


class TestTime:
    """A clock that is set back."""

    def test_the_phone_shows_an_earlier_time(self) -> None:
        """The clock and the log go back together, and a reset sets them right."""
        phone = Phone()
        before, set_back, right = (
            int(phone.out(f"{act}; date +%s"))
            for act in ("true", "sim fault time_set_back s=3600", "sim reset")
        )
        phone.out("sim fault time_set_back s=7200; log hello")

        assert -3600 <= set_back - before < -3500
        assert 0 <= right - before < 100
        assert phone.device.log.since(1)[-1].time < before - 7000
        assert phone.out("sim fault list") == ""
