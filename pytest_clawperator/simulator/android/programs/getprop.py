"""``getprop`` and ``setprop``: system properties."""

from __future__ import annotations

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation


async def getprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Print one property, or all of them."""
    words = [word for word in invocation.args[1:] if not word.startswith("-")]
    if not words:
        lines = (f"[{key}]: [{value}]\n" for key, value in system.properties.items())
        await invocation.out("".join(lines))
        return 0
    if len(words) > 2:
        await invocation.err('getprop: Max 2 arguments (see "getprop --help")\n')
        return 1
    default = words[1] if len(words) == 2 else ""
    await invocation.out(f"{system.properties.get(words[0]) or default}\n")
    return 0


async def setprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Set a property."""
    words = invocation.args[1:]
    if len(words) != 2:
        problem = "Need 2 arguments" if len(words) < 2 else "Max 2 arguments"
        await invocation.err(f'setprop: {problem} (see "setprop --help")\n')
        return 1
    refused = system.properties.set(words[0], words[1])
    if refused is not None:
        await invocation.err(f"setprop: {refused}\n")
        return 1
    return 0
