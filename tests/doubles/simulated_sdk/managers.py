"""``avdmanager`` and ``sdkmanager``: virtual devices, and packages with their licences."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.doubles.simulated_sdk.files import (
    DEVICE_PROFILES,
    AvdFiles,
    SdkPackage,
    available,
    avd_home,
    install,
    installed,
    note_call,
)
from tests.doubles.simulated_sdk.scenario import Scenario, read_scenario

_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_BAR = 39
_LICENCES = ("android-sdk-license", "android-sdk-preview-license")
_DOWNLOAD_FAILURES = {
    "network": "Connection reset.",
    "no_space": "No space left on device.",
    "checksum": "Checksum of the downloaded result didn't match the expected checksum.",
}


class _Refused(Exception):
    """What a tool does not do; the text is its complaint."""


def run_avdmanager(root: str, arguments: list[str]) -> int:
    """Run ``avdmanager``; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "avdmanager", arguments)
    scenario = read_scenario(sdk)
    time.sleep(scenario.tool_seconds)
    action, options = " ".join(arguments[:2]), _options(arguments[2:])
    try:
        if action == "create avd":
            _create(sdk, scenario, options)
        elif action == "delete avd":
            _delete(sdk, scenario, options)
        elif action == "list device":
            print("\n".join(DEVICE_PROFILES))
        else:
            raise _Refused(f"Expected verb after global parameters but found {action} instead.")
    except _Refused as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _options(words: list[str]) -> dict[str, str]:
    """Return the options; those without a value, such as ``--force``, have an empty one."""
    values = [*words[1:], "--"]
    return {
        word: "" if value.startswith("-") else value
        for word, value in zip(words, values, strict=True)
        if word.startswith("-")
    }


def _create(sdk: Path, scenario: Scenario, options: dict[str, str]) -> None:
    avd, image = AvdFiles(avd_home(sdk), options["--name"]), options["--package"]
    device = options["--device"]
    if not _NAME.fullmatch(avd.name):
        raise _Refused(
            f"AVD name '{avd.name}' contains invalid characters.\n"
            "Allowed characters are: a-z A-Z 0-9 . _ -"
        )
    images = [one.name for one in installed(sdk) if one.name.startswith("system-images;")]
    if image not in images:
        valid = "\n".join(images) or "null"
        raise _Refused(f"Package path is not valid. Valid system image paths are:\n{valid}")
    if device not in DEVICE_PROFILES:
        raise _Refused(f"No device found matching --device {device}.")
    if avd.exists and "--force" not in options:
        raise _Refused(
            f"Android Virtual Device '{avd.name}' already exists.\n"
            "Use --force if you want to replace it."
        )
    _check_stopped(avd)
    if scenario.create_failure:
        raise _Refused(scenario.create_failure)
    avd.create(image=image, device=device)


def _delete(sdk: Path, scenario: Scenario, options: dict[str, str]) -> None:
    avd = AvdFiles(avd_home(sdk), options["--name"])
    if not avd.exists:
        raise _Refused(f"There is no Android Virtual Device named '{avd.name}'.")
    _check_stopped(avd)
    if scenario.delete_failure:
        raise _Refused(scenario.delete_failure)
    avd.delete()
    print(f"AVD '{avd.name}' deleted.")


def _check_stopped(avd: AvdFiles) -> None:
    if avd.is_running:
        raise _Refused(f"Android Virtual Device '{avd.name}' is currently running.")


def run_sdkmanager(root: str, arguments: list[str]) -> int:
    """Run ``sdkmanager``; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "sdkmanager", arguments)
    scenario = read_scenario(sdk)
    try:
        time.sleep(scenario.tool_seconds)
        if "--licenses" in arguments:
            return _review_licences(sdk, scenario)
        if "--list_installed" in arguments:
            _list(sdk)
            return 0
        return _install(sdk, scenario, arguments)
    except (BrokenPipeError, KeyboardInterrupt):
        return 130


def _list(sdk: Path) -> None:
    titles = ("Path", "Version", "Description", "Location")
    packages = [(one.name, one.version, one.description, one.place) for one in installed(sdk)]
    lines = [titles, ("-------",) * 4, *packages]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    print("Installed packages:")
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print(f"  {' | '.join(cells)}")


def _install(sdk: Path, scenario: Scenario, names: list[str]) -> int:
    known = {one.name: one for one in (*available(scenario.images), *installed(sdk))}
    for name in names:
        if name not in known:
            _warn(f"Failed to find package '{name}'")
            return 1
    present = {one.name for one in installed(sdk)}
    wanted = [known[name] for name in names if name not in present]
    if wanted and not _accepts(sdk, scenario, _LICENCES[0]):
        _warn(
            "The following packages can not be installed since their licenses or those of the"
            " packages they depend on were not accepted:"
        )
        print("".join(f"  {one.name}\n" for one in wanted), end="", file=sys.stderr)
        return 1
    return max([_download(sdk, scenario, package) for package in wanted], default=0)


def _download(sdk: Path, scenario: Scenario, package: SdkPackage) -> int:
    note_call(sdk, "download", [package.name])
    steps = max(1, scenario.download_steps)
    for step in range(steps):
        if scenario.download_failure and step >= steps // 2:
            print(flush=True)
            why = _DOWNLOAD_FAILURES[scenario.download_failure]
            _warn(f"An error occurred while preparing SDK package {package.description}: {why}")
            return 1
        _progress(10 + 80 * step // steps, f"Downloading {package.place.replace('/', '-')}.zip...")
        time.sleep(scenario.download_seconds / steps)
    install(sdk, package)
    _progress(100, f"Unzipping... {package.place}/package.xml")
    with suppress(BrokenPipeError):
        print(flush=True)
    return 0


def _progress(percent: int, what: str) -> None:
    """Draw the progress line over the previous one."""
    bar = ("=" * round(percent * _BAR / 100)).ljust(_BAR)
    # The real tool goes on after its reader has gone.
    with suppress(BrokenPipeError):
        print(f"[{bar}] {percent}% {what.ljust(30)}", end="\r", flush=True)


def _review_licences(sdk: Path, scenario: Scenario) -> int:
    refused = [name for name in _LICENCES if not _accepts(sdk, scenario, name)]
    if refused:
        print(f"{len(refused)} of {len(_LICENCES)} SDK package licenses not accepted.")
    else:
        print("All SDK package licenses accepted")
    return 0


def _accepts(sdk: Path, scenario: Scenario, name: str) -> bool:
    """Return whether a licence was accepted before, or is when the user is asked for it."""
    record = sdk / "licenses" / name
    if scenario.licences == "accepted" or (scenario.licences == "asked" and record.is_file()):
        return True
    print(f"License {name}:\nTerms and Conditions\nAccept? (y/N): ", end="", flush=True)
    answer = sys.stdin.readline().strip().lower()
    print(flush=True)
    if answer not in ("y", "yes") or scenario.licences == "refused":
        return False
    record.parent.mkdir(exist_ok=True)
    record.touch()
    return True


def _warn(text: str) -> None:
    print(f"Warning: {text}", file=sys.stderr, flush=True)
