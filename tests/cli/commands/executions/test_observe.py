"""What is on the screen, as JSON, as XML, as an outline and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from tests.cli.conftest import Cli


def test_a_snapshot_is_the_envelope_with_the_hierarchy(cli: Cli) -> None:
    """Programs get the wrapper of the contract."""
    printed = cli("snapshot")

    assert printed.code == 0
    assert printed.json["terminalSource"] == "clawperator_result"
    assert printed.json["isCanonicalTerminal"] is True
    assert "<hierarchy" in printed.step["data"]["text"]


@pytest.mark.parametrize("argv", [["observe", "snapshot"], ["snapshot", "--json"]])
def test_a_snapshot_has_several_spellings(argv: list[str], cli: Cli) -> None:
    """The nested spelling and the flat one do the same."""
    assert cli(*argv).step["actionType"] == "snapshot_ui"


def test_xml_can_be_put_into_a_file(cli: Cli) -> None:
    """With --xml stdout is the hierarchy and nothing else."""
    printed = cli("snapshot", "--xml")

    assert ElementTree.fromstring(printed.out.encode()).tag == "hierarchy"


def test_an_outline_is_for_people(cli: Cli) -> None:
    """An outline shows nodes by role and text; people get it without asking."""
    outline = cli("snapshot", "--outline").out

    assert '- button "Settings"' in outline
    assert cli("snapshot", "--output", "pretty").out == outline
    assert cli("snapshot", "--outline", "--json").json["outline"] in outline


def test_hostile_text_on_the_screen_is_shown_and_not_obeyed(cli: Cli) -> None:
    """An app cannot write to the terminal of whoever looks at it."""
    cli("open", "com.clawperator.conformance")
    outputs = [cli("snapshot", *how).out for how in ([], ["--xml"], ["--outline"])]

    assert all("\x1b" not in text and "\u202e" not in text for text in outputs)


def test_two_forms_at_once_are_refused(cli: Cli) -> None:
    """An outline and XML cannot both be on stdout."""
    printed = cli("snapshot", "--xml", "--outline")

    assert (printed.code, printed.json["code"]) == (1, "USAGE")


def test_a_picture_is_written_where_it_is_wanted(cli: Cli, tmp_path: Path) -> None:
    """With --path the picture is there, and the answer names it."""
    wanted = tmp_path / "screen.png"

    printed = cli("screenshot", "--path", str(wanted))

    assert printed.step["data"]["path"] == str(wanted)
    assert wanted.read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_a_path_stays(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the folder for temporary files, and people get its path alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    printed = cli("screenshot", "--output", "pretty")

    assert Path(printed.out.strip()).parent == tmp_path
    assert Path(printed.out.strip()).read_bytes().startswith(b"\x89PNG")


def test_a_picture_can_be_opened(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --open the system's program for pictures is started with it."""
    opened: list[str] = []

    def launch(path: str, **_: Any) -> int:
        opened.append(path)
        return 0

    monkeypatch.setattr(click, "launch", launch)
    cli("screenshot", "--open", "--path", str(tmp_path / "screen.png"))

    assert opened == [str(tmp_path / "screen.png")]
