"""The device of a command: other variants of the Operator, other hosts, other users."""

from __future__ import annotations

import pytest

from pytest_clawperator.cli import session
from pytest_clawperator.devices import connection
from pytest_clawperator.devices.health import Readiness
from pytest_clawperator.devices.inventory import ConnectedDevice
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.cli.conftest import Cli
from tests.doubles.host import SERIAL, running_host


def test_another_variant_is_told_and_then_the_reason(cli: Cli, phone: AdbTransport) -> None:
    """The command goes on as published; as nobody answers, the error names the other variant."""
    phone.shell("sim fault operator_variant")

    refused = cli("sleep", "1")
    named = cli("sleep", "1", "--operator-package", "com.clawperator.operator.dev")

    assert "OPERATOR_VARIANT_MISMATCH" in refused.err
    assert (refused.code, refused.json["code"]) == (1, "OPERATOR_VARIANT_MISMATCH")
    assert "--operator-package com.clawperator.operator.dev" in refused.json["hint"]
    assert named.code == 0


def test_an_operator_that_is_not_there_is_told_with_how_to_install_it(
    cli: Cli, simulator: Simulator
) -> None:
    """The details are those of the published program."""
    printed = cli("sleep", "1", "--operator-package", "com.example.none")

    assert (printed.code, printed.json["code"]) == (1, "OPERATOR_NOT_INSTALLED")
    command = printed.json["details"]["installCommand"]
    assert command.startswith("clawperator-py operator setup --apk ")
    assert command.endswith(f"--device {simulator.serials[0]} --operator-package com.example.none")


def test_a_device_of_another_host_is_used(cli: Cli) -> None:
    """Its address stands in the place of a serial."""
    with running_host() as host:
        printed = cli("press", "home", "--device", f"{host.url}/{SERIAL}")

    assert (printed.code, printed.json["deviceId"]) == (0, SERIAL)
    assert host.bodies[0]["execution"]["actions"][0]["type"] == "press_key"


def test_a_wrong_package_is_refused_before_anything_is_opened(cli: Cli) -> None:
    """It would become a part of commands on the device."""
    printed = cli("sleep", "1", "--operator-package", "a;b", "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, "CONFIGURATION_INVALID")


@pytest.mark.parametrize("argv", [["logs"], ["packages", "list"], ["leases"], ["record", "pull"]])
def test_a_device_of_another_host_has_no_shell(argv: list[str], cli: Cli) -> None:
    """What needs more than executions says so, and which device would do."""
    printed = cli(*argv, "--device", "http://127.0.0.1:1/x")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_SHELL_UNAVAILABLE")
    assert "--device SERIAL" in printed.json["hint"]


def test_a_device_that_does_not_tell_its_apps_is_not_used(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent to an Operator that may not be there."""
    monkeypatch.setattr(session, "read_readiness", lambda *_: Readiness())

    printed = cli("sleep", "1")

    assert (printed.code, printed.json["code"]) == (1, "OPERATOR_NOT_INSTALLED")
    assert "pm list packages" in printed.json["hint"]


def test_a_device_that_is_starting_is_told_as_such(cli: Cli, phone: AdbTransport) -> None:
    """It does not tell its apps either, but that is not what is wrong."""
    phone.shell("sim fault booting")

    printed = cli("sleep", "1")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_OFFLINE")
    assert "not finished starting" in printed.json["message"]


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
def test_a_chosen_device_that_cannot_be_used_is_told_as_published(
    state: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is that of a missing one, with what could be used; the message says the cause."""
    there = [ConnectedDevice(serial, kind, AdbServer()) for serial, kind in
             (("R58N1", state), ("PH2", "device"))]  # fmt: skip
    for module in (connection, session):
        monkeypatch.setattr(module, "list_devices", lambda _: there)

    printed = cli("sleep", "1", "--device", "R58N1")

    assert (printed.code, printed.json["code"]) == (1, "DEVICE_NOT_FOUND")
    assert printed.json["details"]["connected"] == ["PH2"]
    assert state in printed.json["message"]
