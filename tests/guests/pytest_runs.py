"""Tests that run with a guest's packages, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

from tests.guests.verdicts import Outcomes

TOP = Path(__file__).parent.parent.parent
DEADLINE = 900.0


def run_tests(tests: Path, *, packages: Path, environment: Mapping[str, str]) -> Outcomes:
    """Run the tests of a file or folder, which is none of ours, and return what became of each."""
    home = environment["HOME"]
    report = Path(home) / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.guests.fixed_port"]
    ended = subprocess.run(
        [*command, f"--rootdir={tests.parent}", f"--junit-xml={report}", str(tests)],
        # Beside its sources, which have no adb, adbutils would be taken from there.
        cwd=home,
        env={
            **environment,
            "PYTHONPATH": f"{packages}:{TOP}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return {
        f"{case.attrib['classname'].rpartition('.')[2]}.{case.attrib['name']}": _error(case)
        for case in ET.parse(report).iter("testcase")
    }


def _error(case: ET.Element) -> str | None:
    """Return why a test failed or was skipped; None if it passed."""
    return next((child.attrib["message"] for child in case if "message" in child.attrib), None)
