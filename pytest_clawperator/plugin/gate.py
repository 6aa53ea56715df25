"""The gate: the only way from the front, which is always loaded, to the rooms behind it.

The rooms import what is heavy, at the top of their modules like any code. They are imported
here, once, when a run uses devices or the library.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.stash import IS_GATE_OPEN

if TYPE_CHECKING:
    from pytest_clawperator.plugin.behind_gate import Rooms

_ROOMS = "pytest_clawperator.plugin.behind_gate"
_TEST_FILES = "pytest_clawperator.plugin.test_files"


def import_rooms() -> type[Rooms]:
    """Import the rooms, and return what the front can ask of them; no part is registered."""
    rooms: type[Rooms] = import_module(_ROOMS).Rooms
    return rooms


def open_gate(config: pytest.Config) -> type[Rooms]:
    """Import the rooms and register their parts, once; return what the front can ask of them."""
    rooms = import_rooms()
    if IS_GATE_OPEN not in config.stash:
        config.stash[IS_GATE_OPEN] = True
        manager = config.pluginmanager
        for part in rooms.parts:
            if not manager.is_blocked(part.__name__) and not manager.has_plugin(part.__name__):
                manager.register(part, part.__name__)
    return rooms


def open_test_files(config: pytest.Config) -> ModuleType | None:
    """Open the gate, and return the part that reads test files, which few projects have.

    None if that part is switched off.
    """
    manager = config.pluginmanager
    if manager.is_blocked(_TEST_FILES):
        return None
    open_gate(config)
    part = import_module(_TEST_FILES)
    if not manager.has_plugin(_TEST_FILES):
        manager.register(part, _TEST_FILES)
    return part
