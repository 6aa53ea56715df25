"""Keeping a simulated SDK running: its adb server, and the end of its emulators."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.held_file import HeldFile, holder_of, is_free_before
from pytest_clawperator.simulator.sdk.scenario import read_scenario
from pytest_clawperator.simulator.sdk.tree import (
    environment_of,
    running_folder,
    session_file,
    write_tree,
)
from pytest_clawperator.simulator.wire.adb_server import AdbServer

# Together less than what is left to a simulator that is to end.
_GENTLE_SECONDS = 1.0
_FORCE_SECONDS = 0.5


class SdkSession:
    """A simulated SDK that runs; ``environment`` is what programs need to use it."""

    def __init__(self, sdk: Path) -> None:
        self._sdk = sdk.absolute()
        self._server = AdbServer()
        self._held = HeldFile(session_file(self._sdk))
        self.environment: dict[str, str] = {}

    @property
    def adb_port(self) -> int:
        """Where its adb server listens."""
        return self._server.port

    async def __aenter__(self) -> SdkSession:
        write_tree(self._sdk)
        read_scenario(self._sdk)
        if not self._held.hold({"pid": os.getpid()}):
            raise ConfigurationError(
                f"the simulated SDK in {self._sdk} runs already",
                hint="Use that one, end it, or name another folder.",
            )
        try:
            await self._server.start()
        except BaseException:
            self._held.release()
            raise
        self._held.write({"pid": os.getpid(), "adb_port": self.adb_port})
        self.environment = environment_of(self._sdk, adb_port=self.adb_port)
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await asyncio.to_thread(end_emulators, self._sdk)
        finally:
            self._held.release()
            await self._server.stop()

    async def run_until(self, stopped: asyncio.Event) -> None:
        """Run until ``stopped``; raise if the adb server ends and cannot be started again."""
        await self._server.keep_until(stopped)


def end_emulators(sdk: Path) -> None:
    """End all emulators that were started from an SDK, by force if need be."""
    records = list(running_folder(sdk).glob("[0-9]*"))
    for number, seconds in ((signal.SIGTERM, _GENTLE_SECONDS), (signal.SIGKILL, _FORCE_SECONDS)):
        deadline = time.monotonic() + seconds
        for record in records:
            # Held, so it is that process and no other that got its number.
            if holder_of(record) is not None:
                with suppress(ProcessLookupError, ValueError):
                    os.kill(int(record.name), number)
        records = [record for record in records if not is_free_before(record, deadline)]
    for record in running_folder(sdk).glob("[0-9]*"):
        if holder_of(record) is None:
            record.unlink(missing_ok=True)
