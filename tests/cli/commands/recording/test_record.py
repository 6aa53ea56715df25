"""Recordings on a simulated phone, from their start to their steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_a_recording_becomes_steps(cli: Cli, tmp_path: Path) -> None:
    """It is started, stopped, fetched and parsed; both names of the group work."""
    cli("record", "start", "--session-id", "first")
    cli("press", "home")
    cli("click", "--text", "Settings")
    stopped = cli("recording", "stop")
    pulled = cli("record", "pull", "--out", str(tmp_path))
    parsed = cli("record", "parse", pulled.json["localPath"])

    assert stopped.step["data"]["sessionId"] == "first"
    assert pulled.json["sessionId"] == "first"
    steps = json.loads((tmp_path / "first.steps.json").read_text())["steps"]
    assert parsed.json["stepCount"] == len(steps)
    assert "click" in [step["type"] for step in steps]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["record", "pull"], "RECORDING_SESSION_NOT_FOUND"),
        (["record", "pull", "--session-id", "../x"], "RECORDING_SESSION_NOT_FOUND"),
        (["record", "pull", "--session-id", "nope"], "RECORDING_PULL_FAILED"),
        (["record", "parse", "no-such-file"], "FILE_UNAVAILABLE"),
    ],
)
def test_a_recording_that_is_not_there_is_told(argv: list[str], code: str, cli: Cli) -> None:
    """Names that lead elsewhere are refused before they become a path."""
    printed = cli(*argv)

    assert (printed.code, printed.json["code"]) == (1, code)


def test_a_stop_without_a_start_fails(cli: Cli) -> None:
    """The Operator says so in the envelope."""
    printed = cli("record", "stop")

    assert (printed.code, printed.step["data"]["error"]) == (1, "RECORDING_NOT_IN_PROGRESS")
