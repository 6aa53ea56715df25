"""Control characters are shown, and everything that people read stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_clawperator import Snapshot
from pytest_clawperator.text import (
    shown_path,
    visible,
    visible_in_json,
    visible_in_xml,
    visible_line,
)

SHOWN = {
    "\x1b[2J": r"\x1b[2J",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "\x9b31m": r"\x9b31m",
    "\x00\x08\x0b\x0c\x7f": r"\x00\x08\x0b\x0c\x7f",
    "over\rwritten": r"over\rwritten",
    "user\u202egpj.exe": r"user\u202egpj.exe",
    "\u2066left\u2069": r"\u2066left\u2069",
    "line\u2028para\u2029": r"line\u2028para\u2029",
    "no\u200bwidth\ufeff": r"no\u200bwidth\ufeff",
    "pass\u200dword": r"pass\u200dword",
    "half \ud83d": r"half \ud83d",
}
PLAIN = (
    "two\n\tlines",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "e\u0301 \u1e0d\u0307",
    "\u65e5\u672c\u8a9e \xa0 \ue001",
)


def test_what_a_terminal_would_obey_is_shown() -> None:
    """Control characters are written out; emoji, scripts of any direction and marks are kept."""
    for text, shown in SHOWN.items():
        assert visible(text) == visible_line(text) == shown, ascii(text)
    for text in PLAIN:
        assert visible(text) == text, ascii(text)
    # In one line, line breaks and unusual spaces are shown, too.
    assert visible_line("a\nb\tc\xa0d") == r"a\nb\tc\xa0d"
    assert visible_line(PLAIN[1]) == PLAIN[1]


def test_a_hierarchy_keeps_its_meaning() -> None:
    """A hierarchy whose control characters became references is read as before."""
    text = "\x1b[2J \u202e \x9b \ud83d &quot;"
    xml = f'<hierarchy rotation="0"><node text="{text}" bounds="[0,0][9,9]" /></hierarchy>'

    safe = visible_in_xml(xml)

    assert safe.isascii()
    assert safe.isprintable()
    before, after = Snapshot.from_xml(xml), Snapshot.from_xml(safe)
    assert before.root.text == after.root.text


def test_json_keeps_its_meaning() -> None:
    """Every hidden character becomes an escape that means the same."""
    for text in ("\x9b31m", "\u202eabc", "\x7f", "half \ud800 pair", "Настройки"):
        shown = visible_in_json(json.dumps({"text": text}, ensure_ascii=False))

        assert json.loads(shown) == {"text": text}
        assert visible(shown) == shown


@pytest.mark.parametrize(("path", "shown"), [("results/a", "results/a"), ("/other/a", "/other/a")])
def test_a_path_below_the_folder_is_relative(tmp_path: Path, path: str, shown: str) -> None:
    """Paths elsewhere are shown in full."""
    assert shown_path(tmp_path / path, tmp_path) == shown
