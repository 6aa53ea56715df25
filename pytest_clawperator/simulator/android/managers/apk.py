"""Installing an APK, recognised by its bytes or by the name of its file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.managers.package_manager import (
    install_app,
    install_operator,
)
from pytest_clawperator.simulator.android.state.operator_packages import OPERATOR, OPERATOR_DEV
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.apps.load import parse_app

APP_ENTRY = "assets/simulator/app.yaml"
"""The file inside an APK that describes a simulated app."""


class InstallFailed(Exception):
    """An installation that Android refuses; the text is what stands in the brackets."""


def install_apk(system: AndroidSystem, apk: bytes, *, file_name: str) -> None:
    """Install an APK, recognised by its bytes or else by the name of its file."""
    if system.faults.active("storage_full"):
        raise InstallFailed(
            "INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location"
        )
    described = described_app(apk)
    if described is not None:
        _install_described(system, described, apk)
        return
    name = _operator_name(apk, file_name)
    if name is None:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_NOT_APK: Failed to parse {file_name}: neither an Operator"
            f" APK nor a zip with {APP_ENTRY}"
        )
    install_operator(system, name, apk=apk)


def _install_described(system: AndroidSystem, text: bytes, apk: bytes) -> None:
    try:
        app = parse_app(text.decode("utf-8"), path=Path(APP_ENTRY))
    except UnicodeDecodeError:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is not UTF-8"
        ) from None
    except ConfigurationError as error:
        problem = " ".join(str(error).split())
        raise InstallFailed(f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {problem}") from error
    install_app(system, app, apk=apk)


def described_app(apk: bytes) -> bytes | None:
    """Return the description of a simulated app inside an APK; None where it has none."""
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            if APP_ENTRY not in archive.namelist():
                return None
            if archive.getinfo(APP_ENTRY).file_size > 1024 * 1024:
                raise InstallFailed(
                    f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is over 1 MiB"
                )
            return archive.read(APP_ENTRY)
    except InstallFailed:
        raise
    except Exception:  # zipfile meets broken archives with a dozen different ones
        return None


def _operator_name(apk: bytes, file_name: str) -> str | None:
    for text in (apk, file_name.encode("utf-8", "surrogateescape")):
        for name in (OPERATOR_DEV, OPERATOR):
            # A compiled manifest holds its strings as UTF-8 or as UTF-16.
            if name.encode() in text or name.encode("utf-16-le") in text:
                return name
    return None
