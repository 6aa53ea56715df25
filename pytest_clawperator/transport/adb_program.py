"""Find the adb program to run, without importing adbutils, which costs 170 ms."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from pytest_clawperator.errors import AdbUnavailableError, is_file

_NAME = "adb.exe" if sys.platform == "win32" else "adb"


def find_adb() -> Path:
    """Return the adb of ``ADB_PATH``, else the one inside the adbutils wheel, else of ``PATH``."""
    return _first(_chosen() or _shipped() or _on_path())


def find_user_adb() -> Path:
    """Return the adb of ``ADB_PATH``, else of ``PATH``, else the one inside the adbutils wheel.

    The user's own comes first here: programs of two versions end each other's server.
    """
    return _first(_chosen() or _on_path() or _shipped())


def _first(found: Path | None) -> Path:
    if found is not None:
        return found
    raise AdbUnavailableError(
        "no adb program was found",
        hint="Install Android's platform-tools, or set ADB_PATH to an adb program.",
    )


def _chosen() -> Path | None:
    chosen = os.environ.get("ADB_PATH")
    if not chosen:
        return None
    if is_file(Path(chosen)):
        return Path(chosen)
    raise AdbUnavailableError(
        f"ADB_PATH names {chosen!r}, which is not a file",
        hint="Correct ADB_PATH, or unset it to use the adb that ships with adbutils.",
    )


def _shipped() -> Path | None:
    spec = find_spec("adbutils")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        shipped = Path(folder) / "binaries" / _NAME
        if shipped.is_file():
            return shipped
    return None


def _on_path() -> Path | None:
    on_path = shutil.which(_NAME)
    return Path(on_path) if on_path else None
