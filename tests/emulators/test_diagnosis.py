"""Why an emulator did not start, from outputs of real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.emulators.diagnosis import diagnose, last_lines, read_end
from pytest_clawperator.simulator.sdk.tools.start_failures import texts

ACCELERATION = "this machine cannot run it with hardware acceleration"
PERMISSION = "this user may not use /dev/kvm"
MAC = "macOS's hypervisor cannot be used"
PROCESSOR = "its system image is for another kind of processor"
SAME = "another emulator runs with the same virtual device"
PROBLEMS = {
    "kvm_denied": PERMISSION,
    "kvm_missing": ACCELERATION,
    "kvm_unsupported": ACCELERATION,
    "haxm_missing": MAC,
    "hypervisor": MAC,
    "wrong_abi": PROCESSOR,
    "no_space": "the disk is full",
    "no_memory": "there is not enough memory",
    "no_display": "there is no display",
    "no_engine": "the emulator is not completely installed",
    "no_library": "the emulator is not completely installed",
    "no_image": "its system image is missing",
    "same_avd": SAME,
}
OLDER = {
    "emulator: ERROR: x86 emulation currently requires hardware acceleration!\n"
    "Please ensure KVM is properly installed and usable.\nCPU acceleration status: KVM is not"
    " installed on this machine (/dev/kvm is missing).": ACCELERATION,
    "Could not access KVM kernel module: Permission denied": PERMISSION,
    "Could not access KVM kernel module: No such file or directory": ACCELERATION,
    "FATAL | CPU Architecture 'arm64-v8a' is not supported by the QEMU2 emulator, (the classic"
    " engine is deprecated!)": PROCESSOR,
    "emulator: ERROR: There's another emulator instance running with the current AVD 'a'."
    " Exiting...": SAME,
    "ERROR   | Not enough disk space to run AVD 'test'. Exiting...": "the disk is full",
    "PANIC: Broken AVD system path. Check your ANDROID_SDK_ROOT value [/x]!": (
        "its system image is missing"
    ),
    "ERROR   | It seems too many emulator instances are running on this machine. Aborting.": (
        "the ports of emulators are taken"
    ),
    "ERROR   | Unknown AVD name [a], use -list-avds to see valid list.": (
        "it does not find the virtual device"
    ),
}
IN_ORDER = """WARNING | Crash handler not found, crash reporting disabled.
INFO         | Android emulator version 36.5.11.0 (build_id 15261927) (CL:N/A)
INFO         | Checking: hasSufficientDiskSpace
INFO         | Ok: Disk space requirements to run avd: `a` are met
INFO         | Ok: Hardware GPU requirements to run avd: `a` are passed
WARNING | File System is not ext4, disable QuickbootFileBacked feature
##  emulator by sending anonymized usage data. Or use the '-no-metrics'     ##
INFO         | HVF is not used on this host, KVM is required and not found to be missing
"""


@pytest.mark.parametrize("failure", sorted(texts()))
def test_each_failure_of_the_simulated_sdk_is_recognised(failure: str) -> None:
    """The words of the real tool lead to the cause."""
    said = texts()[failure].format(
        abi="x86_64", cpu="arm64", host="x86_64", folder="/a", engine="q"
    )

    assert diagnose(said).problem == PROBLEMS[failure]


@pytest.mark.parametrize("said", OLDER)
def test_other_wordings_are_recognised(said: str) -> None:
    """Older and newer versions say it in other words."""
    assert diagnose(said).problem == OLDER[said]


def test_what_is_reported_as_in_order_is_no_cause() -> None:
    """Lines for information name disk, graphics and acceleration without any problem."""
    problem = diagnose(IN_ORDER).problem

    assert problem not in {*PROBLEMS.values(), *OLDER.values()} or "/dev/kvm" in problem


def test_the_cause_may_be_far_from_the_end(tmp_path: Path) -> None:
    """The whole end of the output is searched, of which only some lines are shown."""
    output = tmp_path / "log"
    output.write_text("ERROR | Not enough disk space to run AVD 'a'.\n" + "INFO | x\n" * 500)

    printed = read_end(output)

    assert diagnose(printed).problem == "the disk is full"
    assert len(last_lines(printed).splitlines()) == 12
