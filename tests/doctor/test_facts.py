"""The adb servers that run on a computer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_clawperator.doctor import facts
from pytest_clawperator.doctor.facts import RunningServer, as_server, running_servers
from pytest_clawperator.simulator import Simulator


@pytest.mark.parametrize(
    ("command", "port", "takes_usb"),
    [
        ("adb -L tcp:5037 fork-server server --reply-fd 4", 5037, True),
        ("/opt/sdk/platform-tools/adb -P 5039 nodaemon server", 5039, True),
        ("adb server nodaemon", 5037, True),
        ("adb -L tcp:localhost:6000 server nodaemon", 6000, True),
        ("adb -L acceptfd:3 --one-device none server nodaemon", None, False),
    ],
)
def test_a_server_is_known_by_its_command_line(
    command: str, port: int | None, takes_usb: bool
) -> None:
    """The port is that of its options, else the usual one; clients and others are not servers."""
    assert as_server(7, command.split()) == RunningServer(7, port, takes_usb)
    for other in ("", "adb devices", "adb shell ls", "vim server", "badb server"):
        assert as_server(7, other.split()) is None


def test_processes_are_listed_by_ps_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without /proc, as on macOS, the program ps lists them; without both none is known."""
    program = tmp_path / "ps"
    rows = "  1 /sbin/launchd\n 42 /opt/adb -L tcp:5037 fork-server server --reply-fd 4\nnonsense"
    program.write_text(f"#!/bin/sh\ncat <<END\n{rows}\nEND\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(facts, "_PROCESSES", tmp_path / "proc")

    assert running_servers() == [RunningServer(42, 5037, takes_usb=True)]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert running_servers() == []


def test_the_server_of_a_simulator_takes_no_usb_devices(simulator: Simulator) -> None:
    """It is listed, and known to leave the devices of others alone."""
    assert simulator.serials
    assert any(not server.takes_usb for server in running_servers())
