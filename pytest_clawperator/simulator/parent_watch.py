"""Noticing that the parent process has ended, however it ended."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable

# Where the system cannot tell, the parent's id is looked at this often, in seconds.
_LOOK_EVERY = 0.25


def watch_parent(on_death: Callable[[], None]) -> Callable[[], None]:
    """Call ``on_death`` once the parent process is gone; the result ends the watch."""
    loop = asyncio.get_running_loop()
    parent = os.getppid()
    descriptor = _death_descriptor(parent)
    if descriptor is None:
        return _look_now_and_then(loop, parent, on_death)

    def stop() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)

    loop.add_reader(descriptor, on_death)
    if os.getppid() != parent:  # it went before the watch began
        loop.call_soon(on_death)
    return stop


def _death_descriptor(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends, where there is such."""
    try:
        if sys.platform == "linux":
            return os.pidfd_open(pid)
        if sys.platform == "darwin":
            queue = select.kqueue()
            ends = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([ends], 0)
            # The queue object closes its descriptor when collected; this one must stay.
            return os.dup(queue.fileno())
    except (OSError, AttributeError):
        pass
    return None


def _look_now_and_then(
    loop: asyncio.AbstractEventLoop, parent: int, on_death: Callable[[], None]
) -> Callable[[], None]:
    async def look() -> None:
        while os.getppid() == parent:
            await asyncio.sleep(_LOOK_EVERY)
        on_death()

    looking = loop.create_task(look())

    def stop() -> None:
        looking.cancel()

    return stop
