"""``service``: which of Android's services there are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Command, Invocation

_USAGE = "Usage: service [-h|-?]\n       service list\n       service check SERVICE\n"
_WRONG = 10


def make_service(system: AndroidSystem, names: Iterable[str]) -> Command:
    """Make the command that knows these services."""
    return partial(_service, system, sorted(names))


async def _service(system: AndroidSystem, names: list[str], invocation: Invocation) -> int:
    words = invocation.args[1:]
    running = [] if system.booting else names
    if words == ["list"]:
        rows = "".join(f"{at}\t{name}: []\n" for at, name in enumerate(running))
        await invocation.out(f"Found {len(running)} services:\n{rows}")
        return 0
    if words[:1] == ["check"] and len(words) == 2:
        found = "" if words[1] in running else "not "
        await invocation.out(f"Service {words[1]}: {found}found\n")
        return 0
    if words not in (["-h"], ["-?"]):
        await invocation.err(f"service: Unknown command {' '.join(words)}\n" if words else "")
    await invocation.out(_USAGE)
    return 0 if words in (["-h"], ["-?"]) else _WRONG
