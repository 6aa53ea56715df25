"""adbutils' own end-to-end tests on the simulated phone."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.guests.conftest import Install
from tests.guests.packages import ADBUTILS, library, source
from tests.guests.pytest_runs import run_tests
from tests.guests.verdicts import check

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

    outcomes = run_tests(tests, packages=packages, environment=guest_environment)

    check(outcomes, UNSUPPORTED)
