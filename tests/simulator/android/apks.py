"""APKs for the tests: of a described app, and of the Operator."""

from __future__ import annotations

import io
import zipfile

from pytest_clawperator.simulator.android.pm import APP_ENTRY
from tests.doubles.simulator.android_phone import OPERATOR

APP = """
package: com.example.notes
name: Notes
version: "2.1"
version_code: 21
start: main
screens:
  main:
    title: Notes
    items:
      - text: Nothing yet
"""


def zipped(**entries: str) -> bytes:
    """Make a zip; a double underscore in a name stands for its slash, one for its dot."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return data.getvalue()


def app_apk(text: str = APP) -> bytes:
    """Make the APK of a simulated app."""
    return zipped(**{"AndroidManifest.xml": "", APP_ENTRY: text})


def operator_apk(name: str = OPERATOR) -> bytes:
    """Make something that holds an Operator's name as a compiled manifest does."""
    return zipped(**{"AndroidManifest.xml": "\0".join([*name, ""])})
