"""Which devices there are, and which apps."""

from __future__ import annotations

from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli


def test_devices_are_listed_with_their_state(cli: Cli, simulator: Simulator) -> None:
    """For programs and for people."""
    expected = {"serial": simulator.serials[0], "state": "device"}

    assert expected in cli("devices").json["devices"]
    assert simulator.serials[0] in cli("devices", "--output", "pretty").out


def test_apps_are_listed(cli: Cli) -> None:
    """All of them, or those that were installed later."""
    every = cli("packages", "list").json["packages"]
    later = cli("packages", "list", "--third-party").json["packages"]

    assert "com.android.settings" in every
    assert set(later) < set(every)


def test_a_group_alone_tells_its_commands(cli: Cli) -> None:
    """It is no error, as published."""
    printed = cli("packages")

    assert (printed.code, printed.json["code"]) == (0, "USAGE")
    assert "packages list" in printed.json["message"]


def test_a_device_that_is_not_there_is_named(cli: Cli) -> None:
    """The error says what is connected, and which command lists it."""
    printed = cli("packages", "list", "--device", "nope")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_NOT_FOUND")
    assert "clawperator-py devices" in printed.json["hint"]
