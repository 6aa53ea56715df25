"""The package's root: every public name resolves, and importing it costs nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import pytest_clawperator

# As a module of which nothing is known: type checkers do not see what is made at run time.
ROOT = import_module("pytest_clawperator")
STUB = Path(pytest_clawperator.__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
HEAVY = ("pydantic", "pydantic_core", "lxml", "adbutils", "yaml", "PIL", "pytest")


def printed_by(code: str) -> str:
    """Run code in a fresh process and return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return finished.stdout.strip()


@pytest.mark.parametrize("name", ROOT.__all__)
def test_every_public_name_resolves_to_its_object(name: str) -> None:
    """Each public name is the object of that name, with a docstring."""
    value = getattr(pytest_clawperator, name)

    assert value.__name__ == name
    assert value.__doc__


def test_each_public_name_stands_once_in_the_stub() -> None:
    """The stub re-exports each name in the form that type checkers ask for, and no name twice."""
    written = re.findall(r"(\w+) as (\w+)", STUB)
    names = Counter(name for name, _ in written)

    assert all(name == exported for name, exported in written)
    assert set(names) == set(ROOT.__all__)
    assert set(names.values()) == {1}


def test_a_star_import_brings_every_public_name() -> None:
    """``from pytest_clawperator import *`` defines all public names and nothing private."""
    code = (
        "before = set(globals()) | {'before'}\n"
        "from pytest_clawperator import *\n"
        "print(*sorted(set(globals()) - before))"
    )

    assert printed_by(code).split() == sorted(ROOT.__all__)


def test_connect_is_the_function_whatever_was_imported() -> None:
    """The module of the same name never takes the function's place."""
    code = (
        "import pytest_clawperator.connect, pytest_clawperator.devices.connection\n"
        "from pytest_clawperator import connect\n"
        "print(type(connect).__name__)"
    )

    assert printed_by(code) == "function"


@pytest.mark.parametrize("name", ["Clik", "_Click", "__path_of__"])
def test_a_name_that_does_not_exist_is_an_attribute_error(name: str) -> None:
    """A name that does not exist is refused as in any module."""
    with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
        getattr(pytest_clawperator, name)


def test_dir_lists_the_public_names() -> None:
    """Completion in a shell offers the lazy names too."""
    assert set(ROOT.__all__) <= set(dir(pytest_clawperator))


@pytest.mark.parametrize("module", ["pytest_clawperator", "pytest_clawperator.plugin"])
def test_importing_the_root_or_the_plugin_is_light(module: str) -> None:
    """Importing the root or the entry point loads nothing heavy; only the latter knows pytest."""
    heavy = [name for name in HEAVY if name != "pytest" or module == "pytest_clawperator"]

    loaded = printed_by(f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])")

    assert loaded == "[]"
