"""A report as JSON, in the form of the published doctor."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from pytest_clawperator.doctor.report import (
    ByHand,
    DeviceCommand,
    Fix,
    Guidance,
    Reconnect,
    Regrant,
    Report,
    Step,
    adb_command,
    all_as_json,
    failed,
    passed,
    warned,
)
from pytest_clawperator.plugin.session.hints import for_pytest
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.wire import AdbServer

PACKAGE = "com.clawperator.operator"


def report_of(*findings: object, adb: str = "adb") -> Report:
    """Return a report about PH1."""
    return Report(serial="PH1", operator_package=PACKAGE, findings=findings, adb=adb)  # type: ignore[arg-type]  # shorter to write


def test_a_healthy_device_has_no_actions() -> None:
    """What is not there is left out."""
    report = report_of(passed("device.boot", "It is up.", sdk=36, size=None))

    assert report.to_json() == {
        "ok": True,
        "criticalOk": True,
        "deviceId": "PH1",
        "operatorPackage": PACKAGE,
        "checks": [
            {"id": "device.boot", "status": "pass", "summary": "It is up.", "evidence": {"sdk": 36}}
        ],
    }


def test_troubles_have_their_fixes_and_guidance() -> None:
    """A failure makes the report not ok; what to do stands with each and all together."""
    fix = Fix("Do it", (DeviceCommand("wm size"), ByHand("Look.")))
    guidance = Guidance("the dialog", ("Accept it.",))
    report = report_of(
        warned("a", "DEVICE_SCREEN_OFF", "It is off.", detail="Why.", fix=fix),
        failed("b", "DEVICE_UNAUTHORIZED", "No.", guidance=guidance),
        warned("c", "DEVICE_SCREEN_OFF", "Again.", fix=fix),
    )

    document = json.loads(json.dumps(report.to_json()))

    assert (document["ok"], document["criticalOk"]) == (False, False)
    assert document["checks"][0]["fix"] == {
        "title": "Do it",
        "platform": "any",
        "steps": [
            {"kind": "shell", "value": "adb -s PH1 shell wm size"},
            {"kind": "manual", "value": "Look."},
        ],
    }
    assert document["checks"][1]["deviceGuidance"] == {
        "screen": "the dialog",
        "steps": ["Accept it."],
    }
    assert document["nextActions"] == ["adb -s PH1 shell wm size", "Look.", "Accept it."]


def test_warnings_leave_a_report_ok() -> None:
    """Only what keeps tests from working makes a device unfit."""
    report = report_of(warned("a", "DEVICE_SCREEN_OFF", "It is off."))

    assert report.ok
    assert len(report.troubles) == 1


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (DeviceCommand("wm size"), "adb -P 6000 -s PH1 shell wm size"),
        (
            Regrant(),
            "clawperator-py grant-device-permissions --device PH1",
        ),
        (Reconnect(), "adb -P 6000 reconnect offline"),
        (ByHand(Remedy(RemedyKind.CORRECT_APK)), "Correct --claw-operator-apk."),
    ],
)
def test_a_step_can_be_typed_as_it_is(step: Step, words: str) -> None:
    """Commands name the device and the port of its adb server; hints are in the reader's words."""
    assert report_of(adb="adb -P 6000").step_in_words(step, for_pytest) == words


@pytest.mark.parametrize("step", [DeviceCommand("wm size"), Regrant()])
def test_a_serial_with_a_space_is_one_word(step: Step) -> None:
    """Phones on Wi-Fi have such names, and a shell would take them apart."""
    serial = "adb-PH1-aBcDeF (2)._adb-tls-connect._tcp"

    typed = replace(report_of(), serial=serial).step_in_words(step)

    assert serial in shlex.split(typed)


@pytest.mark.parametrize(
    ("server", "command"),
    [
        (AdbServer(), "adb"),
        (AdbServer(port=6000), "adb -P 6000"),
        (AdbServer("rack"), "adb -H rack"),
        (AdbServer("rack", 6000), "adb -H rack -P 6000"),
        (AdbServer(path="/run/adb"), "adb -L localfilesystem:/run/adb"),
    ],
)
def test_the_command_reaches_the_same_server(server: AdbServer, command: str) -> None:
    """Who copies a step asks the adb server that was asked here."""
    assert adb_command(server) == command


def test_several_reports_are_ok_if_each_is() -> None:
    """One document has them all."""
    good, bad = report_of(passed("a", "Fine.")), report_of(failed("a", "NO_DEVICES", "None."))

    assert all_as_json([good, good])["ok"]
    assert not all_as_json([good, bad])["criticalOk"]
    assert [one["ok"] for one in all_as_json([good, bad])["devices"]] == [True, False]
