"""Examining real connections to simulated phones: each problem is found, and fixed if possible."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import ConnectedDevice, read_device
from pytest_clawperator.doctor.examine import Examination, discover, examine_all
from pytest_clawperator.doctor.report import Finding, Report
from pytest_clawperator.errors import ConfigurationError, LeaseError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.acceptance.lab import Witness
from tests.doctor.conftest import Examine

OPERATOR = OPERATOR_PACKAGE

DEADLINE = 20.0

ORDER = [
    "device.discovery",
    "device.capability",
    "device.lease",
    "device.boot",
    "device.storage",
    "device.clock",
    "device.battery_saver",
    "device.screen",
    "device.input",
    "device.animations",
    "readiness.apk.presence",
    "readiness.version.compatibility",
    "readiness.settings.dev_options",
    "readiness.settings.usb_debugging",
    "readiness.standby",
    "readiness.uiautomation",
    "readiness.log.level",
    "readiness.log.delivery",
    "readiness.log.buffer",
    "readiness.handshake",
]


HANDSHAKE = "readiness.handshake fail DEVICE_ACCESSIBILITY_NOT_RUNNING"
RESTRICTED = "readiness.standby warn OPERATOR_RESTRICTED"

#: What is done to the phone, and which check finds it as what.
FIXABLE = {
    "settings put global low_power 1": "device.battery_saver warn DEVICE_BATTERY_SAVER_ON",
    "input keyevent KEYCODE_SLEEP": "device.screen warn DEVICE_SCREEN_OFF",
    "sim fault locked": "device.screen warn DEVICE_SCREEN_LOCKED",
    "settings put global transition_animation_scale 0.5": (
        "device.animations warn DEVICE_ANIMATIONS_ON"
    ),
    "settings put global development_settings_enabled 0": (
        "readiness.settings.dev_options warn DEVICE_DEV_OPTIONS_DISABLED"
    ),
    "settings delete global adb_enabled": (
        "readiness.settings.usb_debugging warn DEVICE_USB_DEBUGGING_DISABLED"
    ),
    f"am set-standby-bucket {OPERATOR} restricted": RESTRICTED,
    f"cmd appops set {OPERATOR} RUN_ANY_IN_BACKGROUND ignore": RESTRICTED,
    "sim fault ui_automation": "readiness.uiautomation fail DEVICE_UI_AUTOMATION_BUSY",
    "setprop log.tag W": "readiness.log.level fail DEVICE_LOG_LEVEL",
    "logcat -G 256K": "readiness.log.buffer warn DEVICE_LOG_BUFFER_SMALL",
    "settings put secure accessibility_enabled 0": HANDSHAKE,
    f"am force-stop {OPERATOR}": HANDSHAKE,
    "sim fault operator_crash times=1": "readiness.handshake fail OPERATOR_CRASHED",
}
UNFIXABLE = {
    "sim fault locked code=1": "device.screen warn DEVICE_SCREEN_LOCKED",
    "sim fault storage_full": "device.storage fail DEVICE_STORAGE_LOW",
    "sim fault time_set_back": "device.clock warn DEVICE_CLOCK_WRONG",
    "sim fault booting": "device.boot fail DEVICE_OFFLINE",
    "sim fault operator_absent": "readiness.apk.presence fail OPERATOR_NOT_INSTALLED",
    "sim fault operator_variant": "readiness.apk.presence warn OPERATOR_VARIANT_MISMATCH",
    "sim fault operator_version version=0.6.0": (
        "readiness.version.compatibility fail VERSION_INCOMPATIBLE"
    ),
}


def found(report: Report, check: str) -> Finding:
    """Return what a check of the report found."""
    return next(finding for finding in report.findings if finding.id == check)


def test_a_healthy_phone_passes_every_check(examined: Examine) -> None:
    """All checks are there in their order, and nothing was found or changed."""
    report = examined()

    assert [finding.id for finding in report.findings] == ORDER
    assert report.troubles == ()
    assert report.ok
    assert report.changes == ()
    assert report.about == "Google Pixel 9, API 36"


@pytest.mark.parametrize("command", [*FIXABLE, *UNFIXABLE])
def test_a_problem_is_found_and_fixed_if_possible(
    patient: AdbTransport, examined: Examine, command: str
) -> None:
    """The check finds the problem; a fix is reported, and afterwards the problem is gone."""
    check, status, code = {**FIXABLE, **UNFIXABLE}[command].split()
    patient.shell(command)

    before, fixed = examined(), examined(fixes=True)

    finding = found(before, check)
    assert (finding.status, str(finding.code)) == (status, code)
    assert before.changes == ()
    assert (found(fixed, check).status == "pass") is (command in FIXABLE)
    assert bool(fixed.changes) or command in UNFIXABLE
    assert finding.fix is not None


def test_a_log_that_the_maker_suppresses_is_found(patient: AdbTransport, examined: Examine) -> None:
    """Only lines of level E come into the log, so the Operator cannot answer."""
    patient.shell("sim fault log_suppressed")

    finding = found(examined(), "readiness.log.delivery")

    assert (finding.status, finding.code) == ("fail", "DEVICE_LOG_SUPPRESSED")
    assert finding.evidence["arrived"] == ["E"]


def test_a_leased_device_is_only_read(
    patient: AdbTransport, examined: Examine, leases: FileLeases
) -> None:
    """The holder is named; the Operator is not asked, and nothing is fixed."""
    patient.shell("settings put global low_power 1")
    hold = leases.try_take(read_device(patient, server=patient.server).key)
    assert hold is not None

    with hold:
        report = examined(fixes=True)

    finding = found(report, "device.lease")
    assert (finding.status, finding.code) == ("warn", "DEVICE_LEASED")
    assert str(os.getpid()) in finding.summary
    assert found(report, "device.battery_saver").status == "warn"
    assert "readiness.handshake" not in {one.id for one in report.findings}
    assert report.changes == ()


class Unreachable(FileLeases):
    """Leases of another machine, which cannot be reached."""

    def holder(self, key: str) -> Holder | None:
        """Raise, as Redis does that is away."""
        raise LeaseError("no answer", code="REMOTE_HOST_UNREACHABLE", hint="Start it.")


def test_leases_that_cannot_be_read_are_found(examined: Examine, tmp_path: Path) -> None:
    """Without knowing whose the device is, the Operator is not asked."""
    report = examined(leases=Unreachable(run_id="doctor", folder=tmp_path))

    finding = found(report, "device.lease")
    assert (finding.status, finding.code) == ("fail", "REMOTE_HOST_UNREACHABLE")
    assert "readiness.handshake" not in {one.id for one in report.findings}


def test_an_error_in_a_thread_is_raised(patient: AdbTransport, leases: FileLeases) -> None:
    """An error that is not about a device does not look like a hanging device."""
    device = ConnectedDevice(patient.serial, "device", patient.server)
    how = Examination(package="no package", leases=leases)

    with pytest.raises(ConfigurationError, match="no package"):
        examine_all([device], how)


def test_an_interrupt_while_fixing_releases_the_device(
    patient: AdbTransport, leases: FileLeases
) -> None:
    """The device is leased while it is fixed; Ctrl-C ends the wait, and the lease with it."""
    key = read_device(patient, server=patient.server).key
    patient.shell("settings put global low_power 1")
    device = ConnectedDevice(patient.serial, "device", patient.server)
    holders, seen, before = [], threading.Event(), set(threading.enumerate())

    def interrupt(serial: str, change: str) -> None:
        holders.append(leases.holder(key))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        seen.wait(DEADLINE)

    how = Examination(package=OPERATOR, leases=leases, fixes=True, notify=interrupt)
    with pytest.raises(KeyboardInterrupt):
        examine_all([device], how)
    left = leases.holder(key)
    seen.set()
    for thread in {*threading.enumerate()} - before:
        thread.join(DEADLINE)

    assert holders[0] is not None
    assert left is None


def test_the_smoke_test_opens_settings(patient: AdbTransport, examined: Examine) -> None:
    """With ``full`` Settings is opened and seen; a failure has its cause."""
    report = examined(full=True)
    shown = patient.shell("sim screen").stdout
    patient.shell("sim fault step_error type=open_app code=APP_NOT_FOUND")
    finding = found(examined(full=True), "readiness.smoke")

    assert found(report, "readiness.smoke").status == "pass"
    assert "Connections" in shown
    assert (finding.status, finding.code) == ("fail", "SMOKE_OPEN_SETTINGS_FAILED")
    assert finding.detail.startswith("APP_NOT_FOUND: ")


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Stop a process for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_device_that_hangs_delays_no_other(
    patient: AdbTransport, leases: FileLeases, simulator: Simulator, server: AdbServer
) -> None:
    """Each device is examined by itself: one that does not answer is reported so."""
    hanging = ConnectedDevice(simulator.serials[0], "device", server)
    healthy = ConnectedDevice(patient.serial, "device", patient.server)
    how = Examination(package=OPERATOR, leases=leases, within=1.0)

    with frozen(simulator.pid):
        reports = examine_all([hanging, healthy], how)

    assert [report.serial for report in reports] == [hanging.serial, healthy.serial]
    assert [report.ok for report in reports] == [False, True]
    assert found(reports[0], "device.capability").code == "TRANSPORT_TIMEOUT"


def test_a_device_that_is_connected_twice_answers_both_times(
    simulator: Simulator, server: AdbServer, leases: FileLeases
) -> None:
    """An execution waits for the other one instead of failing with a conflict."""
    emulator = ConnectedDevice(simulator.serials[1], "device", server)

    reports = examine_all([emulator] * 4, Examination(package=OPERATOR, leases=leases))

    assert [found(report, "readiness.handshake").status for report in reports] == ["pass"] * 4


def test_an_unusable_device_has_its_state(leases: FileLeases) -> None:
    """The state that adb reports is found, and nothing is asked of the device."""
    with Simulator(devices=1, faults=["unauthorized"]) as simulator:
        witness = Witness(AdbServer(simulator.adb_host, simulator.adb_port), simulator.serials[0])
        witness.wait_for_state("unauthorized")
        device = ConnectedDevice(witness.serial, "unauthorized", witness.server)
        (report,) = examine_all([device], Examination(package=OPERATOR, leases=leases))

    finding = found(report, "device.discovery")
    assert (finding.status, finding.code) == ("fail", "DEVICE_UNAUTHORIZED")
    assert finding.guidance is not None
    assert len(report.findings) == 1


def test_a_device_that_comes_back_is_fixed(patient: AdbTransport, leases: FileLeases) -> None:
    """An offline device is reconnected, and examined once adb can use it."""
    offline = ConnectedDevice(patient.serial, "offline", patient.server)

    (report,) = examine_all([offline], Examination(package=OPERATOR, leases=leases, fixes=True))

    assert report.ok
    assert report.changes[0] == "asked adb to reconnect to the device"


def test_the_habits_of_makers_are_known(leases: FileLeases) -> None:
    """Warnings of the linker do not matter; a guarded adb is found before a test fails."""
    with Simulator(devices=1, quirks=["guarded-adb", "linker-warning"]) as simulator:
        server = AdbServer(simulator.adb_host, simulator.adb_port)
        device = ConnectedDevice(simulator.serials[0], "device", server)
        (report,) = examine_all([device], Examination(package=OPERATOR, leases=leases))

    finding = found(report, "device.input")
    assert [one.id for one in report.findings] == ORDER
    assert [one.id for one in report.troubles] == ["device.input", "device.animations"]
    assert (finding.status, finding.code) == ("warn", "DEVICE_INPUT_GUARDED")
    assert "USB debugging (Security settings)" in str(finding.fix)


SERVER = AdbServer()


def connected(*states: str) -> list[ConnectedDevice]:
    """Return devices PH1, PH2 ... in these states."""
    return [ConnectedDevice(f"PH{at}", state, SERVER) for at, state in enumerate(states, 1)]


@pytest.mark.parametrize(
    ("states", "serial", "expected"),
    [
        (["device"], None, ("pass", None, "PH1")),
        (["unauthorized", "device"], None, ("pass", None, "PH2")),
        (["device", "device"], "PH2", ("pass", None, "PH2")),
        (["device", "device"], None, ("warn", "MULTIPLE_DEVICES_DEVICE_ID_REQUIRED", None)),
        ([], None, ("fail", "NO_DEVICES", None)),
        (["unauthorized"], None, ("fail", "DEVICE_UNAUTHORIZED", None)),
        (["offline"], None, ("fail", "DEVICE_OFFLINE", None)),
        (["device", "offline"], "PH2", ("fail", "DEVICE_OFFLINE", None)),
        (["no permissions (missing udev rules)"], None, ("fail", "ADB_NO_USB_PERMISSIONS", None)),
        (["device"], "PH9", ("fail", "DEVICE_NOT_FOUND", None)),
    ],
)
def test_the_device_that_is_meant_is_found(
    states: list[str], serial: str | None, expected: tuple[str, str | None, str | None]
) -> None:
    """The named one, or the only usable one; else the finding says why there is none."""
    finding, device = discover(connected(*states), serial)

    code = finding.code and str(finding.code)
    assert (finding.status, code, device and device.serial) == expected
    assert finding.status == "pass" or finding.fix or finding.guidance
