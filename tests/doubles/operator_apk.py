"""A file that the simulated phone takes for the Operator's APK."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE


def operator_apk(folder: Path, package: str = OPERATOR_PACKAGE) -> Path:
    """Write an APK of this package."""
    path = folder / "operator.apk"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", "\0".join([*package, ""]))
    return path
