"""A restart, in the stages through which a host sees it go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Literal

from pytest_clawperator.simulator.phone.cable import Cable

Stage = Literal["on", "down", "kernel", "services"]

# How many seconds each stage lasts. A phone takes longer, but in the same order.
_GOING_DOWN = 0.1
_DOWN = 1.0
_KERNEL = 1.0
_SERVICES = 0.5


class Boot:
    """Whether a phone runs, or at which stage of a restart it is.

    ``down``: hosts see it offline. ``kernel``: adbd answers, but none of Android's services.
    ``services``: those answer, too, but ``sys.boot_completed`` is not set yet.
    """

    def __init__(
        self,
        cable: Cable,
        *,
        time_scale: float,
        shut_down: Callable[[], None],
        start_apps: Callable[[], None],
    ) -> None:
        self.stage: Stage = "on"
        self._cable = cable
        self.pause: Callable[[float], Awaitable[None]] = self._sleep
        self._time_scale = time_scale
        self._shut_down = shut_down
        self._start_apps = start_apps
        self._task: asyncio.Task[None] | None = None
        cable.is_down = lambda: self.stage == "down"

    @property
    def has_services(self) -> bool:
        """Whether Android's services answer."""
        return self.stage in ("on", "services")

    @property
    def is_completed(self) -> bool:
        """Whether Android has started."""
        return self.stage == "on"

    def begin(self) -> None:
        """Restart, unless it does so already."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._restart())

    async def ended(self) -> None:
        """Wait until no restart is under way."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Give a restart up that is under way."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _restart(self) -> None:
        await self.pause(_GOING_DOWN)
        self.stage = "down"
        self._shut_down()
        self._cable.disconnect()
        await self.pause(_DOWN)
        self.stage = "kernel"
        # Hosts that wait for an answer since it went down call again.
        self._cable.disconnect()
        await self.pause(_KERNEL)
        self.stage = "services"
        self._start_apps()
        await self.pause(_SERVICES)
        self.stage = "on"

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._time_scale)
