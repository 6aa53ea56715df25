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
    HeldFile,
    avd_home,
    holder_of,
    list_avds,
    note_call,
    running_folder,
    session_file,
)
from tests.doubles.simulated_sdk.scenario import Scenario, read_scenario

FIRST_PORT, LAST_PORT = 5554, 5682

_HOST_ABIS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64-v8a", "arm64": "arm64-v8a"}
_WITH_VALUE = frozenset({"-avd", "-cores", "-gpu", "-memory", "-port", "-skin", "-snapshot"})
_BARE = frozenset(
    {
        "-no-audio", "-no-boot-anim", "-no-metrics", "-no-snapshot", "-no-snapshot-load",
        "-no-snapshot-save", "-no-window", "-noaudio", "-verbose",
    }
)  # fmt: skip

# -- Why an emulator does not start, in the words of the real one --------------------------------

START_FAILURES: Mapping[str, str] = {
    "kvm_denied": "ERROR   | {abi} emulation currently requires hardware acceleration!\n"
    "CPU acceleration status: This user doesn't have permissions to use KVM (/dev/kvm).\n"
    "The KVM line in /etc/group is: [kvm:x:108:]\n",
    "wrong_abi": "PANIC: Avd's CPU Architecture '{cpu}' is not supported by the QEMU2 emulator on"
    " {host} host.\n",
    "no_space": "FATAL   | Not enough space to create userdata partition. Available: 1342.18 MB at"
    " {folder}, need 7372.80 MB.\n",
    "no_memory": "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate"
    " memory\n",
    "no_image": "PANIC: Cannot find AVD system path. Please define ANDROID_SDK_ROOT\n",
    "same_avd": "ERROR   | Running multiple emulators with the same AVD \n"
    "ERROR   | is an experimental feature.\n",
}


def _report_failure(name: str, avd: AvdFiles) -> int:
    config = avd.config
    text = START_FAILURES[name].format(
        abi=config.get("abi.type", "x86_64"),
        cpu=config.get("hw.cpu.arch", "x86_64"),
        host=platform.machine(),
        folder=avd.folder,
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
    snapshot: str | None = "default_boot"
    saves_snapshot: bool = True


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
    port = int(values["-port"]) if "-port" in values else None
    if port is not None and (not FIRST_PORT <= port <= LAST_PORT or port % 2):
        raise BadCommandLine(
            "ERROR   | option -port must be followed by an even integer number between"
            f" {FIRST_PORT} and {LAST_PORT}"
        )
    is_cold = bool(flags & {"-no-snapshot", "-no-snapshot-load"})
    return StartRequest(
        avd_name=values["-avd"],
        port=port,
        snapshot=None if is_cold else values.get("-snapshot", "default_boot"),
        saves_snapshot=not flags & {"-no-snapshot", "-no-snapshot-save"},
    )


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
    if not lock.hold(values):
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
