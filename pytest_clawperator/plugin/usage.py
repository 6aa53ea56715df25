"""Whether a run uses devices, for a process that hands tests out and does not collect them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

import pytest

# A function that takes one of our fixtures, or a marker of ours.
_USE = re.compile(rb"\bdef +\w+\([^)]*\bclawperator|\bmark\.claw_|usefixtures\([^)]*clawperator")
# The options that say, on the command line, that devices are wanted whatever the tests are. An
# ini file serves runs without devices, too.
_WISHES = ("device", "adb", "require", "matrix", "spare_devices")
# Options that make pytest list things and run nothing.
_LISTINGS = ("collectonly", "showfixtures", "show_fixtures_per_test")


def needs_devices(config: pytest.Config) -> bool:
    """Tell whether workers need devices: the command line or a test asks, and tests are run."""
    if any(getattr(config.option, name, False) for name in _LISTINGS):
        return False
    is_wish = any(getattr(config.option, f"claw_{name}", None) is not None for name in _WISHES)
    return is_wish or mentions_devices(config)


def mentions_devices(config: pytest.Config) -> bool:
    """Tell whether a test file of this run, or what it takes fixtures from, asks for a device."""
    return any(map(_mentions, chain(_test_files(config), _loaded_files(config))))


def _mentions(path: Path) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return _USE.search(text) is not None


def _test_files(config: pytest.Config) -> Iterator[Path]:
    patterns = [*config.getini("python_files"), "conftest.py"]
    skipped = config.getini("norecursedirs")
    for argument in config.args:
        start = config.invocation_params.dir / argument.partition("::")[0]
        yield from _conftests_above(start, config.rootpath)
        if start.is_file():
            yield start
        for folder, folders, files in os.walk(start):
            folders[:] = [name for name in folders if not _matches(name, skipped)]
            yield from (Path(folder, name) for name in files if _matches(name, patterns))


def _loaded_files(config: pytest.Config) -> Iterator[Path]:
    """Give the files of the project that its conftests, or ``-p``, have imported by now."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and not name.startswith("pytest_clawperator"):
            path = Path(file)
            if path.is_relative_to(config.rootpath) and "site-packages" not in path.parts:
                yield path


def _conftests_above(start: Path, root: Path) -> Iterator[Path]:
    """Give the conftests whose fixtures the tests of a folder can use, too."""
    within = [folder for folder in start.parents if folder.is_relative_to(root)]
    yield from (folder / "conftest.py" for folder in within)


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
