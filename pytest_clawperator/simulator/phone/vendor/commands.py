"""Android's programs as some phones have them: old, slow, guarded, or with complaints."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.phone.vendor.guards import guarded
from pytest_clawperator.simulator.phone.vendor.toolbox import with_toolbox
from pytest_clawperator.simulator.shell.shell import Command, Invocation

# Scripts that start a Java machine, while the others are small programs.
_JAVA = frozenset({"am", "ime", "input", "pm", "wm"})
_DUMP_SECONDS = 2.0
_JAVA_SECONDS = 1.0
_LINKER = (
    "WARNING: linker: /vendor/lib64/libsched.so: unsupported flags DT_FLAGS_1=0x8000001"
    " (ignoring unsupported flags)\n"
)


def as_made(commands: Mapping[str, Command], system: AndroidSystem) -> dict[str, Command]:
    """Return Android's commands as a phone with these quirks has them."""
    made = dict(commands)
    if "old-toybox" in system.quirks:
        made = with_toolbox(made, system)
    if "guarded-adb" in system.quirks:
        made = {name: guarded(name, command) for name, command in made.items()}
    return {name: _hindered(name, command, system.quirks) for name, command in made.items()}


def _hindered(name: str, command: Command, quirks: frozenset[str]) -> Command:
    delay = 0.0
    if "slow-dump" in quirks and name == "dumpsys":
        delay = _DUMP_SECONDS
    elif "slow-am" in quirks and name in _JAVA:
        delay = _JAVA_SECONDS
    complaint = _LINKER if "linker-warning" in quirks else ""
    if not delay and not complaint:
        return command

    async def run(invocation: Invocation) -> int:
        if complaint:
            await invocation.err(complaint)
        await asyncio.sleep(delay)
        return await command(invocation)

    return run
