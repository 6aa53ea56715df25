"""Why an emulator did not start, from what it printed."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

_TAIL_LINES = 12
_END_BYTES = 32 * 1024
# A shell in between reports a signal in its own way.
_KILLED_CODES = (-9, 128 + 9)
_CRASHED_CODES = (-11, 128 + 11, -6, 128 + 6)
_HARMLESS = re.compile(
    r"\s*(INFO|DEBUG|VERBOSE)\s*\||emulator: (INFO|DEBUG|VERBOSE):|.* is installed and usable\."
)
# Around a request to send usage data.
_BOX = "##"
_KVM = (
    "Give this user the right to use /dev/kvm: `sudo gpasswd -a $USER kvm` and log in again; on a"
    ' CI machine: `echo \'KERNEL=="kvm", MODE="0666"\' | sudo tee /etc/udev/rules.d/99-kvm.rules`'
    " and `sudo udevadm control --reload-rules && sudo udevadm trigger --name-match=kvm`."
)
_NO_KVM = (
    "Switch virtualisation on (VT-x or AMD-V in the BIOS, nested virtualisation for a virtual"
    " machine), or run on a machine that has it: an emulator without it is too slow for tests."
)


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, and what to do about it."""

    problem: str
    hint: str


#: Another program was quicker, if only for the moment in which the port was checked.
PORTS_TAKEN = Diagnosis(
    "the ports of emulators are taken",
    "End emulators that are not needed: `adb devices` shows them. Ports from 5554 to 5683 are"
    " used.",
)
_SIGNS = (
    (
        r"/dev/kvm.*(permission|denied)|permissions? to use KVM|KVM.*permission",
        Diagnosis("this user may not use /dev/kvm", _KVM),
    ),
    (
        r"HAXM|Hypervisor\.?Framework|HVF error|initialize HVF|HVF is not|hv_vm_create"
        r"|mprotect failed",
        Diagnosis(
            "macOS's hypervisor cannot be used",
            "A Mac that is a virtual machine, such as those of GitHub with Apple processors, has"
            " none: run emulators on Linux there. On a real one with an Apple processor choose"
            " abi=arm64-v8a; on an Intel one update the emulator (`sdkmanager emulator`) and end"
            " other programs that use the hypervisor.",
        ),
    ),
    (
        r"(KVM|hardware acceleration|x86.* emulation).*(not found|is required|requires"
        r"|not (be )?us(ed|able)|missing|not installed|unavailable|no such file)"
        r"|may not work without hardware acceleration"
        r"|CPU acceleration status:.*not|KVM internal error",
        Diagnosis("this machine cannot run it with hardware acceleration", _NO_KVM),
    ),
    (
        r"requires \d+ CPU cores",
        Diagnosis(
            "this machine has too few processor cores",
            "Run on a machine with more, or give this virtual one or container more.",
        ),
    ),
    (
        r"does not support (arm64|x86|x86_64|armeabi).*host|not supported.*on (this )?host"
        r"|CPU Architecture .* is not supported",
        Diagnosis(
            "its system image is for another kind of processor",
            "Choose the processor of this machine, such as abi=x86_64 for an Intel or AMD one and"
            " abi=arm64-v8a for an ARM one.",
        ),
    ),
    (
        r"no space left|(not|n't|not have) enough (disk )?space|insufficient.*(disk|space)",
        Diagnosis(
            "the disk is full",
            "Make room on the disk of the virtual devices (ANDROID_AVD_HOME): each takes 2 to 8"
            " GB.",
        ),
    ),
    (
        r"licen[cs]es?\b.*not accepted|accept.*licen[cs]e",
        Diagnosis(
            "a licence was not accepted", "Accept the licences: `yes | sdkmanager --licenses`."
        ),
    ),
    (
        r"(another|multiple|already).*(emulator|instance).*(running|same AVD)|Running multiple",
        Diagnosis(
            "another emulator runs with the same virtual device",
            "End that one, or ask for another name. If none runs, delete the files *.lock in the"
            " folder of the virtual device: an emulator that was killed left them.",
        ),
    ),
    (
        r"(failed to|cannot|could not).*allocate|out of memory|Cannot allocate memory",
        Diagnosis(
            "there is not enough memory",
            "Start fewer emulators at once, or give each less: ram=1024.",
        ),
    ),
    (
        r"Missing emulator engine program|loading shared libraries|cannot open shared object",
        Diagnosis(
            "the emulator is not completely installed",
            "Install it again (`sdkmanager emulator`), and the library that it names with the"
            " package manager of this system.",
        ),
    ),
    (
        r"(qt\.qpa|xcb|could not connect to display|no display)",
        Diagnosis(
            "there is no display",
            "Set CI=1, or unset DISPLAY and WAYLAND_DISPLAY: it then starts without a window.",
        ),
    ),
    (
        r"too many emulator instances|port.* (already )?in use|host forwarding rule",
        PORTS_TAKEN,
    ),
    (
        r"snapshot operation.*(pending|timeout)|snapshot.*(corrupt|incompatible|failed to load)",
        Diagnosis(
            "it cannot use its snapshot",
            "Boot it cold: a snapshot of another machine or of another version of the emulator"
            " cannot be used.",
        ),
    ),
    (
        r"Unknown AVD name",
        Diagnosis(
            "it does not find the virtual device",
            "Check that ANDROID_AVD_HOME and ANDROID_USER_HOME name the folder that has it.",
        ),
    ),
    (
        r"Cannot find AVD system path|broken AVD system path|system image.*(missing|not found)"
        r"|missing a kernel file",
        Diagnosis(
            "its system image is missing",
            "Delete the virtual device so that it is made again, or install the image with"
            " sdkmanager; check that ANDROID_HOME is the SDK that has it.",
        ),
    ),
)
_KILLED = Diagnosis(
    "something killed it, which is often the system itself for want of memory",
    "Start fewer emulators at once, or give each less: ram=1024. `dmesg` shows such an end.",
)
_CRASHED = Diagnosis(
    "it crashed",
    "Choose another way to draw, such as gpu=swiftshader_indirect, or update the emulator:"
    " `sdkmanager emulator`.",
)
_OTHERWISE = Diagnosis(
    "its output names no known cause",
    "Start it by hand with the same arguments and `-verbose` to see more.",
)


def diagnose(output: str, *, code: int | None = None) -> Diagnosis:
    """Return why an emulator does not come up, from what it printed; ``code`` is its exit code."""
    # It also reports what is in order, in the same words: "Ok: Disk space requirements ...".
    lines = (line for line in output.splitlines() if not _HARMLESS.match(line))
    complaints = "\n".join(lines)
    for pattern, diagnosis in _SIGNS:
        if re.search(pattern, complaints, re.IGNORECASE):
            return diagnosis
    if code in _KILLED_CODES:
        return _KILLED
    if code in _CRASHED_CODES:
        return _CRASHED
    return acceleration_problem() or _OTHERWISE


def acceleration_problem() -> Diagnosis | None:
    """Return why this machine cannot run an emulator at full speed, where that can be seen."""
    if not sys.platform.startswith("linux"):
        return None
    kvm = Path("/dev/kvm")
    if not kvm.exists():
        return Diagnosis("this machine has no /dev/kvm", _NO_KVM)
    try:
        with kvm.open("r+b"):
            return None
    except PermissionError:
        return Diagnosis("this user may not use /dev/kvm", _KVM)
    except OSError as exc:
        return Diagnosis(f"/dev/kvm cannot be used: {exc.strerror}", _NO_KVM)


def read_end(output: Path) -> str:
    """Return the end of what an emulator printed."""
    try:
        with output.open("rb") as read:
            read.seek(max(0, output.stat().st_size - _END_BYTES))
            return read.read().decode("utf-8", "replace")
    except OSError:
        return ""


def last_lines(text: str) -> str:
    """Return the last lines, for people."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_BOX)]
    return "\n".join(lines[-_TAIL_LINES:])
