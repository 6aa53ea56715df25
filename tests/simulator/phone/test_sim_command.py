"""``sim``: faults, counters, and setting everything back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pytest_clawperator.simulator.faults import FAULTS, LASTING_FAULTS
from pytest_clawperator.simulator.stats import Stats
from tests.doubles.simulator.android_phone import HOME, OPERATOR, Phone, broadcast

SETTINGS = "com.android.settings"


def stats(phone: Phone) -> Any:
    """Read the counters."""
    return json.loads(phone.out("sim stats"))


class TestFaults:
    """Letting things go wrong."""

    def test_set_and_clear(self) -> None:
        """A fault stays until it is cleared."""
        phone = Phone()

        assert phone.out("sim fault no_envelope; sim fault list") == "no_envelope\n"
        assert phone.out("sim fault clear no_envelope; sim fault list") == ""

    def test_times_and_options(self) -> None:
        """How often, and its options, are given with it and listed."""
        phone = Phone()

        phone.out("sim fault late_envelope times=2 ms=5; sim fault service_off")

        assert phone.out("sim fault list") == "late_envelope times=2 ms=5\nservice_off\n"

    def test_all_faults_are_cleared_at_once(self) -> None:
        """All faults can be cleared at once."""
        assert (
            Phone().out("sim fault booting; sim fault offline; sim fault clear; sim fault list")
            == ""
        )

    def test_a_fault_acts_at_once(self) -> None:
        """A fault that is set while the phone runs acts at once."""
        phone = Phone()

        phone.out("sim fault booting")

        assert phone.run("pm list packages").status == 20

    @pytest.mark.parametrize("name", sorted(FAULTS))
    def test_every_fault_can_be_set_with_its_defaults(self, name: str) -> None:
        """Every fault can be set with its defaults, and help knows it."""
        phone = Phone()
        count = "" if name in LASTING_FAULTS else "times=3"

        assert phone.out(f"sim fault {name} {count}") == ""
        assert f"\n  {name} " in phone.out("sim help")


class TestStats:
    """Counting."""

    def test_every_command_is_counted_by_name(self) -> None:
        """Every command is counted by its name."""
        phone = Phone()

        phone.run("echo a; echo b | cat; pm list packages x")

        counted = stats(phone)["commands"]
        assert (counted["cat"], counted["pm"], counted["sim"]) == (1, 1, 1)

    def test_the_counters_can_be_reset(self) -> None:
        """The counters can be set back."""
        phone = Phone()
        phone.run("pm list packages")

        phone.out("sim stats reset")

        assert stats(phone) == {
            "executions": 0,
            "overlaps": 0,
            "in_flight": 0,
            "max_in_flight": 0,
            "commands": {"sim": 1},
            "broadcasts": 0,
            "screenshots": 0,
        }

    def test_two_executions_at_once_are_an_overlap(self) -> None:
        """Two executions at a time are an overlap."""
        counters = Stats()

        counters.execution_started()
        counters.execution_started()
        counters.execution_ended()
        counters.execution_ended()
        counters.execution_started()

        assert (counters.executions, counters.overlaps, counters.max_in_flight) == (3, 1, 2)

    def test_reset_while_busy(self) -> None:
        """What is under way when counters are set back is still under way."""
        counters = Stats()
        counters.execution_started()

        counters.reset()
        counters.execution_started()

        assert (counters.executions, counters.overlaps, counters.max_in_flight) == (1, 1, 2)

    def test_the_counters_are_one_line_of_json(self) -> None:
        """The counters are one line of JSON."""
        assert Phone().out("sim stats").count("\n") == 1


class TestProfile:
    """Whose habits the Operator has."""

    def test_the_profile_can_be_read_and_changed(self) -> None:
        """The profile can be read and changed."""
        phone = Phone()
        assert phone.out("sim profile") == "documented\n"

        phone.out("sim profile 0.5.3")

        assert phone.out("sim profile") == "0.5.3\n"

    def test_a_changed_profile_acts_at_once(self) -> None:
        """The Operator that runs changes its habits."""
        phone = Phone()
        phone.out("sim profile 0.5.3")
        text = HOME.replace('"press_key"', '"wait_for_node"').replace(
            '"key": "home"', '"matcher": {"textEquals": "nowhere"}, "retry": {}'
        )

        async def act() -> str:
            await phone.shell(broadcast(text))
            return await phone.logged("[Clawperator-Result]")

        assert '"stepResults":[]' in asyncio.run(act())

    def test_an_unknown_profile_is_refused(self) -> None:
        """A profile that does not exist is refused with those there are."""
        ended = Phone().run("sim profile 9.9")

        assert ended == (1, "", "sim: there is no profile '9.9'. Profiles: documented, 0.5.3.\n")


class TestReset:
    """Setting everything back."""

    def test_reset_restores_everything(self) -> None:
        """Settings, apps, files, faults, counters, screen and log are as at the start."""
        phone = Phone()
        before = phone.out(
            "settings list secure; pm list packages -U; getprop; ps -A | grep -v ^shell; sim screen"
        )

        phone.run(
            f"am start -n {SETTINGS}/.Settings; settings put secure x 1; echo y > /sdcard/y;"
            f" pm uninstall com.clawperator.conformance; am force-stop {OPERATOR};"
            " sim fault booting; sim chatter 5; sim profile 0.5.3; input keyevent POWER"
        )
        phone.out("sim reset")
        assert phone.messages() == []

        after = phone.out(
            "settings list secure; pm list packages -U; getprop; ps -A | grep -v ^shell; sim screen"
        )
        assert after == before
        assert phone.run("[ -e /sdcard/y ]").status == 1
        assert phone.out("sim fault list; sim chatter; sim profile") == "0\ndocumented\n"
        assert phone.system.display.awake

    def test_shells_that_are_open(self) -> None:
        """A shell that was open before sees the phone as it is after."""
        phone = Phone()

        out = phone.out(
            "settings put global x 1; echo y > /sdcard/y; sim reset;"
            " settings get global x; [ -e /sdcard/y ] || echo gone"
        )

        assert out == "null\ngone\n"

    def test_operator_still_answers(self) -> None:
        """After it the Operator works as before."""
        phone = Phone()
        phone.out("sim reset")

        async def act() -> str:
            await phone.shell(broadcast(HOME))
            return await phone.logged("[Clawperator-Result]")

        assert '"status":"success"' in asyncio.run(act())


class TestOthers:
    """The rest."""

    def test_the_chatter_rate_is_read_and_set(self) -> None:
        """The rate of other processes' lines can be read and set."""
        phone = Phone()

        assert phone.out("sim chatter; sim chatter 12.5; sim chatter") == "0\n12.5\n"

    @pytest.mark.parametrize("rate", ["x", "-1", "1e9", "nan"])
    def test_an_invalid_rate_is_refused(self, rate: str) -> None:
        """A rate that is invalid is refused with what does."""
        ended = Phone().run(f"sim chatter {rate}")

        assert ended.status == 1
        assert "from 0 to 10000" in ended.err

    @pytest.mark.parametrize("arguments", ["", "help"])
    def test_help_lists_the_commands(self, arguments: str) -> None:
        """Help lists the commands."""
        assert Phone().out(f"sim {arguments}").startswith("usage: sim COMMAND\n")

    def test_an_unknown_command_is_refused(self) -> None:
        """A command that does not exist is refused with those there are."""
        assert Phone().run("sim fly").err == (
            "sim: there is no command 'fly'."
            " Commands: fault, stats, chatter, anr, allow, screen, profile, reset, help.\n"
        )


class TestAnr:
    """An app that does not respond."""

    def test_the_system_reports_it(self) -> None:
        """The report comes from the system's own process."""
        phone = Phone()

        phone.out("sim anr com.example.shop")

        report = phone.device.log.since(1)[-1]
        assert report.message.startswith("ANR in com.example.shop\nPID: ")
        assert str(report.pid) == phone.out("pidof system_server").strip()

    def test_a_package_must_be_named(self) -> None:
        """Without one the command says how it is written."""
        ended = Phone().run("sim anr")

        assert ended.err == "sim: no package is named. Write: sim anr com.example.shop.\n"


class TestScreen:
    """``sim screen``."""

    def test_the_outline_names_app_windows_and_nodes(self) -> None:
        """The outline names app, windows, roles, texts and bounds."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        lines = phone.out("sim screen").splitlines()

        assert lines[0] == f"{SETTINGS}/{SETTINGS}.Settings"
        assert f"application window of {SETTINGS}, active" in lines
        assert any("'Connected devices'" in line and line.endswith("]") for line in lines)
