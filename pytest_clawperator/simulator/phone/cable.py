"""The connection to the hosts, which faults and reboots cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from pytest_clawperator.simulator.faults import Faults

Admission = Literal["device", "offline", "unauthorized"]

# So that what was just answered leaves before the cable is pulled.
_ANSWER_SECONDS = 0.05
# So that an execution has begun, and its broadcast is acknowledged.
_EXECUTION_SECONDS = 0.002


def _nothing() -> None:
    pass


class Cable:
    """Connects a phone to its hosts; ``disconnect`` is to be set to what drops them all."""

    def __init__(self, faults: Faults) -> None:
        self.disconnect: Callable[[], None] = _nothing
        self.is_down: Callable[[], bool] = lambda: False
        self._faults = faults

    def admission(self) -> Admission:
        """Return how a host that connects now is received."""
        if self.is_down() or self._faults.active("offline"):
            return "offline"
        return "unauthorized" if self._faults.active("unauthorized") else "device"

    def pull_soon(self, seconds: float = _ANSWER_SECONDS) -> None:
        """Drop every host in a moment; they may connect again."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # not yet running, so nobody is connected
            return
        loop.call_later(seconds, self.disconnect)

    def execution_started(self) -> None:
        """Drop every host in the middle of an execution, if that fault is on."""
        fault = self._faults.active("disconnect")
        if fault is not None and fault.options["after"] == "execution":
            self._faults.take("disconnect")
            self.pull_soon(_EXECUTION_SECONDS)
