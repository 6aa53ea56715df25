"""What pure-python-adb offers, on the simulated phone."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.guests.conftest import HERE, Install
from tests.guests.packages import PURE_PYTHON_ADB, library
from tests.guests.pytest_runs import run_tests
from tests.guests.verdicts import check

#: The calls that do not do as they say, and why.
UNSUPPORTED = {
    f"ppadb_calls.test_{call}": reason
    for call, reason in {
        "push_deep_folder": "it writes to the root of the phone, where nobody may",
        "reverse": "it puts a colon where adbd wants a semicolon, so that a phone refuses it, too",
        "get_uid": "it looks for userId, where Android 14 and newer have appId",
        "get_traffic": "it looks for userId, and for a file that Android 9 was the last to have",
        "get_batterystats": "there is no dumpsys batterystats",
        "get_pid_cpu": "/proc has no folders of processes",
        "get_tids": "/proc has no folders of processes",
    }.items()
}


def test_the_functions_of_pure_python_adb_work(
    install: Install, guest_environment: dict[str, str], apk: Path, tmp_path: Path
) -> None:
    """Each is called and does as it says, but for those on the list."""
    packages = install(library, PURE_PYTHON_ADB)
    # Somewhere else they are not under this project's settings.
    tests = Path(shutil.copy(HERE / "ppadb_calls.py", tmp_path))

    environment = {**guest_environment, "GUEST_APK": str(apk)}
    outcomes = run_tests(tests, packages=packages, environment=environment)

    check(outcomes, UNSUPPORTED)
