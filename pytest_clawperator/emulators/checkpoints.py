"""Checkpoints of an emulator: states that it was saved in, and can be brought back to."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256

from pytest_clawperator.errors import ClawperatorError, EmulatorError

# Saving writes the memory to the disk: gigabytes, on a slow disk.
_SAVE_TIMEOUT = 120.0
_LOAD_TIMEOUT = 60.0
_PREFIX = "claw-"

#: Sends a command to the emulator's console, waits so many seconds, and returns the answer.
Console = Callable[[str, float], str]


def checkpoint_id(name: str, *parts: str) -> str:
    """Return what a checkpoint is called on the emulator; ``parts`` are what it depends on."""
    return f"{_family(name)}{sha256(repr(parts).encode()).hexdigest()[:12]}"


def _family(name: str) -> str:
    """Return how the checkpoints of this name begin, whatever they depend on."""
    readable = re.sub(r"[^A-Za-z0-9]+", "_", name)[:40]
    return f"{_PREFIX}{readable}-{sha256(name.encode()).hexdigest()[:6]}-"


class Checkpoints:
    """The checkpoints of one emulator."""

    def __init__(self, serial: str, console: Console) -> None:
        self._serial = serial
        self._console = console

    def has(self, checkpoint: str) -> bool:
        """Whether a checkpoint was saved."""
        return checkpoint in self._names()

    def save(self, checkpoint: str) -> None:
        """Save the state of the emulator; older checkpoints of the same name are deleted."""
        family = checkpoint.rpartition("-")[0] + "-"
        for old in self._names():
            if old.startswith(family):
                self._ask(f"avd snapshot delete {old}", _LOAD_TIMEOUT)
        self._ask(f"avd snapshot save {checkpoint}", _SAVE_TIMEOUT)

    def load(self, checkpoint: str) -> None:
        """Bring the emulator back to a checkpoint; its connection breaks for a moment."""
        self._ask(f"avd snapshot load {checkpoint}", _LOAD_TIMEOUT)

    def delete(self, checkpoint: str) -> None:
        """Delete a checkpoint."""
        self._ask(f"avd snapshot delete {checkpoint}", _LOAD_TIMEOUT)

    def _names(self) -> list[str]:
        listed = self._ask("avd snapshot list", _LOAD_TIMEOUT)
        return re.findall(rf"(?:^|\s)({_PREFIX}\S+)", listed)

    def _ask(self, command: str, timeout: float) -> str:
        try:
            return self._console(command, timeout)
        except ClawperatorError as exc:
            raise EmulatorError(
                f"{command}: {exc.message}",
                serial=self._serial,
                hint="Check that the disk of the virtual devices has room, and that the emulator"
                " was started without -no-snapstorage.",
            ) from exc
