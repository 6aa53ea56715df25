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


def test_every_public_name_resolves_to_its_object() -> None:
    """Each is the object of that name, with a docstring, and in ``dir``; others are refused."""
    for name in ROOT.__all__:
        value = getattr(pytest_clawperator, name)
        assert value.__name__ == name
        assert value.__doc__, name
    assert set(ROOT.__all__) <= set(dir(pytest_clawperator))
    for name in ("Clik", "_Click", "__path_of__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(pytest_clawperator, name)


def test_each_public_name_stands_once_in_the_stub() -> None:
    """The stub re-exports each name in the form that type checkers ask for, and no name twice."""
    written = re.findall(r"(\w+) as (\w+)", STUB)
    names = Counter(name for name, _ in written)

    assert all(name == exported for name, exported in written)
    assert set(names) == set(ROOT.__all__)
    assert set(names.values()) == {1}


def test_a_star_import_brings_every_public_name() -> None:
    """Connecting does not load pytest."""
    code = (
        "import sys, pytest_clawperator.connecting, pytest_clawperator.devices.connection as c\n"
        "is_loaded = 'pytest' in sys.modules\n"
        "before = set(globals()) | {'before'}\n"
        "from pytest_clawperator import *\n"
        "print(*sorted(set(globals()) - before))\n"
        "print(type(connect).__name__, is_loaded)"
    )

    names, about = printed_by(code).splitlines()

    assert names.split() == sorted(ROOT.__all__)
    assert about == "function False"


@pytest.mark.parametrize("module", ["pytest_clawperator", "pytest_clawperator.plugin"])
def test_importing_the_root_or_the_plugin_is_light(module: str) -> None:
    """Importing the root or the entry point loads nothing heavy; only the latter knows pytest."""
    heavy = [name for name in HEAVY if name != "pytest" or module == "pytest_clawperator"]

    loaded = printed_by(f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])")

    assert loaded == "[]"
