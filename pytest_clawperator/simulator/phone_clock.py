"""The phone's clock: pauses can be made shorter, and still count in full."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

_SHORTEST_WAIT = 0.005  # seconds


class PhoneClock:
    """A clock that advances by the full length of every pause, however short it really was.

    So a wait of five seconds gives up after as many checks of the screen as on a phone, and
    reports five seconds, when ``time_scale`` makes it last half a second. A screen that goes by
    this clock shows what appears "after 800 ms" in time for a wait of one second, too.
    """

    def __init__(self, clock: Callable[[], float], *, time_scale: float) -> None:
        self._clock = clock
        self._ahead = 0.0
        self._pause: tuple[float, float] | None = None  # when it began, how long it is
        self._waiting: set[asyncio.Future[None]] = set()
        self.time_scale = time_scale

    def now(self) -> float:
        """Return the time in milliseconds."""
        return self.seconds() * 1000

    def seconds(self) -> float:
        """Return the time in seconds."""
        real = self._clock()
        ahead = self._ahead
        if self._pause is not None and self.time_scale > 0:
            began, length = self._pause
            ahead += max(0.0, min(length, (real - began) / self.time_scale) - (real - began))
        return real + ahead

    async def sleep(self, duration_ms: float) -> None:
        """Sleep for this many of the Operator's milliseconds."""
        seconds = max(0.0, duration_ms) / 1000
        began = self._clock()
        self._pause = (began, seconds)
        try:
            await asyncio.sleep(seconds * self.time_scale)
        finally:
            self._pause = None
            self._ahead += max(0.0, seconds - (self._clock() - began))
            for future in self._waiting:
                future.cancel()

    async def is_done_before(self, deadline: float, task: asyncio.Task[Any]) -> bool:
        """Wait for a task until a moment of this clock; return whether it is done."""
        while not task.done() and self.now() < deadline:
            left = (deadline - self.now()) / 1000 * (self.time_scale or 1.0)
            pause_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(pause_over)
            try:
                await asyncio.wait(
                    {task, pause_over},
                    timeout=max(left, _SHORTEST_WAIT),
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                self._waiting.discard(pause_over)
        return task.done()
