"""A report as a table for people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_clawperator.doctor.report import (
    ByHand,
    DeviceCommand,
    Fix,
    Report,
    Style,
    can_show,
    failed,
    passed,
    table,
    verdict,
    warned,
)

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
    """Each check is a row; a trouble is followed by its code and by what mends it."""
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


def test_a_terminal_without_the_signs_gets_ascii() -> None:
    """Every sign has a form in ASCII."""
    text = text_of(REPORT, is_ascii=True)

    assert text.isascii()
    assert "\n  x readiness.handshake" in text
    assert "\n      -> Switch it on." in text


@pytest.mark.parametrize(
    ("encoding", "can"), [("utf-8", True), ("ascii", False), ("latin-1", False), (None, False)]
)
def test_the_encoding_tells_what_can_be_shown(encoding: str | None, can: bool) -> None:
    """A terminal whose encoding lacks the signs cannot show them."""
    assert can_show(encoding) is can


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


def test_a_trouble_of_all_devices_is_told_so() -> None:
    """Their names stand in the rows above."""
    lines = text_of(*[REPORT] * 40).splitlines()

    assert "All devices" in lines
    assert "PH1, PH1" not in "\n".join(lines)


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
    """One device is told by its checks, several by how they are."""
    line = verdict(reports)

    assert (line.text, line.status) == (words, status)
