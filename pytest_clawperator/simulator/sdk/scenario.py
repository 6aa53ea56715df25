"""How the simulated SDK behaves: what takes how long, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from pytest_clawperator.errors import ConfigurationError

FILE = "simulation.json"

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "never": ("", "registers", "connects", "boots"),
    "crash": ("", "started", "registered", "booting", "booted"),
    "failure": (
        "",
        "kvm_denied",
        "kvm_missing",
        "kvm_unsupported",
        "haxm_missing",
        "hypervisor",
        "wrong_abi",
        "no_space",
        "no_memory",
        "no_display",
        "no_engine",
        "no_library",
        "no_image",
        "same_avd",
    ),
    "kill": ("works", "refused", "ignored"),
    "snapshot_failure": ("", "save", "load"),
    "operator": ("absent", "release", "dev"),
    "licences": ("asked", "accepted", "refused"),
    "download_failure": ("", "network", "no_space", "checksum"),
    "host_abi": ("", "x86_64", "arm64-v8a", "any"),
}
_Values = TypeVar("_Values", "EmulatorScenario", "Scenario")


@dataclass(frozen=True, kw_only=True)
class EmulatorScenario:
    """How one emulator behaves; times are in seconds."""

    register_seconds: float = 0.0
    """From its start until it tells adb of itself."""
    offline_seconds: float = 0.3
    """After that: how long adb shows it as offline."""
    boot_seconds: float = 1.0
    """After that: how long Android boots; ``quick_boot_seconds`` from a snapshot."""
    quick_boot_seconds: float = 0.2
    never: str = ""
    """What it never does: ``registers``, ``connects`` (stays offline) or ``boots``."""
    crash: str = ""
    """Where it crashes: ``started``, ``registered``, ``booting`` or ``booted``."""
    failure: str = ""
    """What it prints in place of a start, such as ``kvm_denied``; then it ends."""
    kill: str = "works"
    """What ``emu kill`` does: ``works``, is ``refused``, or is ``ignored``."""
    end_seconds: float = 0.0
    """How long it takes to end."""
    snapshot_seconds: float = 0.0
    """How long saving and loading a snapshot take; ``snapshot_failure`` is one that fails."""
    snapshot_failure: str = ""
    operator: str = "absent"
    """Which variant of the Operator a new virtual device has."""
    time_scale: float = 1.0
    """The factor for the pauses of the Operator."""
    apps: tuple[str, ...] = ()
    """Files of apps that it has besides those that are shipped."""
    faults: tuple[str, ...] = ()
    """What goes wrong on the phone from the start, as ``sim fault`` takes it."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How the tools behave; ``emulators`` has what differs for virtual devices by their names."""

    emulator: EmulatorScenario = field(default_factory=EmulatorScenario)
    emulators: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name, or by a pattern such as ``clawperator-*``; later ones win."""
    images: tuple[str, ...] = ("system-images;*",)
    """The system images that can be downloaded, as patterns."""
    licences: str = "asked"
    """Whether licences are ``asked`` for, are ``accepted`` before, or stay ``refused``."""
    download_seconds: float = 0.5
    download_steps: int = 20
    download_failure: str = ""
    """What a download ends with: ``network``, ``no_space`` or ``checksum``."""
    create_failure: str = ""
    """What ``avdmanager create`` complains about in place of its work."""
    delete_failure: str = ""
    """What ``avdmanager delete`` complains about in place of its work."""
    tool_seconds: float = 0.0
    """How long the start of ``avdmanager`` and ``sdkmanager`` takes; Java's is about a second."""
    first_port: int = 5554
    """Where an emulator without ``-port`` begins to look for two free ports."""
    host_abi: str = ""
    """The processor of the host; by default that of this machine; ``any`` runs every image."""

    def of_emulator(self, name: str) -> EmulatorScenario:
        """Return how the emulator of a virtual device behaves."""
        found = self.emulator
        for pattern, values in self.emulators.items():
            if fnmatchcase(name, pattern):
                found = _filled(found, values, where=f"emulators.{pattern}")
        return found

    def write(self, sdk: Path) -> None:
        """Write it into an SDK; what is started from now on goes by it."""
        for pattern in self.emulators:
            self.of_emulator(pattern)
        unfinished = sdk / f"{FILE}.new"
        unfinished.write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")
        unfinished.replace(sdk / FILE)


def read_scenario(sdk: Path) -> Scenario:
    """Read the file of an SDK; raise ``ConfigurationError`` where it makes no sense."""
    try:
        values = json.loads((sdk / FILE).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _nonsense(f"it cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise _nonsense("it is not a JSON object")
    emulator = _filled(EmulatorScenario(), values.pop("emulator", {}), where="emulator")
    scenario = _filled(Scenario(emulator=emulator), values, where="")
    for pattern in scenario.emulators:
        scenario.of_emulator(pattern)
    return scenario


def _filled(before: _Values, values: object, *, where: str) -> _Values:
    """Return the values with others put over them; raise for one that is not known."""
    prefix = f"{where}." if where else ""
    if not isinstance(values, Mapping):
        raise _nonsense(f"{where} is not an object")
    known = [each.name for each in fields(before)]
    given: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise _nonsense(f"there is no {prefix}{name}; there are {', '.join(known)}")
        given[name] = _fitting(f"{prefix}{name}", value, like=getattr(before, name))
        choices = _CHOICES.get(name)
        if choices and given[name] not in choices:
            allowed = ", ".join(choice or "''" for choice in choices)
            raise _nonsense(f"{prefix}{name} is {value!r}; allowed are {allowed}")
    return replace(before, **given)


def _fitting(name: str, value: object, *, like: object) -> object:
    if isinstance(like, (int, float)):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 86_400:
            return value
        raise _nonsense(f"{name} is {value!r}; a number from 0 to 86400 is allowed")
    if isinstance(like, tuple):
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
            raise _nonsense(f"{name} is {value!r}; a list of texts is allowed")
        return tuple(value)
    if not isinstance(value, type(like) if isinstance(like, str) else Mapping):
        raise _nonsense(f"{name} is {value!r}, which is of another kind")
    return value


def _nonsense(problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"{FILE} makes no sense: {problem}", hint="docs/simulator.md has what it may hold."
    )
