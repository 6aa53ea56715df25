"""``convert`` and ``schema``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clawperator.test_files.schema import schema_of_test_files
from tests.cli.conftest import Cli


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the command line is called."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_printed_as_python(cli: Cli, folder: Path) -> None:
    """The Python is plain text, ready for a file; a used file may be anywhere in this folder."""
    (folder / "more.claw.yaml").write_text("steps: [home]", encoding="utf-8")
    path = folder / "sub" / "test_it.claw.yaml"
    path.write_text("steps: [{use: ../more.claw.yaml}]", encoding="utf-8")

    printed = cli("convert", "sub/test_it.claw.yaml")

    assert printed.code == 0
    assert "def test_it(clawperator: Clawperator) -> None:" in printed.out
    compile(printed.out, "test_it.py", "exec")
    assert cli("convert", "sub/test_it.claw.yaml", "--json").json["python"] == printed.out.rstrip(
        "\n"
    ) + ("\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [("steps: [clik]", "test_it.claw.yaml:1:9: "), (None, "cannot be read")],
)
def test_what_cannot_be_converted_is_told(
    text: str | None, told: str, cli: Cli, folder: Path
) -> None:
    """A mistake in the file, or no file, is an error with its code and place."""
    if text is not None:
        (folder / "test_it.claw.yaml").write_text(text, encoding="utf-8")

    printed = cli("convert", "test_it.claw.yaml", "--json")

    assert printed.code == 1
    assert printed.json["code"] == "TEST_FILE_INVALID"
    assert told in printed.json["message"]


def test_the_schema_is_printed(cli: Cli) -> None:
    """What is printed is the schema, for a file."""
    printed = cli("schema")

    assert printed.code == 0
    assert json.loads(printed.out) == schema_of_test_files()
