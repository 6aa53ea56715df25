"""The page for people who come from another tool names only what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_clawperator.contracts import foreign_names
from tests.written_calls import check_call

PAGE = (Path(__file__).parent.parent / "docs" / "coming-from.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?!here|---)(?P<theirs>.+) \| (?P<ours>.+) \|$", re.MULTILINE)
CODE = re.compile(r"`((?:claw|expect)\b[^`]+)`")
ROWS = [(found["theirs"], found["ours"]) for found in ROW.finditer(PAGE)]
CALLS = sorted({code for _, ours in ROWS for code in CODE.findall(ours)})
NAME = re.compile(r"^`(?:driver|d|page|element|locator|d\(.+?\))\.(\w+)|^`- (\w+)")


@pytest.mark.parametrize("code", CALLS)
def test_our_side_can_be_called(code: str) -> None:
    """Each call on our side has the names and arguments of the package."""
    check_call(code)


def test_each_row_has_something_of_ours() -> None:
    """No row is without an answer, and every tool has a table."""
    assert len(ROWS) > 90
    assert all("`" in ours or "](" in ours or ours.strip() for _, ours in ROWS)
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE)[1:] == [
        "Appium",
        "uiautomator2",
        "Playwright",
        "Maestro",
    ]


def test_names_on_their_side_are_hinted_at() -> None:
    """A method of theirs that the page translates is translated by the error, too."""
    tables = (foreign_names.CLIENT, foreign_names.LOCATOR, foreign_names.DEVICE)
    named = [(NAME.match(theirs), ours) for theirs, ours in ROWS]
    names = {found[1] or found[2] for found, ours in named if found and "claw" in ours}
    ours = re.compile(r"claw\.(?:node\(.*?\)\.|device\.|snapshot\(\)\.)?(\w+)")
    same = {name for _, text in ROWS for name in ours.findall(text)}

    unknown = {
        name
        for name in names - same
        if not any(foreign_names.plain_name(name) in table for table in tables)
    }

    assert unknown == set()
