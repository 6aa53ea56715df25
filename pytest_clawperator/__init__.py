"""Android UI tests in pytest, through the Clawperator Operator app.

The public names are listed in ``__init__.pyi``, which type checkers read. At run time each
name is imported when it is first used, so that importing the package, as pytest does in every
project where it is installed, costs next to nothing.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public name, read from the stub."""
    stub = Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
    imports = [line for line in ast.parse(stub).body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_homes()[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_homes(), *(name for name in globals() if name.startswith("__"))})
