"""``serve`` as people start it: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from pytest_clawperator.cli.app import run
from pytest_clawperator.simulator import Simulator

DEADLINE = 30


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Start a phone."""
    with Simulator(seed=1, time_scale=0.05) as simulator:
        yield simulator


@contextmanager
def served(
    simulator: Simulator, locks: Path, *options: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the program; yield its url and the process."""
    adb = f"{simulator.adb_host}:{simulator.adb_port}"
    command = [sys.executable, "-m", "pytest_clawperator", "serve", "--port", "auto", *options]
    process = subprocess.Popen(
        [*command, "--adb", adb],
        env={**os.environ, "CLAWPERATOR_LEASE_DIR": str(locks)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"Clawperator API server listening on (http://\S+)\n", line)
        assert found is not None, line + process.stderr.read()
        yield found[1], process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_runs_until_a_signal(
    simulator: Simulator, tmp_path: Path, number: signal.Signals
) -> None:
    """It answers, says nothing more, and leaves nothing behind."""
    with served(simulator, tmp_path) as (url, process):
        answer = httpx.post(f"{url}/snapshot", json={}, timeout=30)
        process.send_signal(number)
        said = process.communicate(timeout=DEADLINE)

    assert answer.json()["ok"], answer.text
    assert "Traceback" not in said[1]
    assert list(tmp_path.iterdir()) == []


def test_a_new_token_is_printed_once(simulator: Simulator, tmp_path: Path) -> None:
    """Beyond this machine nobody is let in without it."""
    with served(simulator, tmp_path, "--host", "0.0.0.0") as (url, process):
        assert process.stderr is not None
        token = process.stderr.readline().removeprefix("token: ").strip()
        here = url.replace("0.0.0.0", "127.0.0.1")
        refused = httpx.get(f"{here}/devices")
        allowed = httpx.get(f"{here}/devices", headers={"authorization": f"Bearer {token}"})

    assert (refused.status_code, allowed.status_code) == (401, 200)


def test_a_token_comes_from_a_file(simulator: Simulator, tmp_path: Path) -> None:
    """Nobody sees it on the command line."""
    file, locks = tmp_path / "token", tmp_path / "locks"
    file.write_text("correct-horse\n")
    locks.mkdir()
    with served(simulator, locks, "--token-file", str(file)) as (url, _):
        refused = httpx.get(f"{url}/devices")
        allowed = httpx.get(f"{url}/devices", headers={"authorization": "Bearer correct-horse"})

    assert (refused.status_code, allowed.status_code) == (401, 200)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--token", "a-long-token", "--insecure"], "--insecure OR a token"),
        (["--token", "a-long-token", "--token-file", "f"], "--token OR --token-file"),
        (["--token", "short"], "too short"),
        (["--token-file", "/no/such/file"], "cannot be read"),
        (["--host", "not an address"], "cannot listen"),
    ],
)
def test_what_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    """Before anything listens."""
    code = run(["serve", "--json", *options])

    assert code == 1
    assert told in json.loads(capsys.readouterr().out)["message"]


@pytest.mark.parametrize("port", ["0", "65536", "x"])
def test_a_port_that_cannot_be_is_told(capsys: pytest.CaptureFixture[str], port: str) -> None:
    """Nothing listens, and the exit code is 0 as published."""
    code = run(["serve", "--json", "--port", port])

    told = json.loads(capsys.readouterr().out)
    assert (code, told["code"]) == (0, "USAGE")
    assert "--port must be" in told["message"]
