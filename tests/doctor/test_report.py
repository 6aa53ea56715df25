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
    Style,
    adb_command,
    all_as_json,
    can_show,
    failed,
    passed,
    table,
    verdict,
    warned,
)
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.wire import AdbServer

PACKAGE = "com.clawperator.operator"


def report_of(*findings: object, adb: str = "adb") -> Report:
    """Return a report about PH1."""
    return Report(serial="PH1", operator_package=PACKAGE, findings=findings, adb=adb)  # type: ignore[arg-type]  # shorter to write


def test_a_healthy_device_has_no_actions() -> None:
    """Absent values are left out; reports are ok together if each is, and despite warnings."""
    bad, odd = failed("a", "NO_DEVICES", "None."), warned("a", "DEVICE_SCREEN_OFF", "It is off.")
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
    document = all_as_json([report, report_of(odd), report_of(bad)])
    assert [one["ok"] for one in document["devices"]] == [True, True, False]
    assert not document["criticalOk"]
    assert all_as_json([report, report_of(odd)])["ok"]


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
    if "PH1" in words:  # phones on Wi-Fi have names with spaces, which stay one word
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
    """A step that is copied asks the adb server that was asked here."""
    assert adb_command(server) == command


ANIMATIONS = warned(
    "device.animations",
    "DEVICE_ANIMATIONS_ON",
    "Animations are on: tests take longer, and pictures of screens differ.",
    detail="They move.",
    fix=Fix("Off", (DeviceCommand("settings put global animator_duration_scale 0"),)),
)

SILENT = failed(
    "readiness.handshake",
    "RESULT_ENVELOPE_TIMEOUT",
    "The Operator does not answer.",
    detail="no envelope came within 5 s",
    fix=Fix("On", (ByHand("Switch it on."),)),
)

REPORT = Report(
    serial="PH1",
    about="Google Pixel 9, API 36",
    operator_package="com.clawperator.operator",
    findings=(passed("host.adb.server", "It answers."), ANIMATIONS, SILENT),
)


def text_of(*reports: Report, width: int = 80, is_ascii: bool = False) -> str:
    """Return the table as one text."""
    lines = table(reports, Style(width=width, is_ascii=is_ascii))
    return "\n".join(line.text for line in lines)


def test_one_device_is_shown_with_all_its_checks() -> None:
    """Each check is a row; a trouble is followed by its code and by what fixes it."""
    assert text_of(REPORT) == (
        "PH1 (Google Pixel 9, API 36)\n"
        "  ✓ host.adb.server       It answers.\n"
        "  ! device.animations     Animations are on: tests take longer, and pictures of\n"
        "                          screens differ.\n"
        "      DEVICE_ANIMATIONS_ON: They move.\n"
        "      → adb -s PH1 shell settings put global animator_duration_scale 0\n"
        "  ✗ readiness.handshake   The Operator does not answer.\n"
        "      RESULT_ENVELOPE_TIMEOUT: no envelope came within 5 s\n"
        "      → Switch it on."
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_terminal(width: int) -> None:
    """Texts are wrapped under their column; a command stays whole, so that it can be copied."""
    lines = text_of(REPORT, width=width).splitlines()
    several = text_of(*[REPORT] * 40, width=width).splitlines()

    assert max(len(line) for line in [*lines, *several] if "→ adb" not in line) <= width
    assert "      → adb -s PH1 shell settings put global animator_duration_scale 0" in lines
    assert "All devices" in several
    assert "PH1, PH1" not in "\n".join(several)


def test_a_terminal_without_the_signs_gets_ascii() -> None:
    """Every sign has a form in ASCII; the encoding decides."""
    text = text_of(REPORT, is_ascii=True)

    assert text.isascii()
    assert "\n  x readiness.handshake" in text
    assert "\n      -> Switch it on." in text
    encodings = "utf-8", "ascii", "latin-1", None
    assert [can_show(encoding) for encoding in encodings] == [True, False, False, False]


def test_several_devices_are_rows_with_their_troubles_below() -> None:
    """The computer is shown once; devices with the same trouble stand together."""
    healthy = replace(REPORT, serial="PH2", findings=(*REPORT.findings[:1], passed("a", "Fine.")))
    moving = replace(REPORT, serial="PH30", findings=(*REPORT.findings[:1], ANIMATIONS))

    assert text_of(REPORT, healthy, moving) == (
        "This computer\n"
        "  ✓ host.adb.server       It answers.\n"
        "\n"
        "Devices\n"
        "  ✗ PH1   1 failure, 1 warning  Google Pixel 9, API 36\n"
        "  ✓ PH2   1 check passed        Google Pixel 9, API 36\n"
        "  ! PH30  1 warning             Google Pixel 9, API 36\n"
        "\n"
        "PH1\n"
        "  ✗ readiness.handshake   The Operator does not answer.\n"
        "      RESULT_ENVELOPE_TIMEOUT: no envelope came within 5 s\n"
        "      → Switch it on.\n"
        "\n"
        "PH1, PH30\n"
        "  ! device.animations     Animations are on: tests take longer, and pictures of\n"
        "                          screens differ.\n"
        "      DEVICE_ANIMATIONS_ON: They move.\n"
        "      → adb -s SERIAL shell settings put global animator_duration_scale 0"
    )


def test_a_long_name_does_not_push_out_what_is_wrong_with_others() -> None:
    """Phones on Wi-Fi have long names; how many troubles each has stays readable."""
    long = replace(REPORT, serial=f"adb-PH2-{'x' * 50} (2)._adb-tls-connect._tcp")

    lines = text_of(REPORT, long).splitlines()

    row = next(line for line in lines if line.startswith(f"  ✗ {REPORT.serial}"))
    assert row == f"  ✗ {REPORT.serial}  1 failure, 1 warning  {REPORT.about}"


def test_text_of_phones_cannot_command_the_terminal() -> None:
    """Control characters are shown, and line breaks begin no row."""
    hostile = replace(REPORT, about="Evil\x1b[2J\n  ✓ all is well")

    assert "\x1b" not in text_of(hostile)
    assert "\n  ✓ all is well" not in text_of(hostile)


@pytest.mark.parametrize(
    ("reports", "words", "status"),
    [
        ([REPORT], "1 failure, 1 warning.", "fail"),
        ([replace(REPORT, findings=(ANIMATIONS,))], "1 warning.", "warn"),
        ([replace(REPORT, findings=REPORT.findings[:1])], "1 check passed.", "pass"),
        ([REPORT, replace(REPORT, findings=())], "2 devices: 1 healthy, 1 unfit.", "fail"),
    ],
)
def test_the_last_line_counts(reports: list[Report], words: str, status: str) -> None:
    """For one device checks are counted, for several their states."""
    line = verdict(reports)

    assert (line.text, line.status) == (words, status)
