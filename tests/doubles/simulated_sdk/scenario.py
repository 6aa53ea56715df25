"""How the simulated SDK behaves: how long things take, and what fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

FILE = "simulation.json"


@dataclass(frozen=True, kw_only=True)
class EmulatorScenario:
    """How one emulator behaves; times are in seconds."""

    offline_seconds: float = 0.3
    """How long adb shows it as offline."""
    boot_seconds: float = 1.0
    """After that: how long Android boots; ``quick_boot_seconds`` from a snapshot."""
    quick_boot_seconds: float = 0.2
    never: str = ""
    """What it never does: ``registers``, ``connects`` (stays offline) or ``boots``."""
    crash: str = ""
    """Whether it crashes: ``booting``."""
    failure: str = ""
    """Which start failure it prints before it exits, such as ``kvm_denied``."""
    kill: str = "works"
    """What ``emu kill`` does: ``works``, is ``refused``, or is ``ignored``."""
    snapshot_failure: str = ""
    """Which snapshot command fails: ``save`` or ``load``."""
    operator: str = "absent"
    """Which variant of the Operator a new virtual device has."""
    time_scale: float = 1.0
    """The factor for the pauses of the Operator."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How the tools behave; ``emulators`` overrides ``emulator`` by names or name patterns."""

    emulator: EmulatorScenario = field(default_factory=EmulatorScenario)
    emulators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    images: tuple[str, ...] = ("system-images;*",)
    """The system images that can be downloaded, as patterns."""
    licences: str = "asked"
    """Whether licences are ``asked`` for, are ``accepted`` already, or stay ``refused``."""
    download_seconds: float = 0.5
    download_steps: int = 20
    download_failure: str = ""
    """How a download fails: ``network``, ``no_space`` or ``checksum``."""
    create_failure: str = ""
    """The error of ``avdmanager create``."""
    delete_failure: str = ""
    """The error of ``avdmanager delete``."""
    tool_seconds: float = 0.0
    """How long ``avdmanager`` and ``sdkmanager`` take to start; Java takes about a second."""
    first_port: int = 5554
    """The first port that an emulator without ``-port`` tries."""
    host_abi: str = ""
    """The processor of the host; by default that of this machine; ``any`` runs every image."""

    def of_emulator(self, name: str) -> EmulatorScenario:
        """Return how the emulator of a virtual device behaves."""
        found = self.emulator
        for pattern, values in self.emulators.items():
            if fnmatchcase(name, pattern):
                found = replace(found, **values)
        return found

    def write(self, sdk: Path) -> None:
        """Write the scenario into an SDK; tools started from now on follow it."""
        unfinished = sdk / f"{FILE}.new"
        unfinished.write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")
        unfinished.replace(sdk / FILE)


def read_scenario(sdk: Path) -> Scenario:
    """Read the scenario of an SDK."""
    values = json.loads((sdk / FILE).read_text("utf-8"))
    emulator = EmulatorScenario(**values.pop("emulator"))
    return Scenario(emulator=emulator, images=tuple(values.pop("images")), **values)
