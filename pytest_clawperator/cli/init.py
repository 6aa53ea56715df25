"""``init``: write the first files of a project that tests an app."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.devices.spec import parse_device_spec
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem
from pytest_clawperator.simulator.phone_kinds import parse_phones

Ci = Literal["github", "gitlab", "none"]


_TEST = '''"""The first test: the Settings show the version of Android.

Run it with `pytest`. Add `--claw-device sim` for a simulated phone, or
`--claw-device auto` for one that is connected.
"""

from __future__ import annotations

from pytest_clawperator import Clawperator, expect


def test_the_settings_show_the_version_of_android(settings: Clawperator) -> None:
    """The page about the phone has a version that begins with a number."""
    settings.scroll_and_click(text_contains="About phone", max_scrolls=25)

    expect(settings.node(text="Android version")).to_be_visible()
    assert int(settings.read_value("Android version").split(".")[0]) >= 5
'''

FIXTURE = '''import pytest
from pytest_clawperator import Clawperator

SETTINGS = "com.android.settings"


@pytest.fixture
def settings(clawperator: Clawperator) -> Clawperator:
    """Return the client with the Settings in front, as they are after their start."""
    clawperator.close_app(SETTINGS)
    clawperator.open_app(SETTINGS)
    return clawperator
'''

_CONFTEST = f'''"""What all tests of this project share."""

from __future__ import annotations

{FIXTURE}'''

_INI = """[pytest]
testpaths = tests
# Which devices the tests use: `sim` is simulated phones, `auto` those that are connected.
# The command line comes first: pytest --claw-device auto
claw_device = {device}
"""

_GITHUB = """# UI tests on simulated phones: no emulator, no Android SDK.
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
      - run: pip install "pytest-clawperator[xdist]"
      # As many phones as the machine has cores.
      - run: pytest -n auto --claw-device sim --junitxml=report.xml
      # What is kept of failed tests: screenshots, the screen as XML, logs.
      - uses: actions/upload-artifact@v6
        if: ${{ !cancelled() }}
        with:
          name: ui-tests
          path: |
            report.xml
            claw-results/
"""

_GITLAB_JOB = """# UI tests on simulated phones: no emulator, no Android SDK.
ui-tests:
  image: python:3.13-bookworm
  timeout: 15m
  before_script:
    - pip install "pytest-clawperator[xdist]"
  script:
    # As many phones as the machine has cores.
    - pytest -n auto --claw-device sim --junitxml=report.xml
  artifacts:
    # What is kept of failed tests: screenshots, the screen as XML, logs.
    when: always
    expire_in: 2 weeks
    paths: [claw-results/]
    reports:
      junit: report.xml
"""


TEST_PATH, CONFTEST_PATH, INI_PATH = "tests/test_first.py", "tests/conftest.py", "pytest.ini"

_CI_FILES: dict[str, tuple[str, str]] = {
    "github": (".github/workflows/ui-tests.yml", _GITHUB),
    "gitlab": (".gitlab-ci.yml", _GITLAB_JOB),
}


def first_files(*, device: str, ci: Ci) -> dict[str, str]:
    """Return the content of each file by its path."""
    files = {TEST_PATH: _TEST, CONFTEST_PATH: _CONFTEST, INI_PATH: _INI.format(device=device)}
    if ci != "none":
        path, content = _CI_FILES[ci]
        files[path] = content
    return files


def setting(device: str, file: str) -> str:
    """Return the line that chooses the device, in the syntax of a configuration file."""
    return f"claw_device = {json.dumps([device]) if file.endswith('.toml') else device}"


# Where pytest may be configured, in the order in which it looks, with the heading of its section;
# pytest's own files count without one.
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
    """The files to write, those to leave alone, and what to add to these by hand."""

    write: Mapping[str, str]
    left: tuple[str, ...] = ()
    add: Mapping[str, str] = field(default_factory=dict)


def make_plan(place: Path, files: Mapping[str, str], *, device: str) -> Plan:
    """Plan what to do with each file; existing files are never overwritten."""
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
    """Return what is missing in the existing files."""
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
    """Return the existing configuration file of pytest, which reads only one."""
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
        return False  # writing it reports why


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UNUSABLE_FILE:
        return ""


@command(
    "init",
    examples=[
        "init",
        "init --dry-run",
        "init ui-tests --ci gitlab",
        "init --device auto --ci none",
    ],
)
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    default="github",
    help="For which CI to write a file; default: github.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def init(options: GlobalOptions, folder: str, ci: Ci, dry_run: bool) -> Answer:
    """Write a first test, a conftest, an ini and a CI file; never overwrite a file.

    The tests use the devices that --device names, as pytest's --claw-device does: simulated
    phones (sim) unless another is named.
    """
    spec = parse_device_spec(options.device or "sim")
    if spec.phones is not None:
        parse_phones(spec.phones)
    device = spec.text
    place = Path(folder)
    plan = make_plan(place, first_files(device=device, ci=ci), device=device)
    if not dry_run:
        _write_all(place, plan)
    document = {
        "ok": True,
        "folder": str(place),
        "written": list(plan.write),
        "left": list(plan.left),
        "toAdd": dict(plan.add),
    }
    page = _page(place, plan, is_dry=dry_run)
    return Answer({**document, "dryRun": True} if dry_run else document, page)


def _write_all(place: Path, plan: Plan) -> None:
    """Write the files of the plan; undo everything after a failure."""
    done: list[Path] = []
    try:
        for path, content in plan.write.items():
            _write(place / path, content, done)
    except UNUSABLE_FILE as error:
        _take_back(done)
        name = getattr(error, "filename", None) or path
        raise ConfigurationError(
            f"{name} cannot be written: {file_problem(error)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Nothing was written. Call it in a folder that you may write to, or name one:"
            " clawperator-py init FOLDER.",
        ) from error


def _write(path: Path, content: str, done: list[Path]) -> None:
    """Write a new file and its folders, and record each for undoing."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        done.append(folder)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        done.append(path)
        file.write(content)


def _take_back(done: list[Path]) -> None:
    for path in reversed(done):
        with suppress(OSError):  # the folder is in use by now
            path.rmdir() if path.is_dir() else path.unlink()


def _page(place: Path, plan: Plan, *, is_dry: bool) -> list[Piece]:
    verb = "would write" if is_dry else "wrote"
    lines: list[Piece] = [Line(f"✓ {verb} {path}", "green") for path in plan.write]
    lines += [Line(f"! left {path} as it is", "yellow") for path in plan.left]
    for path, content in plan.add.items():
        lines += ["", f"Add to {path} by hand:", ""]
        lines += [f"    {line}".rstrip() for line in content.splitlines()]
    return lines if is_dry else [*lines, "", *_next_steps(place)]


def _next_steps(place: Path) -> list[Piece]:
    there = "" if place == Path() else f"cd {shlex.quote(str(place))} && "
    return [
        "What comes next:",
        f"  run the test            {there}pytest",
        "  on your phone           pytest --claw-device auto",
        "  look at a screen        clawperator-py simulate, and what it prints",
        "  write your own tests    begin with tests/test_first.py",
    ]
