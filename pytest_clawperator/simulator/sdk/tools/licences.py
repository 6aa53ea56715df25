"""The licences of the SDK's packages: asked for once, and remembered in ``licenses/``."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_clawperator.simulator.sdk.scenario import Scenario

LICENCE = "android-sdk-license"
_ALL = (
    LICENCE,
    "android-sdk-arm-dbt-license",
    "android-sdk-preview-license",
    "google-gdk-license",
)
_FOLDER = "licenses"
_RULE = "---------------------------------------"


def was_accepted(sdk: Path, scenario: Scenario, name: str = LICENCE) -> bool:
    """Whether the user accepted a licence before."""
    if scenario.licences != "asked":
        return scenario.licences == "accepted"
    return (sdk / _FOLDER / name).is_file()


def accept(sdk: Path, scenario: Scenario, name: str = LICENCE) -> bool:
    """Show a licence and ask for it; return whether it was accepted."""
    print(f"License {name}:\n{_RULE}\nTerms and Conditions\n\nA simulated licence.\n{_RULE}")
    print("Accept? (y/N): ", end="", flush=True)
    if not _says_yes() or scenario.licences == "refused":
        return False
    (sdk / _FOLDER).mkdir(exist_ok=True)
    (sdk / _FOLDER / name).write_text("\nsimulated\n", "utf-8")
    return True


def review(sdk: Path, scenario: Scenario) -> int:
    """Ask for all licences that were not accepted yet, as ``sdkmanager --licenses``."""
    left = [name for name in _ALL if not was_accepted(sdk, scenario, name)]
    if left:
        print(f"{len(left)} of {len(_ALL)} SDK package licenses not accepted.")
        print("Review licenses that have not been accepted (y/N)? ", end="", flush=True)
        if not _says_yes():
            return 0
    refused = [name for name in left if not accept(sdk, scenario, name)]
    if refused:
        print(f"{len(refused)} of {len(_ALL)} SDK package licenses not accepted.")
    else:
        print("All SDK package licenses accepted")
    return 0


def _says_yes() -> bool:
    answer = sys.stdin.readline()
    print(flush=True)
    return answer.strip().lower() in ("y", "yes")
