"""The snapshots of an emulator that hold checkpoints, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256

from pytest_clawperator.emulators.console import ask_console
from pytest_clawperator.errors import EmulatorError

#: How long saving may take: it writes the emulator's memory, which is gigabytes.
SAVE_TIMEOUT = 120.0
LOAD_TIMEOUT = 60.0
_LIST_TIMEOUT = 10.0
_DELETE_TIMEOUT = 30.0
# The lengths are fixed, because tables of the console may have no space after a long name.
_NAME = re.compile(r"claw-\w{1,40}-[0-9a-f]{6}-[0-9a-f]{12}", re.ASCII)
_HINT = (
    "Check that the disk of the virtual devices has room, and that the emulator was started"
    " without -read-only and -no-snapstorage."
)

#: Sends a command to the console of an emulator, waits so many seconds, and returns the answer.
AskConsole = Callable[[str, str, float], str]


def snapshot_name(checkpoint: str, *parts: object) -> str:
    """Return what the snapshot of a checkpoint is called; ``parts`` are what it depends on."""
    return f"{_family(checkpoint)}{sha256(repr(parts).encode()).hexdigest()[:12]}"


def _family(checkpoint: str) -> str:
    """Return how the snapshots of a checkpoint begin, whatever they depend on."""
    readable = re.sub(r"\W+", "_", checkpoint, flags=re.ASCII)[:40] or "_"
    digest = sha256(checkpoint.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"claw-{readable}-{digest}-"


def _ask(serial: str, command: str, timeout: float) -> str:
    return ask_console(serial, command, timeout=timeout)


class Snapshots:
    """The snapshots of one emulator that hold checkpoints; others are left alone."""

    def __init__(self, serial: str, *, ask: AskConsole = _ask) -> None:
        self._serial = serial
        self._ask = ask

    def names(self) -> Sequence[str]:
        """Return the names; raise if the emulator keeps no snapshots."""
        return _NAME.findall(self._ask(self._serial, "avd snapshot list", _LIST_TIMEOUT))

    def avd_name(self) -> str:
        """Return the virtual device that the console is of."""
        return self._ask(self._serial, "avd name", _LIST_TIMEOUT).strip()

    def save(self, name: str) -> None:
        """Save the state of the emulator; older snapshots of the same checkpoint are deleted."""
        family = name[: -len("0123456789ab")]
        for old in self.names():
            if old.startswith(family):
                self.delete(old)
        self._do("save", name, SAVE_TIMEOUT)

    def load(self, name: str) -> None:
        """Bring the emulator back to a snapshot; connections to it break."""
        self._do("load", name, LOAD_TIMEOUT)

    def delete(self, name: str) -> None:
        """Delete a snapshot."""
        self._do("delete", name, _DELETE_TIMEOUT)

    def _do(self, verb: str, name: str, timeout: float) -> None:
        try:
            self._ask(self._serial, f"avd snapshot {verb} {name}", timeout)
        except EmulatorError as error:
            error.hint = _HINT
            raise
