"""Whether a run uses devices: if so, the gate is opened.

The gate is the only way from the front, which is always loaded, to the modules behind it. These
import heavy packages, at the top like any code.

A run uses devices if an option is given, if a test has one of our markers or fixtures, or if
a test, a conftest or a plugin imports the library, also inside a function, or if there is a
test without Python. A controller of ``-n`` does not collect tests; it looks for such names in
the text of the files. The hooks are those of the plugin's ``__init__``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Iterator
from fnmatch import fnmatch
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_clawperator.plugin import markers, options, stash

# A function that takes one of our fixtures, or a marker of ours.
_DEVICE_USE = rb"\bdef +\w+\([^)]*\bclawperator|\bmark\.claw_|usefixtures\([^)]*clawperator"
_IMPORT = rb"\b(?:from|import) +pytest_clawperator\b"
_ANY_USE = _DEVICE_USE + rb"|" + _IMPORT
# Options that, on the command line, ask for devices whatever the tests are. An
# ini file is also for runs without devices.
_WISHES = ("device", "adb", "require", "matrix", "spare_devices", "skills")
# Options with which pytest only prints information and runs nothing.
_LISTINGS = (
    *("help", "version", "markers", "cacheshow"),
    *("collectonly", "showfixtures", "show_fixtures_per_test", "setupplan"),
)
# Every part of the library imports this, and the front does not.
_LIBRARY = "pytest_clawperator.errors"
_CLIENT = "pytest_clawperator.client.client"
# Tests without Python: how their names begin and end.
_TEST_FILES = ("test_", ".claw.yaml")


def open_gate(config: pytest.Config) -> None:
    """Begin a run that uses devices or the library, unless it has begun."""
    if stash.IS_GATE_OPEN not in config.stash:
        config.stash[stash.IS_GATE_OPEN] = True
        import_module(f"{__package__}.lifecycle").begin(config)


def behind_gate(config: pytest.Config, name: str) -> ModuleType:
    """Open the gate, and return the module of this name."""
    open_gate(config)
    return import_module(f"{__package__}.{name}")


def notice_options(config: pytest.Config) -> None:
    """Open the gate if an option is given, or the controller of ``-n`` finds the library used."""
    is_with_devices = stash.CHANNEL in getattr(config, "workerinput", ())
    is_controller = config.getoption("dist", "no") != "no"
    if (
        is_with_devices
        or options.is_any_given(config)
        or (is_controller and _is_in_text(config, _ANY_USE))
    ):
        open_gate(config)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Let ``-n auto`` start as many workers as there are free devices."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not needs_devices(config):
        return None
    count: int | None = behind_gate(config, "workers").count_workers(config)
    return count


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a test without Python."""
    if not _is_test_file(file_path.name):
        return None
    test_files = behind_gate(parent.config, "test_files")  # which few projects have
    file: pytest.Collector = test_files.ClawTestFile.from_parent(parent, path=file_path)
    return file


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Remember a file whose tests are skipped as a whole, or that cannot be read."""
    report = yield
    if not report.passed and isinstance(collector, pytest.File):
        collector.config.stash.setdefault(stash.UNCOLLECTED_FILES, []).append(collector.path)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Open the gate if a file imports the library, or a test asks for devices."""
    if _LIBRARY in sys.modules or _is_asked_for(items) or _is_imported_in(config, items):
        behind_gate(config, "marker_values").apply_markers(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Open the gate if the library was imported since the tests were collected."""
    item.config.stash[stash.CURRENT_TEST] = item
    if _LIBRARY in sys.modules and stash.IS_GATE_OPEN not in item.config.stash:
        open_gate(item.config)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Notice a fixture that returns a client, also one that is not ours."""
    __tracebackhide__ = True  # a fixture that fails is shown at its own line
    value = yield
    module = sys.modules.get(_CLIENT)
    if module is not None and isinstance(value, module.Clawperator):
        behind_gate(request.config, "clients").client_given(fixturedef, request, value)
    return value


def needs_devices(config: pytest.Config) -> bool:
    """Whether workers need devices: the command line or a test asks, and tests are run."""
    if stash.NEEDS_DEVICES not in config.stash:
        config.stash[stash.NEEDS_DEVICES] = _needs_devices(config)
    return config.stash[stash.NEEDS_DEVICES]


def is_listing(config: pytest.Config) -> bool:
    """Whether pytest only prints information, for which no device is needed."""
    return any(getattr(config.option, name, False) for name in _LISTINGS)


def _needs_devices(config: pytest.Config) -> bool:
    if is_listing(config) or options.is_switched_on(config, "doctor"):
        return False
    is_wished = any(options.on_command_line(config, name) is not None for name in _WISHES)
    return is_wished or _is_in_text(config, _DEVICE_USE)


def _is_asked_for(items: list[pytest.Item]) -> bool:
    """Whether a test has one of our fixtures or markers, also through its class or module."""
    known: set[int] = set()
    for item in items:
        for name in getattr(item, "fixturenames", ()):
            if name.startswith("clawperator"):
                return True
        node: pytest.Item | pytest.Collector | Any = item
        while node is not None and id(node) not in known:
            known.add(id(node))
            for mark in node.own_markers:
                if mark.name in markers.NAMES:
                    return True
            node = node.parent
    return False


def _is_imported_in(config: pytest.Config, items: list[pytest.Item]) -> bool:
    """Whether a file with tests, or a conftest above it, imports the library.

    The import may stand inside a function, and the gate must be open before it runs.
    """
    files = {item.path for item in items}
    for folder in {path.parent for path in files}:
        files.update(_conftests_above(folder / "conftest.py", config.rootpath))
    return any(_contains(path, _IMPORT) for path in files)


def _is_in_text(config: pytest.Config, pattern: bytes) -> bool:
    """Whether the pattern is in a test file of this run, or in what it takes fixtures from."""
    files = chain(_test_files(config), _loaded_files(config))
    return any(_is_test_file(path.name) or _contains(path, pattern) for path in files)


def _contains(path: Path, pattern: bytes) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    # Each of the patterns has "claw" in it, and few files do: a quick look saves their compiling.
    return b"claw" in text and re.search(pattern, text) is not None


def _test_files(config: pytest.Config) -> Iterator[Path]:
    patterns = [*config.getini("python_files"), "conftest.py", "*".join(_TEST_FILES)]
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
    """Yield the files of the project that its conftests, or ``-p``, have imported by now."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and not name.startswith("pytest_clawperator"):
            path = Path(file)
            if path.is_relative_to(config.rootpath) and "site-packages" not in path.parts:
                yield path


def _conftests_above(start: Path, root: Path) -> Iterator[Path]:
    """Yield the conftests whose fixtures the tests of a folder can use, too."""
    within = [folder for folder in start.parents if folder.is_relative_to(root)]
    yield from (folder / "conftest.py" for folder in within)


def _is_test_file(name: str) -> bool:
    begin, end = _TEST_FILES
    return name.startswith(begin) and name.endswith(end)


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
