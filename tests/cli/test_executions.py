"""Whole payloads from an argument, a file or stdin."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_app import PAYLOAD as TEXT

PAYLOAD = json.loads(TEXT)


def test_a_payload_is_an_argument_a_file_or_stdin(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under each name of the option; `execute` is the same command."""
    file = tmp_path / "payload.json"
    file.write_text(TEXT)
    monkeypatch.setattr("sys.stdin", io.StringIO(TEXT))

    assert cli("execute", "-").code == 0
    for words in ([TEXT], *([flag, str(file)] for flag in ("--payload", "--input"))):
        printed = cli("exec", *words)
        assert (printed.code, printed.json["envelope"]["commandId"]) == (0, "c-1")
    for flag in ("", "--execution", "--file"):
        printed = cli("exec", *filter(None, [flag]), str(file), "--dry-run")
        assert printed.json["plan"]["commandId"] == "c-1"


def test_validation_fills_in_canonical_names(offline: Cli) -> None:
    """Nothing is sent, and no device is needed; people get the plan as indented JSON."""
    given = json.dumps({**PAYLOAD, "actions": [{"id": "s", "type": "snapshot"}]})

    printed = offline("exec", given, "--validate-only", "--device", "no-such-device")
    plan = offline("exec", TEXT, "--dry-run", "--validate-only", "--output", "pretty")

    assert printed.code == 0
    assert printed.json["validated"] is True
    assert printed.json["execution"]["actions"] == [{"id": "s", "type": "snapshot_ui"}]
    assert plan.json["plan"]["actionCount"] == 1
    assert plan.out.startswith("{\n  ")


def test_a_screenshot_in_a_payload_stays(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that the answer names is there after the command."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    actions = [{"id": "p", "type": "take_screenshot"}]

    printed = cli("exec", json.dumps({**PAYLOAD, "actions": actions}))

    assert Path(printed.step["data"]["path"]).read_bytes().startswith(b"\x89PNG")
