"""The phone's own time: what is due on its screen happens, whether somebody looks or not."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi

_log = logging.getLogger(__name__)


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
        """Look again for what comes next."""
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
        except Exception:  # one app's trouble is no reason for the time to stand still
            _log.exception("what was due on the screen failed")
