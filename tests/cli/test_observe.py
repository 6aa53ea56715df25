"""What is on the screen: snapshot, screenshot, read, wait and sleep."""

from __future__ import annotations

import json
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


def test_a_text_is_read_alone_for_people(settings: Cli) -> None:
    """A script of a shell gets the text without anything around it."""
    printed = settings("read", "--text-contains", "Bluetooth", "--output", "pretty")

    assert "Bluetooth" in printed.out
    assert printed.out.count("\n") == 1


def test_all_texts_need_json(settings: Cli) -> None:
    """Several texts cannot be told apart but in JSON, which must be asked for."""
    refused = settings("read", "--role", "text", "--all")
    texts = json.loads(settings("read", "--role", "text", "--all", "--json").step["data"]["text"])

    assert refused.json["code"] == "EXECUTION_VALIDATION_FAILED"
    assert any("Bluetooth" in text for text in texts)


def test_a_value_is_read_beside_its_label(settings: Cli) -> None:
    """The label can be described by each of its flags."""
    settings("scroll-and-click", "--text", "About phone")

    printed = settings("read-value", "--label", "Android version", "--output", "pretty")

    assert printed.out.strip().isdecimal()


def test_a_reading_can_be_rehearsed(cli: Cli) -> None:
    """Nothing is sent; the plan says what would be."""
    printed = cli("read-value", "--text", "Battery", "--dry-run", "--device", "no-such-device")

    assert printed.json["plan"]["actions"][0]["params"]["labelMatcher"] == {"textEquals": "Battery"}


def test_a_wait_lasts_as_long_as_was_said(cli: Cli) -> None:
    """The time is sent as pauses too, because the Operator counts those."""
    printed = cli("wait", "--text", "Never", "--timeout", "900")

    assert (printed.code, printed.step["success"]) == (1, False)


def test_an_app_in_front_is_waited_for(settings: Cli) -> None:
    """Both spellings, by app and by element."""
    by_app = settings("wait-for-nav", "--app", "com.android.settings", "--timeout", "3000")
    by_node = settings("wait-for-navigation", "--text", "Settings", "--timeout", "3000")

    assert (by_app.code, by_node.code) == (0, 0)


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["wait", "--text", "x", "--timeout", "0"], "EXECUTION_VALIDATION_FAILED"),
        (["wait-for-nav", "--app", "a"], "MISSING_ARGUMENT"),
        (["wait-for-nav", "--timeout", "500"], "MISSING_ARGUMENT"),
        (["wait-for-nav", "--app", " ", "--timeout", "5"], "EXECUTION_VALIDATION_FAILED"),
        (["wait-for-nav", "--app", "a", "--timeout", "x"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep", "abc"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep", "-5"], "EXECUTION_VALIDATION_FAILED"),
        (["sleep"], "MISSING_ARGUMENT"),
    ],
)
def test_times_are_checked(argv: list[str], code: str, cli: Cli) -> None:
    """Each command tells in its own words which times it takes."""
    printed = cli(*argv, "--device", "no-such-device")

    assert (printed.code, printed.json["code"]) == (1, code)


def test_the_device_can_do_nothing_for_a_while(cli: Cli) -> None:
    """A sleep is an execution of its own."""
    assert cli("sleep", "10").step["data"]["duration_ms"] == "10"
