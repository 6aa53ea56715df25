"""What this machine has for emulators: cores, memory, a display."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_clawperator.emulators.profile import EmulatorProfile
from pytest_clawperator.errors import EmulatorError

# What an emulator takes without ``ram=``, and beside its memory, in megabytes.
_DEFAULT_RAM, _OVERHEAD = 2048, 512
_MEMORY = Path("/proc/meminfo")


def boots_at_once() -> int:
    """Return how many emulators may boot at the same time: a boot keeps two cores busy."""
    return max(1, (os.cpu_count() or 2) // 2)


def is_headless(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether emulators are started without a window: in CI, and where there is no display."""
    if environment.get("CI"):
        return True
    has_display = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return sys.platform.startswith("linux") and not has_display


def check_memory(profiles: Sequence[EmulatorProfile], *, available: int | None) -> None:
    """Raise if these emulators need more memory than there is, in megabytes."""
    needed = sum((profile.ram or _DEFAULT_RAM) + _OVERHEAD for profile in profiles)
    if available is None or needed <= available:
        return
    fitting = max(0, available // (needed // len(profiles)))
    need = "1 emulator needs" if len(profiles) == 1 else f"{len(profiles)} emulators need"
    fewer = f"Start at most {fitting}, or give" if fitting else "End other programs, or give"
    raise EmulatorError(
        f"{need} about {needed} MB of memory, and {available} MB are free",
        hint=f"{fewer} each less memory: ram=1024.",
        details={"neededMb": needed, "availableMb": available},
    )


def most_emulators(profile: EmulatorProfile) -> int:
    """Return how many emulators this machine can run: by its cores, and by its free memory."""
    available = free_memory()
    each = (profile.ram or _DEFAULT_RAM) + _OVERHEAD
    by_memory = available // each if available is not None else boots_at_once()
    return max(1, min(boots_at_once(), by_memory))


def free_memory() -> int | None:
    """Return the memory that can be had now, in megabytes; None where that is not known."""
    try:
        lines = _MEMORY.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    told = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    value = told.get("MemAvailable", ["-"])[0]
    return int(value) // 1024 if value.isdecimal() else None
