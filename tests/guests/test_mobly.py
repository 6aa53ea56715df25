"""Mobly's Android controller on the simulated phone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from pytest_clawperator.simulator import Simulator
from tests.guests.conftest import HERE, Install
from tests.guests.packages import MOBLY, library
from tests.guests.verdicts import Outcomes, check

DEADLINE = 900.0
#: The tests that do not pass, and why.
UNSUPPORTED = {
    "test_instrumentation": "apps are described and not programs: they have no tests of their own",
    "test_snippet": "a snippet is a server inside an app, started by am instrument",
    "test_iperf": "phones come without iperf3; a test brings its own program",
}


def test_the_android_controller_of_mobly_works(
    install: Install,
    phones: Simulator,
    guest_environment: dict[str, str],
    apk: Path,
    tmp_path: Path,
) -> None:
    """A test of Mobly's uses each part of it, and fails only where the list says so."""
    packages = install(library, MOBLY)
    bed = {
        "Name": "Bed",
        "Controllers": {"AndroidDevice": [{"serial": serial} for serial in phones.serials]},
        "TestParams": {"apk": str(apk)},
    }
    config = tmp_path / "bed.yaml"
    config.write_text(
        yaml.safe_dump({"MoblyParams": {"LogPath": str(tmp_path / "logs")}, "TestBeds": [bed]})
    )

    ended = subprocess.run(
        [sys.executable, str(HERE / "mobly_calls.py"), "--config", str(config)],
        cwd=guest_environment["HOME"],
        env={**guest_environment, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )

    summary = tmp_path / "logs" / "Bed" / "latest" / "test_summary.yaml"
    assert summary.is_file(), ended.stdout[-2000:] + ended.stderr[-2000:]
    check(_outcomes(summary), UNSUPPORTED)


def _outcomes(summary: Path) -> Outcomes:
    records = [
        document
        for document in yaml.safe_load_all(summary.read_text("utf-8"))
        if document.get("Type") == "Record"
    ]
    return {
        record["Test Name"]: None if record["Result"] == "PASS" else str(record["Details"])
        for record in records
    }
