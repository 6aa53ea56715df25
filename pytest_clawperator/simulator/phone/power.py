"""The stages of a restart, and the passing of the phone's time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

from pytest_clawperator.simulator.phone.network import Cable
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi

Stage = Literal["on", "down", "kernel", "services"]
# How many seconds each stage lasts. A phone takes longer, but in the same order.
_GOING_DOWN = 0.1
_DOWN = 1.0
_KERNEL = 1.0
_SERVICES = 0.5
_log = logging.getLogger(__name__)


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
        """Restart, unless a restart is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._restart())

    async def ended(self) -> None:
        """Wait until no restart is under way."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Cancel a restart that is under way."""
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
        # Hosts that have waited for an answer since it went down connect again.
        self._cable.disconnect()
        await self.pause(_KERNEL)
        self.stage = "services"
        self._start_apps()
        await self.pause(_SERVICES)
        self.stage = "on"

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._time_scale)


class Heartbeat:
    """Wakes the screen at each moment for which something is planned."""

    def __init__(self, clock: PhoneClock, screen: Callable[[], PhoneUi]) -> None:
        self._clock = clock
        self._screen = screen
        self._planned = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, in the running loop."""
        self._task = asyncio.get_running_loop().create_task(self._beat())

    async def stop(self) -> None:
        """Stop time."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def plan_changed(self) -> None:
        """Check again when something is due next."""
        self._planned.set()

    async def _beat(self) -> None:
        while True:
            self._planned.clear()
            changed = asyncio.create_task(self._planned.wait())
            try:
                due = self._screen().next_due
                if due is None:
                    await changed
                elif not await self._clock.is_done_before(due * 1000, changed):
                    self._catch_up()
            finally:
                changed.cancel()

    def _catch_up(self) -> None:
        try:
            self._screen().catch_up()
        except Exception:  # a fault in one app must not stop the time
            _log.exception("what was due on the screen failed")
