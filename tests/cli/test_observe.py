"""What is on the screen: snapshot, screenshot, read, wait and sleep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from tests.cli.conftest import Cli


def test_a_snapshot_is_printed_in_several_forms(cli: Cli) -> None:
    """The envelope for programs, XML for a file, an outline for people."""
    printed, outline = cli("snapshot"), cli("snapshot", "--outline").out

    assert printed.code == 0
    assert printed.json["terminalSource"] == "clawperator_result"
    assert printed.json["isCanonicalTerminal"] is True
    assert "<hierarchy" in printed.step["data"]["text"]
    assert cli("observe", "snapshot").step["actionType"] == "snapshot_ui"
    assert ElementTree.fromstring(cli("snapshot", "--xml").out.encode()).tag == "hierarchy"
    assert '- button "Settings"' in outline
    assert cli("snapshot", "--output", "pretty").out == outline
    assert cli("snapshot", "--outline", "--json").json["outline"] in outline


def test_hostile_text_on_the_screen_is_escaped(cli: Cli) -> None:
    """An app cannot control the terminal of the reader."""
    cli("open", "com.clawperator.conformance")
    outputs = [cli("snapshot", *how).out for how in ([], ["--xml"], ["--outline"])]

    assert all("\x1b" not in text and "\u202e" not in text for text in outputs)


def test_a_picture_is_written_and_opened(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where --path says, or in the folder for temporary files; people get its path alone."""
    opened: list[str] = []

    def launch(path: str, **_: Any) -> int:
        opened.append(path)
        return 0

    monkeypatch.setattr(click, "launch", launch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    wanted = tmp_path / "screen.png"

    named = cli("screenshot", "--path", str(wanted), "--open")
    unnamed = Path(cli("screenshot", "--output", "pretty").out.strip())

    assert named.step["data"]["path"] == str(wanted)
    assert opened == [str(wanted)]
    assert unnamed.parent == tmp_path
    for path in (wanted, unnamed):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_texts_and_values_are_read(settings: Cli) -> None:
    """People get the text alone; several texts need JSON."""
    one = settings("read", "--text-contains", "Bluetooth", "--output", "pretty")
    every = settings("read", "--role", "text", "--all", "--json").step["data"]["text"]
    settings("scroll-and-click", "--text", "About phone")
    value = settings("read-value", "--label", "Android version", "--output", "pretty")

    assert "Bluetooth" in one.out
    assert one.out.count("\n") == 1
    assert any("Bluetooth" in text for text in json.loads(every))
    assert value.out.strip().isdecimal()


def test_a_reading_can_be_rehearsed(offline: Cli) -> None:
    """Nothing is sent; the plan contains what would be."""
    printed = offline("read-value", "--text", "Battery", "--dry-run", "--device", "none")

    assert printed.json["plan"]["actions"][0]["params"]["labelMatcher"] == {"textEquals": "Battery"}


def test_waits_end_as_asked(settings: Cli) -> None:
    """For an element, an app in front, or a time; both spellings."""
    never = settings("wait", "--text", "Never", "--timeout", "900")
    by_app = settings("wait-for-nav", "--app", "com.android.settings", "--timeout", "3000")
    by_node = settings("wait-for-navigation", "--text", "Settings", "--timeout", "3000")

    assert (never.code, never.step["success"]) == (1, False)
    assert (by_app.code, by_node.code) == (0, 0)
    assert settings("sleep", "10").step["data"]["duration_ms"] == "10"
