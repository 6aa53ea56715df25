"""The packages of the guests: published programs of others, installed beside the environment.

Each has one version, because the lists of what is not supported are about that one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.page_tools import node_program

FOLDER = Path(sys.prefix) / "guests"
ADBUTILS = "adbutils==2.12.0"
MOBLY = "mobly==1.13.1"
PURE_PYTHON_ADB = "pure-python-adb==0.3.0.dev0"
APPIUM_ADB = "appium-adb@16.0.9"

_DEADLINE = 1200.0
_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
_QUIET = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error")

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


class NotInstalled(Exception):
    """A package that could not be installed; the text is the reason."""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_DEADLINE)


def library(requirement: str, *, folder: Path = FOLDER, run: Run = _run) -> Path:
    """Return the folder with an installed package of Python and all that it needs."""
    return _made(
        folder / requirement,
        lambda place: [*_PIP, "install", "--target", str(place), requirement],
        run,
    )


def source(requirement: str, *, folder: Path = FOLDER, run: Run = _run) -> Path:
    """Return the archive with the sources of a package of Python."""
    place = _made(
        folder / f"{requirement}-source",
        lambda place: [
            *(*_PIP, "download", "--no-deps", "--no-binary", ":all:"),
            *("--dest", str(place), requirement),
        ],
        run,
    )
    return next(place.iterdir())


def node_package(requirement: str, *, folder: Path = FOLDER, run: Run = _run) -> Path:
    """Return the folder of an installed package of npm."""
    npm = node_program("npm")
    if npm is None:
        raise NotInstalled("there is no wheel of Node for this machine")
    place = _made(
        folder / requirement,
        lambda place: [*npm, "install", *_QUIET, "--prefix", str(place), requirement],
        run,
    )
    return place / "node_modules" / requirement.rpartition("@")[0]


def _made(place: Path, command: Callable[[Path], Sequence[str]], run: Run) -> Path:
    """Return a folder after the command filled it; one that was filled before is kept."""
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="making-", dir=place.parent) as name:
        half = Path(name) / "half"
        half.mkdir()
        try:
            ended = run(command(half))
        except subprocess.TimeoutExpired:
            raise NotInstalled(f"{place.name}: no end within {_DEADLINE:g} s") from None
        if ended.returncode:
            raise NotInstalled(f"{place.name}: {ended.stderr.strip()[-300:]}")
        # Whole or not at all, also where two workers install the same one.
        try:
            half.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    return place


def environment(*, adb_port: int, serial: str, adb: Path, home: Path) -> dict[str, str]:
    """Return the environment of a guest: our adb and its server, and a home of its own."""
    tools = home / "sdk" / "platform-tools"
    tools.mkdir(parents=True)
    (tools / "adb").symlink_to(adb)
    ours = ("ANDROID_", "ADB_", "PYTEST_", "CLAWPERATOR_", "COV_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {
        **kept,
        "ANDROID_ADB_SERVER_PORT": str(adb_port),
        "ANDROID_SERIAL": serial,
        "ANDROID_HOME": str(home / "sdk"),
        "HOME": str(home),
        "TMPDIR": str(home),
        "PATH": f"{tools}{os.pathsep}{kept.get('PATH', '')}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
