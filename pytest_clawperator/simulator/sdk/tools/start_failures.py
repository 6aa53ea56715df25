"""Why an emulator does not start, in the words of the real one."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping

from pytest_clawperator.simulator.sdk.avd_files import AvdFiles

_MORE = """More info on configuring VM acceleration on Linux:
https://developer.android.com/studio/run/emulator-acceleration#vm-linux
General information on acceleration: https://developer.android.com/studio/run/emulator-acceleration.
"""
_ACCELERATION = "ERROR   | {abi} emulation currently requires hardware acceleration!\n"
_TEXTS: Mapping[str, str] = {
    "kvm_denied": _ACCELERATION
    + "CPU acceleration status: This user doesn't have permissions to use KVM (/dev/kvm).\n"
    + "The KVM line in /etc/group is: [kvm:x:108:]\n\n"
    + "If the current user has KVM permissions,\n"
    + 'the KVM line in /etc/group should end with ":" followed by your username.\n'
    + _MORE,
    "kvm_missing": _ACCELERATION
    + "CPU acceleration status: /dev/kvm is not found: VT disabled in BIOS or KVM kernel module"
    + " not loaded\n"
    + _MORE,
    "kvm_unsupported": _ACCELERATION
    + "CPU acceleration status: KVM requires a CPU that supports vmx or svm\n"
    + _MORE,
    "haxm_missing": "emulator: ERROR: {abi} emulation currently requires hardware acceleration!\n"
    "Please ensure Intel HAXM is properly installed and usable.\n"
    "CPU acceleration status: HAXM is not installed on this machine\n",
    "hypervisor": "HVF error: HV_UNSUPPORTED\n"
    "qemu-system-aarch64-headless: failed to initialize HVF: Invalid argument\n",
    "wrong_abi": "PANIC: Avd's CPU Architecture '{cpu}' is not supported by the QEMU2 emulator on"
    " {host} host.\n",
    "no_space": "FATAL   | Not enough space to create userdata partition. Available: 1342.18 MB at"
    " {folder}, need 7372.80 MB.\n",
    "no_memory": "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate"
    " memory\n",
    "no_display": "qt.qpa.xcb: could not connect to display \n"
    'qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.\n'
    "FATAL   | This application failed to start because no Qt platform plugin could be"
    " initialized. Reinstalling the application may fix this problem.\n",
    "no_engine": "PANIC: Missing emulator engine program for '{cpu}' CPU.\n",
    "no_library": "{engine}: error while loading shared libraries: libpulse.so.0: cannot open"
    " shared object file: No such file or directory\n",
    "no_image": "PANIC: Cannot find AVD system path. Please define ANDROID_SDK_ROOT\n",
    "same_avd": "ERROR   | Running multiple emulators with the same AVD \n"
    "ERROR   | is an experimental feature.\n"
    "ERROR   | Please use -read-only flag to enable this feature.\n",
}


def report_failure(name: str, avd: AvdFiles) -> int:
    """Print why the emulator of a virtual device does not start; return its exit code."""
    config = avd.config
    text = _TEXTS[name].format(
        abi=config.get("abi.type", "x86_64"),
        cpu=config.get("hw.cpu.arch", "x86_64"),
        host=platform.machine(),
        folder=avd.folder,
        engine="qemu-system-x86_64-headless",
    )
    print(text, end="", file=sys.stderr, flush=True)
    return 1


def texts() -> Mapping[str, str]:
    """Return all of the texts, with gaps for what differs."""
    return _TEXTS
