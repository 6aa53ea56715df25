"""``sdkmanager``: lists and installs packages, and asks for licences."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.calls import note_call
from pytest_clawperator.simulator.sdk.packages import (
    SdkPackage,
    available,
    install,
    installed,
    uninstall,
)
from pytest_clawperator.simulator.sdk.scenario import Scenario, read_scenario
from pytest_clawperator.simulator.sdk.tools.licences import LICENCE, accept, review, was_accepted

_BAR = 39
_HELP = """Usage:
  sdkmanager [--uninstall] [<common args>] [--package_file=<file>] [<packages>...]
  sdkmanager --update [<common args>]
  sdkmanager --list [<common args>]
  sdkmanager --list_installed [<common args>]
  sdkmanager --licenses [<common args>]
  sdkmanager --version
"""
_FAILURES = {
    "network": "An error occurred while preparing SDK package {description}: Connection reset.",
    "no_space": "An error occurred while preparing SDK package {description}: No space left on"
    " device.",
    "checksum": "An error occurred while preparing SDK package {description}: Checksum of the"
    " downloaded result didn't match the expected checksum.",
}


def main(root: str, arguments: list[str]) -> int:
    """Run the tool; return its exit code."""
    sdk = Path(root)
    note_call(sdk, "sdkmanager", arguments)
    try:
        return _run(sdk, read_scenario(sdk), arguments)
    except ConfigurationError as error:
        _warn(str(error))
        return 2
    except (BrokenPipeError, KeyboardInterrupt):
        return 130


def _run(sdk: Path, scenario: Scenario, arguments: list[str]) -> int:
    if "--help" in arguments or not arguments:
        print(_HELP, end="")
        return 0 if arguments else 1
    if "--version" in arguments:
        print("19.0")
        return 0
    time.sleep(scenario.tool_seconds)  # what a real one takes, as the scenario says
    flags = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    names = [word for word in arguments if not word.startswith("--")]
    unknown = flags - {
        *("--list", "--list_installed", "--licenses", "--install", "--uninstall", "--update"),
        *("--sdk_root", "--channel", "--verbose", "--no_https", "--include_obsolete"),
    }
    if unknown:
        _warn(f"Unknown argument {min(unknown)}")
        print(_HELP, end="", file=sys.stderr)
        return 1
    if "--licenses" in flags:
        return review(sdk, scenario)
    _progress(100, "Fetch remote repository...")
    print(flush=True)
    if flags & {"--list", "--list_installed"}:
        _list(sdk, scenario if "--list" in flags else None)
        return 0
    if "--uninstall" in flags:
        return _uninstall(sdk, names)
    return _install(sdk, scenario, names)


def _list(sdk: Path, scenario: Scenario | None) -> None:
    print("Installed packages:")
    _table([(one.name, one.version, one.description, one.place) for one in installed(sdk)])
    if scenario is not None:
        print("\nAvailable Packages:")
        _table([(one.name, one.version, one.description) for one in available(scenario)])


def _table(rows: list[tuple[str, ...]]) -> None:
    titles = ("Path", "Version", "Description", "Location")[: len(rows[0]) if rows else 3]
    lines = [titles, tuple("-------" for _ in titles), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print(f"  {' | '.join(cells)}")


def _uninstall(sdk: Path, names: list[str]) -> int:
    missing = [name for name in names if not uninstall(sdk, name)]
    for name in missing:
        _warn(f"Unable to find package {name}")
    return 1 if missing else 0


def _install(sdk: Path, scenario: Scenario, names: list[str]) -> int:
    known = {one.name: one for one in (*available(scenario), *installed(sdk))}
    for name in names:
        if name not in known:
            _warn(f"Failed to find package '{name}'")
            return 1
    present = {one.name for one in installed(sdk)}
    wanted = [known[name] for name in names if name not in present]
    if wanted and not _is_licensed(sdk, scenario, wanted):
        return 1
    return max([_download(sdk, scenario, package) for package in wanted], default=0)


def _is_licensed(sdk: Path, scenario: Scenario, wanted: list[SdkPackage]) -> bool:
    if was_accepted(sdk, scenario) or accept(sdk, scenario):
        return True
    _warn(
        "The following packages can not be installed since their licenses or those of the"
        " packages they depend on were not accepted:"
    )
    print("".join(f"  {one.name}\n" for one in wanted), end="", file=sys.stderr)
    print(f"Skipping following packages as the license is not accepted:\n{LICENCE}")
    return False


def _download(sdk: Path, scenario: Scenario, package: SdkPackage) -> int:
    note_call(sdk, "download", [package.name])
    steps = max(1, scenario.download_steps)
    for step in range(steps):
        percent = 10 + 80 * step // steps
        if scenario.download_failure and step >= steps // 2:
            _end_progress()
            text = _FAILURES[scenario.download_failure]
            _warn(text.format(description=package.description))
            return 1
        _progress(percent, f"Downloading {package.archive}...")
        time.sleep(scenario.download_seconds / steps)  # as the scenario says
    _progress(95, f"Unzipping... {package.name.rpartition(';')[2]}/system.img")
    install(sdk, package)
    _progress(100, f"Unzipping... {package.name.rpartition(';')[2]}/package.xml")
    _end_progress()
    return 0


def _progress(percent: int, what: str) -> None:
    """Draw the progress line over the one before."""
    bar = ("=" * round(percent * _BAR / 100)).ljust(_BAR)
    # The real one goes on when nobody reads any more.
    with suppress(BrokenPipeError):
        print(f"[{bar}] {percent}% {what.ljust(30)}", end="\r", flush=True)


def _end_progress() -> None:
    with suppress(BrokenPipeError):
        print(flush=True)


def _warn(text: str) -> None:
    print(f"Warning: {text}", file=sys.stderr, flush=True)
