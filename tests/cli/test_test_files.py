"""``convert`` and ``schema``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clawperator.test_files.schema import schema_of_test_files
from tests.cli.conftest import Cli


def test_a_file_is_printed_as_python(
    offline: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain text, ready for a file; a mistake or a missing file is an error with its place."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.claw.yaml").write_text("steps: [home]", encoding="utf-8")
    path = tmp_path / "sub" / "test_it.claw.yaml"
    path.write_text("steps: [{use: ../more.claw.yaml}]", encoding="utf-8")

    printed = offline("convert", "sub/test_it.claw.yaml")
    document = offline("convert", "sub/test_it.claw.yaml", "--json").json
    path.write_text("steps: [clik]", encoding="utf-8")
    wrong = offline("convert", "sub/test_it.claw.yaml", "--json")
    missing = offline("convert", "test_it.claw.yaml", "--json")

    assert printed.code == 0
    assert "def test_it(clawperator: Clawperator) -> None:" in printed.out
    compile(printed.out, "test_it.py", "exec")
    assert document["python"].rstrip("\n") == printed.out.rstrip("\n")
    assert wrong.error == missing.error == (1, "TEST_FILE_INVALID")
    assert "test_it.claw.yaml:1:9: " in wrong.json["message"]
    assert "cannot be read" in missing.json["message"]


def test_the_schema_is_printed(offline: Cli) -> None:
    """What is printed is the schema, for a file."""
    assert json.loads(offline("schema").out) == schema_of_test_files()
