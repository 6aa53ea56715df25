"""What a script finds in its environment."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clawperator.skills import run
from pytest_clawperator.skills.run import adb_socket, host_program, script_environment


def test_a_script_finds_program_operator_and_server() -> None:
    """What it had already stays, but for these."""
    found = script_environment(
        {"A": "1"}, operator_package="com.op", adb="127.0.0.1:5", more={"B": "2"}
    )

    assert found == {
        "A": "1",
        "B": "2",
        "CLAWPERATOR_BIN": host_program(),
        "CLAWPERATOR_OPERATOR_PACKAGE": "com.op",
        "ADB_SERVER_SOCKET": "tcp:127.0.0.1:5",
    }


def test_a_program_that_was_chosen_stays() -> None:
    """As in the published program."""
    found = script_environment({"CLAWPERATOR_BIN": "mine"}, operator_package="com.op")

    assert found["CLAWPERATOR_BIN"] == "mine"


@pytest.mark.parametrize("place", ["/no/place/python", None])
def test_the_host_program_runs(place: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside this Python if it is installed there, else as a module."""
    if place is not None:
        real = sys.executable
        monkeypatch.setattr(run, "Path", lambda _: Path(place))
        assert host_program() == f"{real} -m pytest_clawperator"

    done = subprocess.run([*shlex.split(host_program()), "--version"], capture_output=True)

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("server", "socket"),
    [("127.0.0.1:5037", "tcp:127.0.0.1:5037"), ("5037", "tcp:127.0.0.1:5037"),
     ("/tmp/adb", "localfilesystem:/tmp/adb"), ("tcp:lab:5037", "tcp:lab:5037")],
)  # fmt: skip
def test_servers_are_written_as_adb_reads_them(server: str, socket: str) -> None:
    """Whichever way they were given."""
    assert adb_socket(server) == socket
