"""``monkey``: starts an app and taps at random."""

from __future__ import annotations

import asyncio
import random

from pytest_clawperator.simulator.android.java import JavaException, java_int
from pytest_clawperator.simulator.android.managers.activity_manager import (
    start_activity,
)
from pytest_clawperator.simulator.android.managers.intent import MAIN, Intent
from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
)
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

_MONKEY_ABORTED = 252
_MOST_EVENTS = 10_000


async def monkey(system: AndroidSystem, invocation: Invocation) -> int:
    """Start a package by its icon, then tap random points."""
    words = invocation.args[1:]
    await invocation.out("".join(f"  bash arg: {word}\n" for word in words))
    await invocation.err(f"args: [{', '.join(words)}]\n")
    packages, seed, events = _monkey_options(words)
    if events is None:
        await invocation.err("** Error: A number of events is missing, e.g. monkey -p PKG 1\n")
        return FAILED
    started = [
        name
        for name in packages
        if start_activity(system, Intent(action=MAIN, package=name)) is not None
    ]
    if packages and not started:
        await invocation.out("** No activities found to run, monkey aborted.\n")
        return _MONKEY_ABORTED
    chance = random.Random(seed)  # noqa: S311 - for pokes, not for secrets
    for _ in range(min(events, _MOST_EVENTS) - 1):
        width, height = system.ui.display.size
        system.ui.touch.tap(chance.randrange(width), chance.randrange(height))
        await asyncio.sleep(0)
    await invocation.out(f"Events injected: {events}\n")
    await invocation.err(
        "## Network stats: elapsed time=25ms (0ms mobile, 0ms wifi, 25ms not connected)\n"
    )
    return 0


def _monkey_options(words: list[str]) -> tuple[list[str], int, int | None]:
    """Return packages, seed and number of events."""
    values: dict[str, list[str]] = {}
    rest: list[str] = []
    queue = iter(words)
    for word in queue:
        if word in ("-p", "-c", "-s") or word in ("--throttle", "--pkg-blacklist-file"):
            values.setdefault(word, []).append(next(queue, ""))
        elif not word.startswith("-"):
            rest.append(word)
    try:
        seed = java_int(values.get("-s", ["0"])[-1])
        events = java_int(rest[-1]) if rest else None
    except JavaException:
        return [], 0, None
    return values.get("-p", []), seed, events
