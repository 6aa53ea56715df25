"""Which boot of the phone this is, as the kernel shows it in ``/proc``."""

from __future__ import annotations

import random
import uuid

from pytest_clawperator.simulator.filesystem import FileSystem

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Kernel:
    """Has a new id for each boot."""

    def __init__(self, files: FileSystem, *, chance: random.Random) -> None:
        self._files = files
        self._chance = chance
        self.boot()

    def boot(self, boot_id: str | None = None) -> None:
        """Start with a new id, or go back to one that was kept."""
        self.boot_id = boot_id or str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        self._files.provide(_BOOT_ID, f"{self.boot_id}\n".encode())
