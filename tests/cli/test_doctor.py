"""``doctor`` and ``version``: through the whole program, on simulated phones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli, Printed

Run = Callable[..., Printed]


@pytest.fixture
def doctor(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the function that runs the command."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *words: cli("doctor", *words)


def checks(printed: Printed) -> dict[str, Any]:
    """Return the checks of a document by their ids."""
    return {check["id"]: check for check in printed.json["checks"]}


def test_a_device_is_examined_and_fixed(doctor: Run, phone: AdbTransport) -> None:
    """With --fix each change is on stderr and in the document, and the device is fit."""
    phone.shell("settings put secure accessibility_enabled 0")

    found = doctor("--device", phone.serial, "--json")
    fixed = doctor("--device", phone.serial, "--json", "--fix")

    assert (found.code, fixed.code) == (1, 0)
    broken = checks(found)["readiness.handshake"]
    assert broken["code"] == "DEVICE_ACCESSIBILITY_NOT_RUNNING"
    assert broken["fix"]["steps"][0]["value"].startswith("clawperator-py grant-device-permissions")
    assert checks(fixed)["readiness.handshake"]["status"] == "pass"
    changes = fixed.json["changes"]
    assert "switched the Operator's accessibility service on" in changes
    assert fixed.err.splitlines() == [f"[{phone.serial}] {change}" for change in changes]


@pytest.fixture(scope="module")
def rack() -> Iterator[Simulator]:
    """Start two phones."""
    with Simulator(devices=2, seed=3) as simulator:
        yield simulator


def test_several_devices_are_examined_together(
    doctor: Run, rack: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --all there is a report for each; without a choice a warning, as published."""
    monkeypatch.delenv("ANDROID_SERIAL")
    adb = f"{rack.adb_host}:{rack.adb_port}"
    several = doctor("--json", "--adb", adb)
    every = doctor("--all", "--json", "--adb", adb)
    absent = doctor("--device", "nowhere", "--json", "--adb", adb)

    found = checks(several)["device.discovery"]
    assert (several.code, found["status"]) == (0, "warn")
    assert found["code"] == "MULTIPLE_DEVICES_DEVICE_ID_REQUIRED"
    assert "device.capability" not in checks(several)
    assert (every.code, every.json["ok"]) == (0, True)
    assert [device["deviceId"] for device in every.json["devices"]] == sorted(rack.serials)
    assert (absent.code, absent.json["deviceId"]) == (1, "nowhere")


def test_people_get_a_table_that_fits(doctor: Run, phone: AdbTransport) -> None:
    """Only commands may be longer than the terminal is wide; after --fix it is not advised."""
    phone.shell("sim fault locked")
    lines = doctor("--device", phone.serial, "--output", "pretty").out.splitlines()
    phone.shell("sim fault time_set_back")
    fixed = doctor("--device", phone.serial, "--output", "pretty", "--fix").out
    phone.shell("sim fault operator_absent")
    unfit = doctor("--device", phone.serial, "--json", "--check-only")

    assert any(line.startswith("  ! device.screen ") for line in lines)
    assert max(len(line) for line in lines if " shell " not in line) <= 80
    assert lines[-1] == "With --fix the steps that are commands are taken."
    assert "! device.clock" in fixed
    assert "With --fix" not in fixed
    assert (unfit.code, unfit.json["ok"]) == (0, False)


def test_a_silent_operator_is_reported_in_a_sentence(
    doctor: Run, phone: AdbTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of its log are evidence, and not part of the table."""
    monkeypatch.setattr("pytest_clawperator.doctor.examine._PING_WITHIN", 1.0)
    phone.shell("settings put global animator_duration_scale 0")
    phone.shell("sim fault no_envelope")

    found = checks(doctor("--device", phone.serial, "--json"))["readiness.handshake"]

    assert found["code"] == "RESULT_ENVELOPE_TIMEOUT"
    assert "\n" not in found["detail"]
    assert "Clawperator-Command" not in found["detail"]
    assert any("Clawperator-Command" in line for line in found["evidence"]["log"])


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        ("true", None),
        ("sim fault operator_version version=0.5.9", None),
        ("sim fault operator_version version=0.6.0", "VERSION_INCOMPATIBLE"),
        ("sim fault operator_version version=new", "APK_VERSION_INVALID"),
        ("sim fault operator_absent", "OPERATOR_NOT_INSTALLED"),
        ("sim fault operator_variant", "OPERATOR_VARIANT_MISMATCH"),
        ("sim fault booting", "DEVICE_SHELL_UNAVAILABLE"),
    ],
)
def test_versions_are_compared(
    cli: Cli, phone: AdbTransport, trouble: str, code: str | None
) -> None:
    """Major and minor number decide; else the answer has the code and what to do."""
    phone.shell(trouble)

    printed = cli("version", "--check-compat", "--json")

    found = printed.json
    assert printed.code == (0 if code is None else 1)
    assert found["compatible"] is (code is None)
    assert found.get("error", {}).get("code") == code
    assert code is None or found["remediation"]


def test_the_version_needs_no_device(offline: Cli) -> None:
    """Without a comparison no device is asked."""
    printed = offline("version", "--json")

    assert (printed.code, json.loads(printed.out)["supportedOperator"]) == (0, "0.5")
