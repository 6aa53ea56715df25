"""Why an emulator did not start, from outputs of real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.emulators.diagnosis import diagnose, last_lines, read_end

ACCELERATION = "this machine cannot run it with hardware acceleration"
PERMISSION = "this user may not use /dev/kvm"
MAC = "macOS's hypervisor cannot be used"
PROCESSOR = "its system image is for another kind of processor"
SAME = "another emulator runs with the same virtual device"
INSTALLED = "the emulator is not completely installed"
DISK = "the disk is full"
IMAGE = "its system image is missing"
REQUIRED = "ERROR   | x86_64 emulation currently requires hardware acceleration!\n"

#: What real emulators printed, the cause, and what the hint names.
FAILURES = [
    (
        f"{REQUIRED}CPU acceleration status: This user doesn't have permissions to use KVM"
        " (/dev/kvm).\nThe KVM line in /etc/group is: [kvm:x:108:]\n",
        PERMISSION,
        "gpasswd -a",
    ),
    ("Could not access KVM kernel module: Permission denied", PERMISSION, "gpasswd -a"),
    (
        f"{REQUIRED}CPU acceleration status: /dev/kvm is not found: VT disabled in BIOS or KVM"
        " kernel module not loaded\n",
        ACCELERATION,
        "VT-x or AMD-V",
    ),
    (f"{REQUIRED}KVM requires a CPU that supports vmx or svm", ACCELERATION, "VT-x or AMD-V"),
    (
        "emulator: ERROR: x86 emulation currently requires hardware acceleration!\nCPU acceleration"
        " status: KVM is not installed on this machine (/dev/kvm is missing).",
        ACCELERATION,
        "",
    ),
    ("Could not access KVM kernel module: No such file or directory", ACCELERATION, ""),
    ("WARNING | x86_64 emulation may not work without hardware acceleration!", ACCELERATION, ""),
    (
        "CPU acceleration status: Android Emulator hypervisor driver is not installed on this"
        " machine",
        ACCELERATION,
        "",
    ),
    ("KVM internal error. Suberror: 1\nemulation failure\nEAX=80050033", ACCELERATION, ""),
    (
        f"{REQUIRED}Please ensure Intel HAXM is properly installed and usable.\n"
        "CPU acceleration status: HAXM is not installed on this machine\n",
        MAC,
        "sdkmanager emulator",
    ),
    (
        "HVF error: HV_UNSUPPORTED\n"
        "qemu-system-aarch64-headless: failed to initialize HVF: Invalid argument\n",
        MAC,
        "abi=arm64-v8a",
    ),
    (
        "emulator: ERROR: Unfortunately, there's an incompatibility between HAXM hypervisor and"
        " VirtualBox 4.3.30+ which doesn't allow multiple hypervisors to co-exist.",
        MAC,
        "",
    ),
    ("qemu-system-aarch64: failed to initialize HVF: Operation not permitted", MAC, ""),
    ("qemu_mprotect__osdep: mprotect failed: Permission denied", MAC, ""),
    (
        "PANIC: Avd's CPU Architecture 'arm64' is not supported by the QEMU2 emulator on x86_64"
        " host.\n",
        PROCESSOR,
        "abi=",
    ),
    (
        "FATAL | CPU Architecture 'arm64-v8a' is not supported by the QEMU2 emulator, (the classic"
        " engine is deprecated!)",
        PROCESSOR,
        "",
    ),
    (
        "emulator: ERROR: There's another emulator instance running with the current AVD 'a'."
        " Exiting...",
        SAME,
        "another name",
    ),
    ("ERROR   | Running multiple emulators with the same AVD ", SAME, "*.lock"),
    ("FATAL   | Not enough space to create userdata partition.", DISK, "ANDROID_AVD_HOME"),
    ("ERROR   | Not enough disk space to run AVD 'test'. Exiting...", DISK, ""),
    ("ERROR   | Your device does not have enough disk space to run avd: `Pixel_7`.", DISK, ""),
    (
        "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory",
        "there is not enough memory",
        "fewer emulators",
    ),
    (
        "qt.qpa.xcb: could not connect to display \nFATAL   | This application failed to start"
        " because no Qt platform plugin could be initialized.",
        "there is no display",
        "CI=1",
    ),
    ("PANIC: Missing emulator engine program for 'arm64' CPU.", INSTALLED, "sdkmanager emu"),
    (
        "qemu-system-x86_64-headless: error while loading shared libraries: libpulse.so.0: cannot"
        " open shared object file: No such file or directory",
        INSTALLED,
        "package manager",
    ),
    ("could not load Qt: libxkbfile.so.1: cannot open shared object file", INSTALLED, ""),
    ("PANIC: Cannot find AVD system path. Please define ANDROID_SDK_ROOT", IMAGE, "ANDROID_HOME"),
    ("PANIC: Broken AVD system path. Check your ANDROID_SDK_ROOT value [/x]!", IMAGE, ""),
    (
        "FATAL | This AVD's configuration is missing a kernel file! Please ensure the file"
        ' "kernel-ranchu" is in the same location as your system image.',
        IMAGE,
        "",
    ),
    (
        "ERROR   | A snapshot operation for 'a' is pending and timeout has expired. Exiting...",
        "it cannot use its snapshot",
        "",
    ),
    (
        "qemu-system-x86_64: Could not set up host forwarding rule 'tcp::5555-:5555'",
        "the ports of emulators are taken",
        "",
    ),
    (
        "ERROR   | It seems too many emulator instances are running on this machine. Aborting.",
        "the ports of emulators are taken",
        "",
    ),
    (
        "ERROR   | Unknown AVD name [a], use -list-avds to see valid list.",
        "it does not find the virtual device",
        "",
    ),
    (
        "FATAL        | AVD 'a' requires 2 CPU cores to run. Only 1 cores are available.",
        "this machine has too few processor cores",
        "",
    ),
]
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


@pytest.mark.parametrize(("printed", "problem", "hint"), FAILURES)
def test_the_words_of_real_emulators_lead_to_the_cause(
    printed: str, problem: str, hint: str
) -> None:
    """Older and newer versions use other words."""
    cause = diagnose(printed)

    assert cause.problem == problem
    assert hint in cause.hint


def test_reports_of_success_are_not_a_cause() -> None:
    """Lines for information name disk, graphics and acceleration without any problem."""
    problem = diagnose(IN_ORDER).problem

    assert problem not in {problem for _, problem, _ in FAILURES} or "/dev/kvm" in problem


@pytest.mark.parametrize(
    ("codes", "problem", "hint"),
    [
        ((-11, 139, -6, 134), "it crashed", "gpu=swiftshader_indirect"),
        ((-9, 137), "something killed it, which is often the system itself for want of", "ram="),
    ],
)
def test_the_exit_code_separates_a_crash_from_a_kill(
    codes: tuple[int, ...], problem: str, hint: str
) -> None:
    """It counts if the emulator printed no cause."""
    for code in codes:
        cause = diagnose(IN_ORDER, code=code)
        assert cause.problem.startswith(problem)
        assert hint in cause.hint
        assert diagnose("No space left on device", code=code).problem == DISK


def test_the_cause_may_be_far_from_the_end(tmp_path: Path) -> None:
    """The whole end of the output is searched, of which only some lines are shown."""
    output = tmp_path / "log"
    output.write_text("ERROR | Not enough disk space to run AVD 'a'.\n" + "INFO | x\n" * 500)

    printed = read_end(output)

    assert diagnose(printed).problem == DISK
    assert len(last_lines(printed).splitlines()) == 12


def test_the_end_of_the_output_is_shown_without_its_advertisement() -> None:
    """A box about usage data, which the tool always prints, would hide the lines before."""
    assert last_lines(f"FATAL | a\n{BOX}INFO | b\n") == "FATAL | a\nINFO | b"
