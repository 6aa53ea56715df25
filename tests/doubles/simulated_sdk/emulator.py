"""``emulator``: lists virtual devices and starts one, which then runs in this process."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.doubles.simulated_sdk.files import (
    EMULATOR_VERSION,
    AvdFiles,
    avd_home,
    list_avds,
    note_call,
    running_folder,
    session_file,
)
from tests.doubles.simulated_sdk.held_file import HeldFile, holder_of
from tests.doubles.simulated_sdk.scenario import Scenario, read_scenario

FIRST_PORT, LAST_PORT = 5554, 5682

_HOST_ABIS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64-v8a", "arm64": "arm64-v8a"}
_WITH_VALUE = frozenset(
    {
        "-accel", "-avd", "-camera-back", "-camera-front", "-cores", "-dns-server", "-engine",
        "-feature", "-gpu", "-http-proxy", "-logcat", "-memory", "-netdelay", "-netspeed",
        "-partition-size", "-port", "-ports", "-prop", "-screen", "-sdcard", "-skin",
        "-snapshot", "-timezone",
    }
)  # fmt: skip
_BARE = frozenset(
    {
        "-no-accel", "-no-audio", "-no-boot-anim", "-no-cache", "-no-jni", "-no-metrics",
        "-no-passive-gps", "-no-sim", "-no-skin", "-no-snapshot", "-no-snapshot-load",
        "-no-snapshot-save", "-no-window", "-noaudio", "-qt-hide-window", "-read-only",
        "-show-kernel", "-verbose", "-wipe-data", "-writable-system",
    }
)  # fmt: skip

# -- Why an emulator does not start, in the words of the real one --------------------------------

_MORE = """More info on configuring VM acceleration on Linux:
https://developer.android.com/studio/run/emulator-acceleration#vm-linux
General information on acceleration: https://developer.android.com/studio/run/emulator-acceleration.
"""
_ACCELERATION = "ERROR   | {abi} emulation currently requires hardware acceleration!\n"
START_FAILURES: Mapping[str, str] = {
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


def _report_failure(name: str, avd: AvdFiles) -> int:
    config = avd.config
    text = START_FAILURES[name].format(
        abi=config.get("abi.type", "x86_64"),
        cpu=config.get("hw.cpu.arch", "x86_64"),
        host=platform.machine(),
        folder=avd.folder,
        engine="qemu-system-x86_64-headless",
    )
    print(text, end="", file=sys.stderr, flush=True)
    return 1


# -- The command line ----------------------------------------------------------------------------


class BadCommandLine(Exception):
    """A command line that the emulator does not accept; the text is its complaint."""


@dataclass(frozen=True, kw_only=True)
class StartRequest:
    """What a command line asks for; ``snapshot`` is the one to load, or None for a cold boot."""

    avd_name: str
    port: int | None = None
    adb_port: int | None = None
    snapshot: str | None = "default_boot"
    saves_snapshot: bool = True
    read_only: bool = False
    wipes_data: bool = False


def parse_start(arguments: list[str]) -> StartRequest:
    """Parse the arguments that start an emulator."""
    values: dict[str, str] = {}
    flags: set[str] = set()
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word.startswith("@"):
            values["-avd"] = word[1:]
        elif word in _WITH_VALUE and left:
            values[word] = left.pop(0)
        elif word in _BARE:
            flags.add(word)
        else:
            raise BadCommandLine(f"unknown option, or one without its value: {word}")
    if "-avd" not in values:
        raise BadCommandLine("ERROR   | No AVD specified. Use '@foo' to launch a device 'foo'")
    port, adb_port = _ports(values)
    is_cold = bool(flags & {"-no-snapshot", "-no-snapshot-load", "-wipe-data"})
    return StartRequest(
        avd_name=values["-avd"],
        port=port,
        adb_port=adb_port,
        snapshot=None if is_cold else values.get("-snapshot", "default_boot"),
        saves_snapshot=not flags & {"-no-snapshot", "-no-snapshot-save", "-read-only"},
        read_only="-read-only" in flags,
        wipes_data="-wipe-data" in flags,
    )


def _ports(values: dict[str, str]) -> tuple[int | None, int | None]:
    if "-ports" in values:
        console, _, adb = values["-ports"].partition(",")
        return int(console), int(adb)
    if "-port" not in values:
        return None, None
    port = int(values["-port"])
    if not FIRST_PORT <= port <= LAST_PORT or port % 2:
        raise BadCommandLine(
            "ERROR   | option -port must be followed by an even integer number between"
            f" {FIRST_PORT} and {LAST_PORT}"
        )
    return port, port + 1


# -- The tool ------------------------------------------------------------------------------------


def run_emulator(root: str, arguments: list[str]) -> int:
    """Run ``emulator``; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "emulator", arguments)
    if arguments == ["-list-avds"]:
        # The real one prints this on the same stream.
        print("INFO    | Storing crashdata in: /tmp/android/emu-crash.db, detection is enabled")
        print("".join(f"{name}\n" for name in list_avds(avd_home(sdk))), end="")
        return 0
    try:
        return _start(sdk, read_scenario(sdk), parse_start(arguments))
    except BadCommandLine as error:
        print(error, file=sys.stderr)
        return 1


def _start(sdk: Path, scenario: Scenario, request: StartRequest) -> int:
    print(f"INFO    | Android emulator version {EMULATOR_VERSION}.0 (build_id 0)", flush=True)
    if holder_of(session_file(sdk)) is None:
        raise BadCommandLine(f"ERROR   | the simulated SDK in {sdk} is not running")
    avd = AvdFiles(avd_home(sdk), request.avd_name)
    if not avd.exists:
        raise BadCommandLine(
            f"ERROR   | Unknown AVD name [{avd.name}], use -list-avds to see valid list."
        )
    problem = scenario.of_emulator(avd.name).failure or _problem(sdk, scenario, avd)
    if problem:
        return _report_failure(problem, avd)
    lock, record = HeldFile(avd.lock), HeldFile(running_folder(sdk) / str(os.getpid()))
    values = {"pid": os.getpid(), "avd": avd.name}
    if not request.read_only and not lock.hold(values):
        return _report_failure("same_avd", avd)
    record.hold(values)
    try:
        # Looking for plugins reads the metadata of everything installed.
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        # A whole phone, which takes ten times as long to import as the rest of this tool.
        from tests.doubles.simulated_sdk.emulated import run_phone

        return run_phone(sdk, scenario, request, avd, record)
    finally:
        lock.release()
        record.release()


def _problem(sdk: Path, scenario: Scenario, avd: AvdFiles) -> str:
    """Return why a virtual device cannot run here; an empty text if it can."""
    image = avd.config.get("image.sysdir.1", "")
    if not image or not (sdk / image).is_dir():
        return "no_image"
    host = scenario.host_abi or _HOST_ABIS.get(platform.machine().lower(), "any")
    runs = ("x86_64", "x86") if host == "x86_64" else (host,)
    return "" if host == "any" or avd.config.get("abi.type") in runs else "wrong_abi"
