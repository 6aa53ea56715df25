"""``serve`` as people start it: what it prints, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from pytest_clawperator.service import server
from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli


def test_the_service_runs_until_ctrl_c(simulator: Simulator, tmp_path: Path) -> None:
    """It answers those who have the token of the file, and leaves nothing behind."""
    (tmp_path / "token").write_text("correct-horse\n")
    (tmp_path / "locks").mkdir()
    command = [sys.executable, "-m", "pytest_clawperator", "serve", "--port", "auto"]
    command += ["--adb", f"{simulator.adb_host}:{simulator.adb_port}"]
    process = subprocess.Popen(
        [*command, "--token-file", str(tmp_path / "token")],
        env={**os.environ, "CLAWPERATOR_LEASE_DIR": str(tmp_path / "locks")},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"Clawperator API server listening on (http://\S+)\n", line)
    assert found is not None, line
    own = {"authorization": "Bearer correct-horse"}
    serial = {"deviceId": simulator.serials[0]}
    answer = httpx.post(f"{found[1]}/snapshot", json=serial, headers=own, timeout=30)
    refused = httpx.get(f"{found[1]}/devices")
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=30)

    assert answer.json()["ok"], answer.text
    assert refused.status_code == 401
    assert "Traceback" not in printed
    assert list((tmp_path / "locks").iterdir()) == []


def test_options_reach_the_service_and_a_new_token_is_printed_once(
    offline: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is made for an address that other machines reach, unless none is wanted."""
    served: list[server.Service] = []

    async def serve(self: server.Service, _: object, *, started: Callable[[], None]) -> None:
        served.append(self)
        started()

    monkeypatch.setattr(server.Service, "serve", serve)

    made = offline("serve", "--host", "0.0.0.0", "--port", "auto", "--folder", "shots")
    insecure = offline("serve", "--host", "0.0.0.0", "--port", "auto", "--insecure")

    [token] = re.findall(r"^token: (\S+)$", made.err, re.MULTILINE)
    served[0].gate.check(
        "GET", "/devices", {"host": "127.0.0.1", "authorization": f"Bearer {token}"}
    )
    assert "token:" not in insecure.err
    assert "anyone who reaches this machine" in insecure.err
