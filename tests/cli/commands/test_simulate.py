"""Simulated phones that run in the background."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport.wire import AdbServer

TOP = Path(__file__).parent.parent.parent.parent
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return the function that runs the program; phones that are left are ended."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}

    def call(*argv: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "pytest_clawperator", *argv, "--json"],
            cwd=TOP,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,  # which ends with it, as a shell's does
        )
        return json.loads(done.stdout)

    yield call
    call("simulate", "stop")


def server_of(phones: dict[str, Any]) -> AdbServer:
    """Return the adb server of the phones."""
    host, _, port = phones["adb"].rpartition(":")
    return AdbServer(host, int(port))


def test_phones_go_on_and_leave_nothing_when_they_are_stopped(run: Run, tmp_path: Path) -> None:
    """They outlive the command that started them; a stop ends their server and their file.

    The file could not go while the process has it locked.
    """
    phones = run("simulate", "--devices", "2")
    assert run("simulate", "list") == {"simulators": [phones]}
    assert sorted(serial for serial, _ in server_of(phones).devices()) == sorted(phones["serials"])

    assert run("simulate", "stop", str(phones["pid"]))["stopped"] == [phones]

    with pytest.raises(AdbUnavailableError):
        server_of(phones).version()
    assert list(tmp_path.iterdir()) == []


def test_phones_that_were_killed_are_forgotten(run: Run) -> None:
    """A file of phones that are gone is removed, and its process id means nothing."""
    phones = run("simulate")
    os.kill(phones["pid"], signal.SIGKILL)

    while run("simulate", "list")["simulators"]:
        pass  # until the system has ended it

    assert run("simulate", "stop") == {"ok": True, "stopped": []}


def test_wrong_options_start_nothing(run: Run, tmp_path: Path) -> None:
    """The error says what is allowed, and no file is left."""
    assert run("simulate", "--devices", "1000")["code"] == "CONFIGURATION_INVALID"
    assert run("simulate", "stop", "4711")["code"] == "USAGE"
    assert list(tmp_path.rglob("*.json")) == []
