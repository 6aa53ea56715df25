"""The gate: the only way from the front, which is always loaded, to the modules behind it.

The modules behind the gate import heavy packages, at the top like any code. They are imported
here, once, when a run uses devices or the library.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

from pytest_clawperator.plugin.stash import IS_GATE_OPEN

_PACKAGE = __name__.rpartition(".")[0]


def open_gate(config: pytest.Config) -> None:
    """Begin a run that uses devices or the library, unless it has begun."""
    if IS_GATE_OPEN not in config.stash:
        config.stash[IS_GATE_OPEN] = True
        import_module(f"{_PACKAGE}.lifecycle").begin(config)


def behind_gate(config: pytest.Config, name: str) -> ModuleType:
    """Open the gate, and return the module of this name."""
    open_gate(config)
    return import_module(f"{_PACKAGE}.{name}")
