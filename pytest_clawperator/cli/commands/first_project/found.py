"""What is in a project already: files of the same names, and a configuration of pytest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_clawperator.cli.commands.first_project.contents import (
    CONFTEST_PATH,
    FIXTURE,
    INI_PATH,
    setting,
)
from pytest_clawperator.errors import UNUSABLE_FILE

# Where pytest may be configured, in its own order, and the heading of that; the files of its own
# count without one.
_HEADING = r"^\[pytest\]"
_CONFIGURATIONS = {
    "pytest.toml": _HEADING,
    ".pytest.toml": _HEADING,
    INI_PATH: _HEADING,
    ".pytest.ini": _HEADING,
    "pyproject.toml": r"^\[tool\.pytest(?:\.ini_options)?\]",
    "tox.ini": _HEADING,
    "setup.cfg": r"^\[tool:pytest\]",
}
_COUNT_WITHOUT = ("pytest.toml", ".pytest.toml", INI_PATH, ".pytest.ini")


@dataclass(frozen=True)
class Plan:
    """What is written, what is left as it is, and what a person must add to that, by path."""

    write: Mapping[str, str]
    left: tuple[str, ...] = ()
    add: Mapping[str, str] = field(default_factory=dict)


def make_plan(place: Path, files: Mapping[str, str], *, device: str) -> Plan:
    """Return what to do with each file: nothing that is there is ever written over."""
    configured = _configuration(place)
    write: dict[str, str] = {}
    left: list[str] = []
    for path, content in files.items():
        if path == INI_PATH and configured is not None:
            left.append(configured)
        elif _is_there(place / path):
            left.append(path)
        else:
            write[path] = content
    return Plan(write, tuple(left), _to_add(place, files, left, device))


def _to_add(place: Path, files: Mapping[str, str], left: list[str], device: str) -> dict[str, str]:
    """Return what the files that are left lack; nothing for those that have it."""
    wanted: dict[str, tuple[str, str]] = {}
    for path in left:
        if path == CONFTEST_PATH:
            wanted[path] = (r"^def settings\(", FIXTURE)
        elif path in _CONFIGURATIONS:
            wanted[path] = (r"^claw_device\b", _setting(place / path, device))
        else:
            wanted[path] = (re.escape("claw"), files[path])
    return {
        path: content
        for path, (sign, content) in wanted.items()
        if not re.search(sign, _text(place / path), re.MULTILINE)
    }


def _configuration(place: Path) -> str | None:
    """Return the file in which pytest is configured already; it reads only one."""
    for name in _CONFIGURATIONS:
        if _is_there(place / name) and (name in _COUNT_WITHOUT or _heading(place / name)):
            return name
    return None


def _setting(path: Path, device: str) -> str:
    """Return the line that chooses the device, under its heading."""
    return f"{_heading(path) or '[pytest]'}\n{setting(device, path.name)}"


def _heading(path: Path) -> str | None:
    found = re.search(_CONFIGURATIONS[path.name], _text(path), re.MULTILINE)
    return found[0] if found else None


def _is_there(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except UNUSABLE_FILE:
        return False  # writing it tells why


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UNUSABLE_FILE:
        return ""
