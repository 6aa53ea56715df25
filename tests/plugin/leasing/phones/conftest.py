"""Runs with emulators as processes of their own, which are killed and interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clawperator.emulators import claims
from tests.doubles import own_ports
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.plugin.conftest import EMULATOR_OPTIONS, Run

Start = Callable[..., "subprocess.Popen[str]"]
ROOT = Path(__file__).parents[4]


class Room:
    """A place for runs that disturb no others, where everything that they leave is seen."""

    def __init__(self, bench: SdkBench, locks: Path) -> None:
        self._bench = bench
        self._locks = locks

    def left(self) -> list[str]:
        """Return what is left: processes, virtual devices, images, and files of any kind."""
        calls = self._bench.sdk.calls()
        folder = self._bench.folder
        processes = [f"{call.tool} {call.arguments}" for call in calls if _lives(call.pid, folder)]
        half_done = (folder / ".temp").glob("*")
        locks = self._locks.iterdir() if self._locks.is_dir() else ()
        files = [*half_done, *self._bench.home.iterdir(), *locks]
        return [*processes, *map(str, [*self._bench.running(), *files])]


@pytest.fixture
def room(
    run_emulators: Run,
    bench: SdkBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Room:
    """Give the runs of a test lock files and ports of their own."""
    worker = getattr(request.config, "workerinput", {"workerid": "gw0"})["workerid"]
    number = int(worker.removeprefix("gw"))
    mine = own_ports.own_ports(number)
    monkeypatch.setattr(claims, "FIRST_PORT", mine[0])
    monkeypatch.setattr(claims, "LAST_PORT", mine[-1])
    monkeypatch.setenv(own_ports.VARIABLE, str(number))
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path / "locks"))
    return Room(bench, tmp_path / "locks")


@pytest.fixture
def start_emulators(room: Room, pytester: pytest.Pytester) -> Start:
    """Return the function that starts a run on emulators as a process of its own."""

    def start_emulators(*options: str, **variables: str) -> subprocess.Popen[str]:
        plugins = ["xdist", "no:cacheprovider", "tests.doubles.own_ports"]
        loaded = [word for name in plugins for word in ("-p", name)]
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *loaded, *EMULATOR_OPTIONS, *options],
            cwd=pytester.path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start_emulators


def _lives(pid: int, sdk: Path) -> bool:
    """Whether a process of a tool of this SDK has not ended; ids are used again, also by others."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"simulated_sdk" in command and bytes(sdk) in command
