"""``reboot``: restart the phone."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation


async def reboot(system: AndroidSystem, invocation: Invocation) -> int:
    """Restart the phone; the shell that asked waits until its connection drops."""
    system.reboot()
    await asyncio.Event().wait()
    return 0  # never reached
