"""adbutils' own end-to-end tests on the simulated phone."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.guests.conftest import Install
from tests.guests.packages import ADBUTILS, library, source
from tests.guests.verdicts import Outcomes, check

TOP = Path(__file__).parent.parent.parent
DEADLINE = 900.0
#: The tests that do not pass, and why.
UNSUPPORTED = {
    "test_adb.test_wait_for": "waits for a phone on USB; simulated phones are on the network",
    "test_deprecated.test_current_app": "adbutils itself skips it",
}


def test_the_end_to_end_tests_of_adbutils_pass(
    install: Install, guest_environment: dict[str, str], tmp_path: Path
) -> None:
    """Its test files run as they were published, and fail only where the list says so."""
    packages = install(library, ADBUTILS)
    with tarfile.open(install(source, ADBUTILS)) as archive:
        archive.extractall(tmp_path, filter="data")
    (tests,) = tmp_path.glob("adbutils-*/e2etests")

    # Beside its sources, which have no adb, adbutils would be taken from there.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.guests.fixed_port"]
    ended = subprocess.run(
        [*command, f"--rootdir={tests}", f"--junit-xml={tmp_path / 'junit.xml'}", str(tests)],
        cwd=guest_environment["HOME"],
        env={
            **guest_environment,
            "PYTHONPATH": f"{packages}:{TOP}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )

    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    check(_outcomes(tmp_path / "junit.xml"), UNSUPPORTED)


def _outcomes(report: Path) -> Outcomes:
    return {
        f"{case.attrib['classname'].rpartition('.')[2]}.{case.attrib['name']}": _error(case)
        for case in ET.parse(report).iter("testcase")
    }


def _error(case: ET.Element) -> str | None:
    return next((child.get("message", child.tag) for child in case if len(child.attrib)), None)
