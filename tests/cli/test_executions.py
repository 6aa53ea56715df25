"""Whole payloads from an argument, a file or stdin."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

PAYLOAD: dict[str, Any] = {
    "commandId": "c-1",
    "taskId": "t-1",
    "source": "test",
    "expectedFormat": "android-ui-automator",
    "timeoutMs": 30000,
    "actions": [{"id": "s", "type": "sleep", "params": {"durationMs": 1}}],
}

TEXT = json.dumps(PAYLOAD)


@pytest.mark.parametrize("flag", ["", "--payload", "--execution", "--input", "--file"])
def test_a_payload_is_an_argument_or_a_file(flag: str, cli: Cli, tmp_path: Path) -> None:
    """Under each name of the option, as JSON and as the path of a file."""
    file = tmp_path / "payload.json"
    file.write_text(TEXT)

    for source in (TEXT, str(file)):
        printed = cli("exec", *([flag] if flag else []), source)
        assert (printed.code, printed.json["envelope"]["commandId"]) == (0, "c-1")


def test_a_payload_comes_from_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash stands for stdin; `execute` is the same command."""
    monkeypatch.setattr("sys.stdin", io.StringIO(TEXT))

    assert cli("execute", "-").code == 0


def test_validation_fills_in_canonical_names(cli: Cli) -> None:
    """Aliases are understood, nothing is sent, and no device is needed."""
    given = {**PAYLOAD, "actions": [{"id": "s", "type": "snapshot"}]}

    printed = cli("exec", json.dumps(given), "--validate-only", "--device", "no-such-device")

    assert printed.code == 0
    assert printed.json["validated"] is True
    assert printed.json["execution"]["actions"] == [{"id": "s", "type": "snapshot_ui"}]


def test_a_plan_is_for_people_too(cli: Cli) -> None:
    """People get the same document, indented."""
    printed = cli("exec", TEXT, "--dry-run", "--validate-only", "--output", "pretty")

    assert printed.json["plan"]["actionCount"] == 1
    assert printed.out.startswith("{\n  ")


@pytest.mark.parametrize(
    "argv",
    [
        ["exec", "{bad"],
        ["exec", "[]"],
        ["exec", "no-such-file.json"],
        ["exec", "nul\0byte"],
        ["exec", "{}"],
        ["exec", TEXT, "--timeout", "abc"],
        ["exec", TEXT, "--timeout", "-5"],
    ],
)
def test_a_payload_that_cannot_be_is_refused(argv: list[str], cli: Cli) -> None:
    """JSON, file, contract and timeout are checked before anything is sent."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, "EXECUTION_VALIDATION_FAILED")


def test_a_screenshot_in_a_payload_stays(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that the answer names is there after the command."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    actions = [{"id": "p", "type": "take_screenshot"}]

    printed = cli("exec", json.dumps({**PAYLOAD, "actions": actions}))

    assert Path(printed.step["data"]["path"]).read_bytes().startswith(b"\x89PNG")
