"""The rooms of the screen import each other in the order in which its docstring lists them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pytest_clawperator.simulator import screen

FOLDER = Path(screen.__file__).parent
NAME = screen.__name__
ROOMS = re.findall(r"^ +(\w+)/ ", str(screen.__doc__), re.MULTILINE)


def rooms_imported_by(path: Path) -> set[str]:
    """Return the rooms that a module imports from."""
    modules = [
        node.module or ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    return {
        module.removeprefix(f"{NAME}.").split(".")[0]
        for module in modules
        if module.startswith(f"{NAME}.")
    }


def test_the_docstring_lists_every_room() -> None:
    """No folder is missing in it, and none is invented."""
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}

    assert folders == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_listed_above_it(room: str) -> None:
    """So nothing that a touch sets off can lead back up."""
    allowed = set(ROOMS[: ROOMS.index(room) + 1])

    found = {path.name: rooms_imported_by(path) - allowed for path in (FOLDER / room).glob("*.py")}

    assert {name: rooms for name, rooms in found.items() if rooms} == {}
