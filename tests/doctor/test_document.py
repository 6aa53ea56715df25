"""What docs/doctor.md shows is what is printed, and it misses no check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.cli.app import run
from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doctor.conftest import HEALTHY
from tests.doctor.test_examine import ORDER
from tests.doubles.operator_apk import operator_apk

DOCUMENT = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")

TEXTS = re.findall(r"^```text\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)

HOST = ["host.python.version", "host.adb.presence", "host.adb.server", "host.adb.version"]

TROUBLE = "settings put global animator_duration_scale 1; sim fault ui_automation"


@pytest.fixture(scope="module")
def emulator() -> Iterator[AdbTransport]:
    """Start the emulator of the document."""
    with Simulator(devices=0, emulators=1, seed=1) as simulator:
        server = AdbServer(simulator.adb_host, simulator.adb_port)
        transport = AdbTransport(server, simulator.serials[0])
        yield transport
        transport.close()


@pytest.fixture(autouse=True)
def terminal(
    emulator: AdbTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Have a terminal of 80 columns, and a device with the troubles of the document."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    monkeypatch.delenv("CLAWPERATOR_OPERATOR_PACKAGE", raising=False)
    emulator.shell(f"{HEALTHY}; {TROUBLE}")
    yield
    emulator.shell("sim reset")


def printed(emulator: AdbTransport, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command; return what it prints, with the numbers of the document."""
    place = ["--adb", str(emulator.server), "--device", emulator.serial]
    run([*words, *place])
    shown = capsys.readouterr()
    text = (shown.err + shown.out).replace(emulator.serial, "emulator-40010")
    text = text.replace(str(emulator.server.port), "43211")
    text = text.replace(f"pytest-clawperator {package_version()}", "pytest-clawperator 0.1.0")
    return re.sub(r"Python 3\.\d+\.\d+", "Python 3.12.1", text)


def test_the_table_is_what_is_printed(
    emulator: AdbTransport, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of the document, in its order."""
    assert printed(emulator, capsys, "doctor", "--output", "pretty") == TEXTS[0]


def test_the_changes_are_those_that_are_reported(
    emulator: AdbTransport, capsys: pytest.CaptureFixture[str]
) -> None:
    """What --fix reports stands before its table."""
    assert printed(emulator, capsys, "doctor", "--output", "pretty", "--fix").startswith(TEXTS[1])


def test_the_json_is_what_is_printed(
    emulator: AdbTransport, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fields of the report, and one of its checks."""
    [example] = re.findall(r"^```json\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)
    expected = json.loads(example)

    found = json.loads(printed(emulator, capsys, "doctor", "--json"))

    assert expected["checks"][0] in found["checks"]
    assert expected["nextActions"][0] in found["nextActions"]
    assert {**found, "checks": 0, "nextActions": 0} == {**expected, "checks": 0, "nextActions": 0}


def test_setting_up_is_reported_as_shown(
    emulator: AdbTransport, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each change, and the sentence at the end."""
    emulator.shell("sim reset; pm uninstall com.clawperator.operator")
    apk = str(operator_apk(tmp_path))

    assert (
        printed(emulator, capsys, "operator", "setup", "--apk", apk, "--output", "pretty")
        == (TEXTS[2])
    )


def test_every_check_has_its_row() -> None:
    """No check is forgotten, and none is made up."""
    rows = re.findall(r"^\| `((?:host|device|readiness)\.[\w.]+)` \|", DOCUMENT, re.MULTILINE)

    assert rows == [*HOST, "host.adb.servers", *ORDER, "readiness.smoke"]
