"""The package's root: every public name resolves, and importing it costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_clawperator

HEAVY = ("pydantic", "pydantic_core", "lxml", "adbutils", "yaml", "PIL", "filelock", "pytest")


@pytest.mark.parametrize("name", pytest_clawperator.__all__)
def test_public_names_resolve(name: str) -> None:
    """Each public name gives the object that its home module calls so."""
    value = getattr(pytest_clawperator, name)

    assert value.__name__ == name
    assert value.__doc__


def test_type_checkers_see_the_same_names() -> None:
    """The imports for type checkers, the homes and ``__all__`` list the same names.

    ``connect`` alone is imported at once: its module has the same name.
    """
    tree = ast.parse(Path(pytest_clawperator.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))

    seen = {
        alias.name
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert seen == set(pytest_clawperator._HOMES)
    assert seen | {"connect"} == set(pytest_clawperator.__all__)


def test_connect_is_the_function_whatever_was_imported() -> None:
    """The module of the same name never takes the function's place."""
    code = (
        "import pytest_clawperator.connect, pytest_clawperator.devices.connection\n"
        "from pytest_clawperator import connect\n"
        "print(type(connect).__name__)"
    )

    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    assert said.strip() == "function"


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that does not exist is refused as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'Clik'"):
        _ = pytest_clawperator.Clik


def test_dir_lists_public_names() -> None:
    """Completion in a shell offers the lazy names too."""
    assert set(pytest_clawperator.__all__) <= set(dir(pytest_clawperator))


@pytest.mark.parametrize("module", ["pytest_clawperator", "pytest_clawperator.plugin"])
def test_import_is_light(module: str) -> None:
    """Importing the root or the entry point loads nothing heavy; only the latter knows pytest."""
    heavy = [name for name in HEAVY if name != "pytest" or module == "pytest_clawperator"]
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"

    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout

    assert loaded.strip() == "[]"
