"""The device of a command: other variants of the Operator, other hosts, other users."""

from __future__ import annotations

import pytest

from pytest_clawperator.cli import session
from pytest_clawperator.devices import connection
from pytest_clawperator.devices.inventory import ConnectedDevice
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.cli.conftest import Cli
from tests.doubles.host import SERIAL, running_host


def test_another_variant_is_reported_and_then_the_reason(cli: Cli, phone: AdbTransport) -> None:
    """The command goes on as published; without an answer the error names the other variant."""
    phone.shell("sim fault operator_variant")

    refused = cli("sleep", "1")
    named = cli("sleep", "1", "--operator-package", "com.clawperator.operator.dev")

    assert "OPERATOR_VARIANT_MISMATCH" in refused.err
    assert refused.error == (1, "OPERATOR_VARIANT_MISMATCH")
    assert "--operator-package com.clawperator.operator.dev" in refused.json["hint"]
    assert named.code == 0


def test_a_missing_operator_is_reported_with_the_command_that_installs_it(
    cli: Cli, simulator: Simulator
) -> None:
    """The details are those of the published program."""
    printed = cli("sleep", "1", "--operator-package", "com.example.none")

    assert printed.error == (1, "OPERATOR_NOT_INSTALLED")
    command = printed.json["details"]["installCommand"]
    assert command.startswith("clawperator-py operator setup --apk ")
    assert command.endswith(f"--device {simulator.serials[0]} --operator-package com.example.none")


def test_a_device_of_another_host_is_used(offline: Cli) -> None:
    """Its address stands in the place of a serial."""
    with running_host() as host:
        printed = offline("press", "home", "--device", f"{host.url}/{SERIAL}")

    assert (printed.code, printed.json["deviceId"]) == (0, SERIAL)
    assert host.bodies[0]["execution"]["actions"][0]["type"] == "press_key"


def test_a_device_that_does_not_list_its_apps_is_not_used(
    cli: Cli, phone: AdbTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent to an Operator that may be missing; a device that starts is named so."""
    phone.shell("sim fault booting")
    starting = cli("sleep", "1")
    phone.shell("sim reset")
    shell = AdbTransport.shell

    def without_apps(self: AdbTransport, command: str, **more: object) -> object:
        return shell(self, command.replace("pm list packages", "false"), **more)  # type: ignore[arg-type]

    monkeypatch.setattr(AdbTransport, "shell", without_apps)
    silent = cli("sleep", "1")

    assert starting.error == (1, "DEVICE_OFFLINE")
    assert "not finished starting" in starting.json["message"]
    assert silent.error == (1, "OPERATOR_NOT_INSTALLED")
    assert "pm list packages" in silent.json["hint"]


@pytest.mark.parametrize("state", ["unauthorized", "offline"])
def test_a_chosen_device_that_cannot_be_used_is_reported_as_published(
    state: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is that of a missing one, with what could be used; the message has the cause."""
    server = AdbServer()
    there = [ConnectedDevice("R58N1", state, server), ConnectedDevice("PH2", "device", server)]
    for module in (connection, session):
        monkeypatch.setattr(module, "list_devices", lambda _: there)

    printed = cli("sleep", "1", "--device", "R58N1")

    assert printed.error == (1, "DEVICE_NOT_FOUND")
    assert printed.json["details"]["connected"] == ["PH2"]
    assert state in printed.json["message"]
