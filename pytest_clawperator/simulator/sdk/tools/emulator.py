"""``emulator``: lists virtual devices and starts one, which then runs in this process."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.avd_files import AvdFiles, avd_home, list_names
from pytest_clawperator.simulator.sdk.calls import note_call
from pytest_clawperator.simulator.sdk.held_file import HeldFile, holder_of
from pytest_clawperator.simulator.sdk.packages import EMULATOR_VERSION
from pytest_clawperator.simulator.sdk.scenario import Scenario, read_scenario
from pytest_clawperator.simulator.sdk.tools.command_line import (
    BadCommandLine,
    StartRequest,
    parse_start,
)
from pytest_clawperator.simulator.sdk.tools.start_failures import report_failure
from pytest_clawperator.simulator.sdk.tree import running_folder, session_file

_HELP = """Android Emulator usage: emulator [options] [-qemu args]
  options:
    -list-avds                     list available AVDs
    -avd <name>                    use a specific android virtual device
    -port <port>                   TCP port that will be used for the console
    -ports <consoleport>,<adbport> TCP ports used for the console and adb bridge
    -no-snapshot                   perform a full boot and do not auto-save
    -no-snapshot-load              do not auto-start from snapshot: perform a full boot
    -no-snapshot-save              do not auto-save to snapshot on exit
    -snapshot <name>               name of snapshot within storage file for auto-start
    -no-window                     disable graphical window display
    -read-only                     allow running multiple instances of an AVD
    -wipe-data                     reset the user data image
    -accel-check                   checks whether hardware acceleration can be used
    -version                       display emulator version number
"""
_HOST_ABIS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64-v8a", "arm64": "arm64-v8a"}


def main(root: str, arguments: list[str]) -> int:
    """Run the tool; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "emulator", arguments)
    try:
        return _run(sdk, arguments)
    except BadCommandLine as error:
        print(error, file=sys.stderr)
    except ConfigurationError as error:
        print(f"ERROR   | {error}", file=sys.stderr)
    except BrokenPipeError:
        pass
    return 1


def _run(sdk: Path, arguments: list[str]) -> int:
    first = arguments[0] if arguments else ""
    if first in ("-help", "--help", "-h"):
        print(_HELP, end="")
        return 0
    if first == "-version":
        print(f"Android emulator version {EMULATOR_VERSION}.0 (build_id 0) (CL:N/A), simulated")
        return 0
    if first == "-list-avds":
        # The real one says this on the same stream.
        print("INFO    | Storing crashdata in: /tmp/android/emu-crash.db, detection is enabled")
        print("".join(f"{name}\n" for name in list_names(avd_home(sdk))), end="")
        return 0
    if first == "-accel-check":
        print("accel:\n0\nKVM (version 12) is installed and usable.\naccel")
        return 0
    return _start(sdk, read_scenario(sdk), parse_start(arguments))


def _start(sdk: Path, scenario: Scenario, request: StartRequest) -> int:
    version = f"{EMULATOR_VERSION}.0 (build_id 0) (CL:N/A)"
    print(f"INFO    | Android emulator version {version}", flush=True)
    if holder_of(session_file(sdk)) is None:
        raise ConfigurationError(
            f"the simulated SDK in {sdk} is not running",
            hint=f"Run `python -m pytest_clawperator.simulator --sdk {sdk}` meanwhile.",
        )
    avd = AvdFiles(avd_home(sdk), request.avd_name)
    if not avd.exists:
        print(
            f"ERROR   | Unknown AVD name [{avd.name}], use -list-avds to see valid list.\n"
            f"ERROR   | there is no file {avd.name}.ini in {avd.home}",
            file=sys.stderr,
        )
        return 1
    problem = scenario.of_emulator(avd.name).failure or _problem(sdk, scenario, avd)
    if problem:
        return report_failure(problem, avd)
    lock, record = HeldFile(avd.lock), HeldFile(running_folder(sdk) / str(os.getpid()))
    values = {"pid": os.getpid(), "avd": avd.name}
    if not request.read_only and not lock.hold(values):
        return report_failure("same_avd", avd)
    record.hold(values)
    try:
        return _boot(sdk, scenario, request, avd, record)
    finally:
        lock.release()
        record.release()


def _problem(sdk: Path, scenario: Scenario, avd: AvdFiles) -> str:
    """Return why a virtual device cannot run here, nothing if it can."""
    config = avd.config
    image = config.get("image.sysdir.1", "")
    if not image or not (sdk / image).is_dir():
        return "no_image"
    print(f"INFO    | Found systemPath {sdk / image}/", flush=True)
    host = scenario.host_abi or _HOST_ABIS.get(platform.machine().lower(), "any")
    runs = ("x86_64", "x86") if host == "x86_64" else (host,)
    return "" if host == "any" or config.get("abi.type") in runs else "wrong_abi"


def _boot(
    sdk: Path, scenario: Scenario, request: StartRequest, avd: AvdFiles, record: HeldFile
) -> int:
    # Looking for plugins reads the metadata of everything installed.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # A whole phone, which takes ten times as long to import as the rest of this tool.
    from pytest_clawperator.simulator.sdk.emulated import run_emulator

    return run_emulator(sdk, scenario, request, avd, record)
