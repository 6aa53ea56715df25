"""``init``: the first files of a project that tests an app."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ConfigurationError,
    ErrorCode,
    file_problem,
)

_TEST = '''"""The first test: the Settings tell which Android they belong to."""

from __future__ import annotations

from pytest_clawperator import Clawperator, expect


def test_the_settings_tell_the_version_of_android(settings: Clawperator) -> None:
    """The page about the phone has a version that is a number."""
    settings.scroll_and_click(text_contains="About phone", max_scrolls=25)

    expect(settings.node(text="Android version")).to_be_visible()
    assert settings.read_value("Android version").isdecimal()
'''
_CONFTEST = '''"""What all tests of this project share."""

from __future__ import annotations

import pytest

from pytest_clawperator import Clawperator

SETTINGS = "com.android.settings"


@pytest.fixture
def settings(clawperator: Clawperator) -> Clawperator:
    """Return the client with the Settings in front, as they are after their start."""
    clawperator.close_app(SETTINGS)
    clawperator.open_app(SETTINGS)
    return clawperator
'''
_INI = """[pytest]
testpaths = tests
# Simulated phones. On connected ones: pytest --claw-device auto
claw_device = sim
"""
_CI = """# UI tests on simulated phones: no emulator, no Android SDK.
name: UI tests

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  simulated:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - run: pip install 'pytest-clawperator[xdist]'
      - run: pytest -n auto --claw-device sim --junitxml=report.xml
      - uses: actions/upload-artifact@v6
        if: ${{ !cancelled() }}
        with:
          name: simulated
          path: |
            report.xml
            claw-results/
"""
_INI_PATH = "pytest.ini"
FILES: Mapping[str, str] = {
    "tests/test_first.py": _TEST,
    "tests/conftest.py": _CONFTEST,
    _INI_PATH: _INI,
    ".github/workflows/ui-tests.yml": _CI,
}
# Where else pytest may be configured, and how that is recognised.
_OTHER_CONFIGURATION = {
    ".pytest.ini": r"",
    "pytest.toml": r"",
    "pyproject.toml": r"^\[tool\.pytest",
    "tox.ini": r"^\[pytest\]",
    "setup.cfg": r"^\[tool:pytest\]",
}


@command("init", examples=["init", "init ui-tests"])
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def init(options: GlobalOptions, folder: str) -> Answer:
    """Write a first test, a conftest, an ini and a CI file; never over a file that is there."""
    place = Path(folder)
    configured = _configuration(place)
    written: list[str] = []
    left: list[str] = []
    for path, content in FILES.items():
        if path == _INI_PATH and configured is not None:
            left.append(configured)
        elif _write(place / path, content):
            written.append(path)
        else:
            left.append(path)
    page = _page(place, written, left, configured)
    return Answer({"ok": True, "written": written, "left": left}, page)


def _configuration(place: Path) -> str | None:
    """Return the file in which pytest is configured already; pytest would not read another."""
    for name, section in _OTHER_CONFIGURATION.items():
        file = place / name
        try:
            text = file.read_text(encoding="utf-8")
        except UNUSABLE_FILE:
            continue
        if re.search(section, text, re.MULTILINE):
            return name
    return None


def _write(path: Path, content: str) -> bool:
    """Write a new file; False if there is something of that name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() or path.is_symlink():
            return False
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
    except UNUSABLE_FILE as error:
        raise ConfigurationError(
            f"{path} cannot be written: {file_problem(error)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Call it in a folder that you may write to, or name one: clawperator-py init DIR.",
        ) from error
    return True


def _page(place: Path, written: list[str], left: list[str], configured: str | None) -> list[Piece]:
    lines: list[Piece] = [Line(f"+ {path}", "green") for path in written]
    lines += [Line(f"= {path} is there and was left as it is", "yellow") for path in left]
    if configured is not None:
        lines.append(f"Add this to {configured}, to run on simulated phones: claw_device = sim")
    there = "" if place == Path() else f"cd {place} && "
    return [*lines, f"Run the tests: {there}pytest"]
