"""Requests for faults, and what switching a fault changes at once."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.faults import parse_fault
from tests.doubles.simulator.android_phone import DEADLINE, Phone


class TestFaults:
    """The words of a request."""

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("nope", "sim: there is no fault 'nope'. Known faults: booting, container_lost, "),
            ("clear nope", "sim: there is no fault 'nope'. Known faults: "),
            ("booting x", "sim: 'x' is not an option. Options are written as key=value"),
            ("booting ms=5", "sim: fault 'booting' has no option 'ms'. Its options: times.\n"),
            ("booting times=0", "sim: times=0 is not a number of occasions. times takes a whole"),
            ("booting times=x", "sim: times=x is not a number of occasions."),
            (
                "late_envelope ms=soon",
                "sim: ms=soon is not a whole number. The default is ms=",
            ),
            (
                "disconnect after=lunch",
                "sim: fault 'disconnect' has no after 'lunch'. Allowed:",
            ),
            ("forged_lines kind=x", "sim: fault 'forged_lines' has no kind 'x'. Allowed: all,"),
        ],
    )
    def test_an_invalid_fault_is_refused_and_not_set(self, arguments: str, complaint: str) -> None:
        """A mistake says what was found and what is allowed, and sets nothing."""
        phone = Phone()

        ended = phone.run(f"sim fault {arguments}")

        assert (ended.status, ended.out) == (1, "")
        assert ended.err.startswith(complaint)
        assert phone.out("sim fault list") == ""

    def test_parsed_for_others(self) -> None:
        """A fault can be read from words outside the phone too."""
        request = parse_fault(["late_envelope", "times=1", "ms=7"])

        assert (request.name, request.left, request.options) == ("late_envelope", 1, {"ms": "7"})
        with pytest.raises(ConfigurationError):
            parse_fault([])


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

    def test_the_package_tells_of_another_version(self) -> None:
        """The Operator's package has the version of the fault, until that is cleared."""
        phone = Phone()
        ask = "dumpsys package com.clawperator.operator | grep versionName"

        phone.run("sim fault operator_version version=0.6.0")
        other = phone.out(ask)
        phone.run("sim fault clear")

        assert other.strip() == "versionName=0.6.0"
        assert phone.out(ask).strip() == "versionName=0.5.3"


class TestLock:
    """The lock screen."""

    def is_locked(self, phone: Phone) -> bool:
        """Return what the window policy says."""
        return "showing=true" in phone.out("dumpsys window policy")

    def test_a_lock_without_a_code_is_dismissed(self) -> None:
        """The lock screen shows until it is dismissed."""
        phone = Phone()

        phone.run("sim fault locked")
        before = self.is_locked(phone)
        phone.run("wm dismiss-keyguard")

        assert before
        assert not self.is_locked(phone)

    def test_a_lock_with_a_code_stays(self) -> None:
        """No command dismisses a lock that asks for a code."""
        phone = Phone()

        phone.run("sim fault locked code=1; wm dismiss-keyguard")

        assert self.is_locked(phone)


class TestUiAutomation:
    """Another test tool that holds the device."""

    def test_its_client_is_a_process_that_can_be_stopped(self) -> None:
        """No accessibility service is bound until the client is stopped."""
        phone = Phone()
        look = "dumpsys accessibility; ps -A -o NAME"

        phone.run("sim fault ui_automation")
        held = phone.out(look)
        phone.run("am force-stop io.appium.uiautomator2.server")
        free = phone.out(look)

        assert "Ui Automation[" in held
        assert "Bound services:{}" in held
        assert "io.appium.uiautomator2.server" in held
        assert "Ui Automation[" not in free
        assert "Bound services:{Service[" in free
        assert "io.appium.uiautomator2.server" not in free


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
