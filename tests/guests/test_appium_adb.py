"""What Appium calls of adb, on the simulated phone, by its own package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from pytest_clawperator.simulator import Simulator
from tests.guests.conftest import HERE, Install
from tests.guests.packages import APPIUM_ADB, node_package
from tests.guests.verdicts import check
from tests.page_tools import node_program

DEADLINE = 1800.0
#: The calls that do not do as they say, and why.
UNSUPPORTED = {
    "killProcessesByName": "ps lists shells and their jobs, and not what a shell waits for",
    "reboot": "stops and starts Android as root; the phone has a build for users",
    **dict.fromkeys(("fingerprint", "sensorSet", "rotate"), "simulated emulators have no sensors"),
    **dict.fromkeys(
        ("powerAC", "powerCapacity", "powerOFF"),
        "the console has no battery; dumpsys battery set does the same",
    ),
    **dict.fromkeys(
        ("gsmCall", "gsmSignal", "gsmVoice", "sendSMS", "networkSpeed"),
        "simulated phones have no mobile network",
    ),
}


def test_the_functions_of_appium_adb_work(
    install: Install,
    phones: Simulator,
    guest_environment: dict[str, str],
    apk: Path,
    tmp_path: Path,
) -> None:
    """Each is called and does as it says, but for those on the list."""
    package = install(node_package, APPIUM_ADB)
    node = node_program("node")
    assert node is not None
    outcomes = tmp_path / "outcomes.json"

    about = json.loads((package / "package.json").read_text("utf-8"))
    arguments = [package / about["main"], *phones.serials, apk, "com.example.guest", outcomes]
    ended = subprocess.run(
        [*node, str(HERE / "appium_calls.mjs"), *map(str, arguments)],
        env=guest_environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )

    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr
    check(json.loads(outcomes.read_text("utf-8")), UNSUPPORTED)
