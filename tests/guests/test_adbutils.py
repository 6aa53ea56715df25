"""adbutils' own end-to-end tests on a simulated phone, in ``make soak`` only."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator

HERE = Path(__file__).parent
DEADLINE = 900.0

#: What its tests type into the shell, besides Android's own commands.
TYPED = ("echo", "false", "log", "mkdir", "pwd", "rm", "sleep", "touch")

#: The tests that do not pass, and why.
UNSUPPORTED = {
    "test_adb.test_wait_for": "waits for a phone on USB; simulated phones are on the network",
    "test_deprecated.test_current_app": "adbutils itself skips it",
    "test_device_base.test_framebuffer": "the framebuffer is not offered",
    "test_device_shell_extend.test_app_start_stop": "starts the app with monkey",
    "test_device_shell_extend.test_dump_hierarchy": "uses uiautomator",
    "test_device_shell_extend.test_wlan_ip": "a simulated phone has no network but its loopback",
    "test_record.test_screenrecord": "records in a background job, which the shell does not have",
}


@pytest.mark.skipif(
    not os.environ.get("CLAWPERATOR_SOAK"), reason="by design: make soak downloads them"
)
def test_the_end_to_end_tests_of_adbutils_pass(tmp_path: Path) -> None:
    """They run as published, and exactly those on the list fail."""
    home = tmp_path / "home"
    home.mkdir()
    apps = [HERE / "api_demos.yaml"]
    # Without chatter, a reader that looks for its end at the next line would wait for ever.
    with Simulator(time_scale=0.1, chatter=20, apps=apps) as simulator:
        environment = {
            "ANDROID_ADB_SERVER_PORT": str(simulator.adb_port),
            "ANDROID_SERIAL": simulator.serials[0],
            "HOME": str(home),
            "TMPDIR": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(HERE.parent.parent),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }

        failed = run_tests(downloaded_tests(tmp_path), environment=environment)

    assert set(failed) == set(UNSUPPORTED), failed


def downloaded_tests(folder: Path) -> Path:
    """Return the test folder of the sources of the installed adbutils."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    wanted = f"adbutils=={version('adbutils')}"
    ended = subprocess.run(
        [*pip, "--no-deps", "--no-binary", ":all:", "--dest", str(folder), wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        pytest.skip(f"not downloaded: {ended.stderr.strip()[-300:]}")
    (archive,) = folder.glob("adbutils-*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    (tests,) = folder.glob("adbutils-*/e2etests")
    return tests


def run_tests(tests: Path, *, environment: dict[str, str]) -> dict[str, str]:
    """Run a folder of tests; return those that failed or were skipped, and why."""
    home = Path(environment["HOME"])
    report = home / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.guests.fixed_port"]
    ended = subprocess.run(
        [*command, f"--rootdir={tests.parent}", f"--junit-xml={report}", str(tests)],
        cwd=home,  # beside its sources, which have no adb, adbutils would be imported from there
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return {
        f"{case.attrib['classname'].rpartition('.')[2]}.{case.attrib['name']}": child.attrib[
            "message"
        ]
        for case in ET.parse(report).iter("testcase")
        for child in case
        if "message" in child.attrib
    }
