"""``avdmanager``: creates, lists and deletes virtual devices."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.avd_files import AvdFiles, avd_home, list_names
from pytest_clawperator.simulator.sdk.calls import note_call
from pytest_clawperator.simulator.sdk.device_profiles import DEVICE_PROFILES
from pytest_clawperator.simulator.sdk.packages import installed
from pytest_clawperator.simulator.sdk.scenario import Scenario, read_scenario

_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_HELP = """Usage:
      avdmanager [global options] [action] [action options]
      Global options:
  -s --silent     : Silent mode, shows errors only.
  -v --verbose    : Verbose mode, shows errors, warnings and all messages.
  -h --help       : Help on a specific command.

Valid actions are composed of a verb and an optional direct object:
-   list              : Lists existing targets or virtual devices.
-   list avd          : Lists existing Android Virtual Devices.
-   list target       : Lists existing targets.
-   list device       : Lists existing devices.
- create avd          : Creates a new Android Virtual Device.
- delete avd          : Deletes an Android Virtual Device.
"""
_SHORT = {"-n": "--name", "-k": "--package", "-d": "--device", "-f": "--force", "-c": "--compact"}
_BARE = ("--force", "--compact", "--silent", "--verbose")


class _Refused(Exception):
    """What the tool does not do; the text is its complaint."""


def main(root: str, arguments: list[str]) -> int:
    """Run the tool; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "avdmanager", arguments)
    if not arguments or {"-h", "--help"} & {*arguments}:
        print(_HELP, end="")
        return 0 if arguments else 1
    try:
        scenario = read_scenario(sdk)
        time.sleep(scenario.tool_seconds)  # what a real one takes, as the scenario says
        _run(sdk, scenario, arguments)
    except (_Refused, ConfigurationError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        return 130
    return 0


def _run(sdk: Path, scenario: Scenario, arguments: list[str]) -> None:
    words = [word for word in arguments if word not in ("-s", "--silent", "-v", "--verbose")]
    action = " ".join(words[:2])
    if action == "create avd":
        _create(sdk, scenario, _options(words[2:]))
    elif action == "delete avd":
        _delete(sdk, scenario, _options(words[2:]))
    elif action == "list device":
        _list_devices(compact="-c" in words or "--compact" in words)
    elif action in ("list avd", "list"):
        _list_avds(avd_home(sdk))
    elif action == "list target":
        print("Available Android targets:")
    else:
        raise _Refused(f"Expected verb after global parameters but found {words[0]} instead.")


def _options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    left = list(words)
    while left:
        name = _SHORT.get(left[0], left[0])
        del left[0]
        if name in _BARE:
            options[name] = ""
        elif name not in ("--name", "--package", "--device", "--abi", "--tag", "--path"):
            raise _Refused(f"Flag '{name}' is not valid for this command.")
        elif not left:
            raise _Refused(f"Missing argument for flag {name}.")
        else:
            options[name] = left.pop(0)
    return options


def _create(sdk: Path, scenario: Scenario, options: dict[str, str]) -> None:
    for name in ("--name", "--package"):
        if name not in options:
            raise _Refused(f"The parameter {name} must be defined for action 'create avd'")
    avd, image = AvdFiles(avd_home(sdk), options["--name"]), options["--package"]
    if not _NAME.fullmatch(avd.name):
        raise _Refused(
            f"AVD name '{avd.name}' contains invalid characters.\n"
            "Allowed characters are: a-z A-Z 0-9 . _ -"
        )
    images = [one.name for one in installed(sdk) if one.name.startswith("system-images;")]
    if image not in images:
        valid = "\n".join(images) or "null"
        raise _Refused(f"Package path is not valid. Valid system image paths are:\n{valid}")
    device = _device(options)
    if avd.exists and "--force" not in options:
        raise _Refused(
            f"Android Virtual Device '{avd.name}' already exists.\n"
            "Use --force if you want to replace it."
        )
    _check_stopped(avd)
    if scenario.create_failure:
        raise _Refused(scenario.create_failure)
    avd.create(image=image, device=device, profile=DEVICE_PROFILES[device])


def _device(options: dict[str, str]) -> str:
    device = options.get("--device")
    if device is None:
        print("Do you wish to create a custom hardware profile? [no] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            raise _Refused("custom hardware profiles are not simulated")
        return "medium_phone"
    if device not in DEVICE_PROFILES:
        raise _Refused(f"No device found matching --device {device}.")
    return device


def _delete(sdk: Path, scenario: Scenario, options: dict[str, str]) -> None:
    if "--name" not in options:
        raise _Refused("The parameter --name must be defined for action 'delete avd'")
    avd = AvdFiles(avd_home(sdk), options["--name"])
    if not avd.exists:
        raise _Refused(f"There is no Android Virtual Device named '{avd.name}'.")
    _check_stopped(avd)
    if scenario.delete_failure:
        raise _Refused(scenario.delete_failure)
    print(f"Deleting file {avd.ini}\nDeleting folder {avd.folder}\n")
    avd.delete()
    print(f"AVD '{avd.name}' deleted.")


def _check_stopped(avd: AvdFiles) -> None:
    if avd.is_running:
        raise _Refused(f"Android Virtual Device '{avd.name}' is currently running.")


def _list_avds(home: Path) -> None:
    print("Available Android Virtual Devices:")
    for number, name in enumerate(list_names(home)):
        avd = AvdFiles(home, name)
        config = avd.config
        if number:
            print("---------")
        print(f"    Name: {name}")
        print(f"  Device: {config.get('hw.device.name', '')} (Google)")
        print(f"    Path: {avd.folder}")
        print(f"  Target: {config.get('tag.display', '')}")
        print(f"          Tag/ABI: {config.get('tag.id', '')}/{config.get('abi.type', '')}")


def _list_devices(*, compact: bool) -> None:
    if not compact:
        print("Available devices definitions:")
    for number, (name, profile) in enumerate(DEVICE_PROFILES.items()):
        if compact:
            print(name)
        else:
            print(f'id: {number} or "{name}"\n    Name: {profile.name}\n    OEM : {profile.maker}')
            print("---------")
