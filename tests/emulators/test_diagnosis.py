"""Why an emulator did not start, from outputs of real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.emulators.diagnosis import diagnose, last_lines, read_end
from tests.doubles.simulated_sdk.emulator import START_FAILURES

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
    "ERROR   | Your device does not have enough disk space to run avd: `Pixel_7`.": (
        "the disk is full"
    ),
    "WARNING | x86_64 emulation may not work without hardware acceleration!": ACCELERATION,
    "CPU acceleration status: Android Emulator hypervisor driver is not installed on this"
    " machine": ACCELERATION,
    "emulator: ERROR: Unfortunately, there's an incompatibility between HAXM hypervisor and"
    " VirtualBox 4.3.30+ which doesn't allow multiple hypervisors to co-exist.": MAC,
    "qemu-system-aarch64: failed to initialize HVF: Operation not permitted": MAC,
    "FATAL   | Avd's CPU Architecture 'arm64' is not supported by the QEMU2 emulator on x86_64"
    " host. System image must match the host architecture.": PROCESSOR,
    "could not load Qt: libxkbfile.so.1: cannot open shared object file": (
        "the emulator is not completely installed"
    ),
    "FATAL | This AVD's configuration is missing a kernel file! Please ensure the file"
    ' "kernel-ranchu" is in the same location as your system image.': (
        "its system image is missing"
    ),
    "ERROR   | A snapshot operation for 'a' is pending and timeout has expired. Exiting...": (
        "it cannot use its snapshot"
    ),
    "qemu-system-x86_64: Could not set up host forwarding rule 'tcp::5555-:5555'": (
        "the ports of emulators are taken"
    ),
    "PANIC: Broken AVD system path. Check your ANDROID_SDK_ROOT value [/x]!": (
        "its system image is missing"
    ),
    "ERROR   | It seems too many emulator instances are running on this machine. Aborting.": (
        "the ports of emulators are taken"
    ),
    "ERROR   | Unknown AVD name [a], use -list-avds to see valid list.": (
        "it does not find the virtual device"
    ),
    "FATAL        | AVD 'a' requires 2 CPU cores to run. Only 1 cores are available.": (
        "this machine has too few processor cores"
    ),
    "qemu-system-x86_64-headless: error while loading shared libraries: libX11-xcb.so.1: cannot"
    " open shared object file: No such file or directory": (
        "the emulator is not completely installed"
    ),
    "qemu_mprotect__osdep: mprotect failed: Permission denied": MAC,
    "KVM internal error. Suberror: 1\nemulation failure\nEAX=80050033 EBX=01020800": ACCELERATION,
}
IN_ORDER = """WARNING | Crash handler not found, crash reporting disabled.
INFO         | Android emulator version 36.5.11.0 (build_id 15261927) (CL:N/A)
INFO         | Checking: hasSufficientDiskSpace
INFO         | Ok: Disk space requirements to run avd: `a` are met
INFO         | Ok: Hardware GPU requirements to run avd: `a` are passed
WARNING | File System is not ext4, disable QuickbootFileBacked feature
##  emulator by sending anonymized usage data. Or use the '-no-metrics'     ##
INFO         | HVF is not used on this host, KVM is required and not found to be missing
emulator: CPU Acceleration status: HAXM version 7.0.0 (4) is installed and usable.
emulator: INFO: another emulator is running with the same AVD, which is read-only
WARNING | cannot add library /a/emulator/qemu/linux-x86_64/lib64/vulkan/libvulkan.so: failed
ERROR   | Failed to create Vulkan instance.
ERROR   | Unable to connect to adb daemon on port: 5037
"""
BOX = "####################\n##   WARNING - ACTION REQUIRED   ##\n####################\n"


@pytest.mark.parametrize("failure", sorted(START_FAILURES))
def test_each_failure_of_the_simulated_sdk_is_recognised(failure: str) -> None:
    """The words of the real tool lead to the cause."""
    said = START_FAILURES[failure].format(
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


@pytest.mark.parametrize("code", [-11, 139, -6, 134])
def test_one_that_crashed_is_told_apart_from_one_that_was_killed(code: int) -> None:
    """It ended itself, which often comes from the way it draws."""
    cause = diagnose(IN_ORDER, code=code)

    assert cause.problem == "it crashed"
    assert "gpu=swiftshader_indirect" in cause.hint


def test_a_lock_that_an_emulator_left_is_told() -> None:
    """Where no emulator runs with the virtual device, its files say otherwise."""
    cause = diagnose("ERROR   | Running multiple emulators with the same AVD ")

    assert "*.lock" in cause.hint


@pytest.mark.parametrize("code", [-9, 137])
def test_one_that_was_killed_without_a_word_is_told(code: int) -> None:
    """The system ends processes where memory is short; what the emulator printed counts more."""
    assert "for want of memory" in diagnose(IN_ORDER, code=code).problem
    assert diagnose("No space left on device", code=code).problem == "the disk is full"


def test_the_cause_may_be_far_from_the_end(tmp_path: Path) -> None:
    """The whole end of the output is searched, of which only some lines are shown."""
    output = tmp_path / "log"
    output.write_text("ERROR | Not enough disk space to run AVD 'a'.\n" + "INFO | x\n" * 500)

    printed = read_end(output)

    assert diagnose(printed).problem == "the disk is full"
    assert len(last_lines(printed).splitlines()) == 12


def test_the_end_of_the_output_is_shown_without_its_advertisement() -> None:
    """A box about usage data, which the tool always prints, would hide the lines before."""
    assert last_lines(f"FATAL | a\n{BOX}INFO | b\n") == "FATAL | a\nINFO | b"
