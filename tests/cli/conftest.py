"""A simulated phone, and the command line run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli.app import run
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_fixtures import bench, sdk_of_session

__all__ = ["bench", "sdk_of_session"]


@dataclass(frozen=True)
class Printed:
    """What a command line returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON on stdout."""
        return json.loads(self.out)

    @property
    def step(self) -> Any:
        """The only step of the envelope on stdout."""
        [step] = self.json["envelope"]["stepResults"]
        return step

    @property
    def error(self) -> tuple[int, str]:
        """The exit code and the code of the error on stdout."""
        return self.code, self.json["code"]


Cli = Callable[..., Printed]
TOP = Path(__file__).parents[2]


def start(
    simulator: Simulator, *argv: str, program: Sequence[str] = ("-m", "pytest_clawperator")
) -> subprocess.Popen[bytes]:
    """Start the program itself on the phone."""
    phone = {"ANDROID_SERIAL": simulator.serials[0]}
    return subprocess.Popen(
        [sys.executable, *program, *argv],
        cwd=TOP,
        env={**os.environ, **phone, "ANDROID_ADB_SERVER_PORT": str(simulator.adb_port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start a phone whose Operator pauses briefly."""
    with Simulator(devices=1, seed=15, time_scale=0.02) as simulator:
        yield simulator


@pytest.fixture
def phone(simulator: Simulator) -> Iterator[AdbTransport]:
    """Connect to the phone, and reset it afterwards."""
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    transport = AdbTransport(server, simulator.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return the function that runs a command line without any phone."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE", "ADB_SERVER_SOCKET"):
        monkeypatch.delenv(name, raising=False)

    def call(*argv: str) -> Printed:
        capsys.readouterr()
        code = run(argv)
        printed = capsys.readouterr()
        return Printed(code, printed.out, printed.err)

    return call


@pytest.fixture
def cli(
    simulator: Simulator, phone: AdbTransport, offline: Cli, monkeypatch: pytest.MonkeyPatch
) -> Cli:
    """Return the function that runs a command line on the phone."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(simulator.adb_port))
    # adb also finds what else listens on this machine, such as an emulator.
    monkeypatch.setenv("ANDROID_SERIAL", simulator.serials[0])
    return offline


@pytest.fixture
def settings(cli: Cli) -> Cli:
    """Open the Settings, which takes a moment, and return the function that runs commands."""
    cli("open", "com.android.settings")
    deadline = time.monotonic() + 20
    while cli("wait", "--text", "Connections").code and time.monotonic() < deadline:
        pass  # each wait ends when the node is there, or after a while
    return cli
