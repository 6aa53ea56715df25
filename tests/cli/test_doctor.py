"""``doctor``: through the whole program, on simulated phones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli.app import run
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer

Run = Callable[..., "tuple[int, str, str]"]


@pytest.fixture(scope="module")
def rack() -> Iterator[Simulator]:
    """Start two phones."""
    with Simulator(devices=2, seed=3) as simulator:
        yield simulator


@pytest.fixture
def phone(rack: Simulator) -> Iterator[AdbTransport]:
    """Reach the first phone, and set it back afterwards."""
    transport = AdbTransport(AdbServer(rack.adb_host, rack.adb_port), rack.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


@pytest.fixture
def doctor(
    rack: Simulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Return the function that runs the command; it returns exit code, stdout and stderr."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("ANDROID_SERIAL", raising=False)

    def doctor(*words: str) -> tuple[int, str, str]:
        code = run(["doctor", "--adb", f"{rack.adb_host}:{rack.adb_port}", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return doctor


def checks(out: str) -> dict[str, Any]:
    """Return the checks of a document by their ids."""
    return {check["id"]: check for check in json.loads(out)["checks"]}


def test_a_device_is_examined_and_mended(doctor: Run, phone: AdbTransport) -> None:
    """With --fix each change is told on stderr and in the document, and the device is fit."""
    phone.shell("settings put secure accessibility_enabled 0")

    found = doctor("--device", phone.serial, "--json")
    mended = doctor("--device", phone.serial, "--json", "--fix")

    assert (found[0], mended[0]) == (1, 0)
    broken = checks(found[1])["readiness.handshake"]
    assert broken["code"] == "DEVICE_ACCESSIBILITY_NOT_RUNNING"
    assert broken["fix"]["steps"][0]["value"].startswith("clawperator-py grant-device-permissions")
    assert checks(mended[1])["readiness.handshake"]["status"] == "pass"
    changes = json.loads(mended[1])["changes"]
    assert "switched the Operator's accessibility service on" in changes
    assert mended[2].splitlines() == [f"[{phone.serial}] {change}" for change in changes]


def test_several_devices_and_none_chosen_is_a_warning(doctor: Run) -> None:
    """As published: a warning, an exit code of 0, and no device is examined."""
    code, out, _ = doctor("--json")

    found = checks(out)["device.discovery"]
    assert (code, found["status"]) == (0, "warn")
    assert found["code"] == "MULTIPLE_DEVICES_DEVICE_ID_REQUIRED"
    assert "device.capability" not in checks(out)


def test_all_devices_are_examined_at_once(doctor: Run, rack: Simulator) -> None:
    """The document has a report for each device."""
    code, out, _ = doctor("--all", "--json")

    document = json.loads(out)
    assert code == 0
    assert [device["deviceId"] for device in document["devices"]] == sorted(rack.serials)
    assert document["ok"]


def test_people_get_a_table_that_fits(doctor: Run, phone: AdbTransport) -> None:
    """Signs, ids and what to do; only commands may be longer than the terminal is wide."""
    phone.shell("sim fault locked")

    code, out, _ = doctor("--device", phone.serial, "--output", "pretty")

    lines = out.splitlines()
    assert code == 0
    assert any(line.startswith("  ! device.screen ") for line in lines)
    assert max(len(line) for line in lines if " shell " not in line) <= 80
    assert lines[-1] == "With --fix the steps that are commands are taken."


def test_a_silent_operator_is_told_in_a_sentence(doctor: Run, phone: AdbTransport) -> None:
    """The lines of its log are evidence, and no part of the table."""
    phone.shell("settings put global animator_duration_scale 0")
    phone.shell("sim fault no_envelope")

    found = checks(doctor("--device", phone.serial, "--json")[1])["readiness.handshake"]

    assert found["code"] == "RESULT_ENVELOPE_TIMEOUT"
    assert "\n" not in found["detail"]
    assert "Clawperator-Command" not in found["detail"]
    assert any("Clawperator-Command" in line for line in found["evidence"]["log"])


def test_what_fix_could_not_mend_is_not_promised_again(doctor: Run, phone: AdbTransport) -> None:
    """After --fix the advice to use it is gone."""
    phone.shell("sim fault time_set_back")

    _, out, _ = doctor("--device", phone.serial, "--output", "pretty", "--fix")

    assert "! device.clock" in out
    assert "With --fix" not in out


def test_a_device_that_is_not_there_is_named_in_the_report(doctor: Run) -> None:
    """As published: the report is about the device that was asked for."""
    code, out, _ = doctor("--device", "nowhere", "--json")

    assert (code, json.loads(out)["deviceId"]) == (1, "nowhere")


def test_the_exit_code_can_be_left_out(doctor: Run, phone: AdbTransport) -> None:
    """With --check-only the document alone tells what was found."""
    phone.shell("sim fault operator_absent")

    code, out, _ = doctor("--device", phone.serial, "--json", "--check-only")

    assert (code, json.loads(out)["ok"]) == (0, False)


@pytest.mark.parametrize(
    "words", [("--device", "http://127.0.0.1:3000"), ("--timeout", "nonsense"), ("--timeout", "0")]
)
def test_what_cannot_be_examined_is_refused(doctor: Run, words: tuple[str, ...]) -> None:
    """A url, and a time that is none, are mistakes of the command line."""
    code, out, _ = doctor("--json", *words)

    assert (code, json.loads(out)["code"]) == (1, "USAGE")
