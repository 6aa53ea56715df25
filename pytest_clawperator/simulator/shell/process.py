"""A shell as a process: others see it under its number, and signals reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from pytest_clawperator.simulator.shell.jobs import SHELL, Program
from pytest_clawperator.simulator.shell.runner import evaluate, isolated
from pytest_clawperator.simulator.shell.shell import AT_EXIT, Shell
from pytest_clawperator.simulator.shell.signals import KILL

# Those that end nothing: CHLD, CONT, URG, WINCH.
_HARMLESS = frozenset({17, 18, 23, 28})


async def as_process(shell: Shell, work: Coroutine[Any, Any, int]) -> int:
    """Run what a shell does under its process id; return its status."""
    process = _Process(shell, work)
    with shell.jobs.listed(Program(shell.pid, SHELL, process.signal)):
        return await process.status()


class _Process:
    """One shell that runs, until it is done or a signal ends it."""

    def __init__(self, shell: Shell, work: Coroutine[Any, Any, int]) -> None:
        self._shell = shell
        self._task = asyncio.get_running_loop().create_task(work)
        self._signal = 0

    def signal(self, number: int) -> None:
        """End what it does, for the trap of this signal if there is one."""
        ignored = number != KILL and self._shell.traps.get(number) == ""
        if not ignored and number not in _HARMLESS:
            self._signal = number
            self._task.cancel()

    async def status(self) -> int:
        """Wait for its end and return its status."""
        try:
            await asyncio.wait([self._task])
        finally:
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait([self._task])
        if not self._task.cancelled():
            status = self._task.result()
        elif self._signal == KILL or self._signal not in self._shell.traps:
            return 128 + self._signal
        else:
            status = await self._run_trap(self._signal)
        if AT_EXIT in self._shell.traps:
            return await isolated(self._shell, self._at_exit(status))
        return status

    async def _at_exit(self, status: int) -> int:
        """Run what was noted for the end, which an ``exit`` there gives another status."""
        await evaluate(self._shell, self._shell.traps.pop(AT_EXIT))
        return status

    async def _run_trap(self, number: int) -> int:
        script = self._shell.traps.pop(number)
        return await isolated(self._shell, evaluate(self._shell, script))
