"""``dumpsys``: the table of the services that describe themselves, and the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.dumpsys.activity import dump_activity
from pytest_clawperator.simulator.android.dumpsys.hardware import (
    dump_battery,
    dump_display,
    dump_power,
    dump_surface_flinger,
)
from pytest_clawperator.simulator.android.dumpsys.input_and_accessibility import (
    dump_accessibility,
)
from pytest_clawperator.simulator.android.dumpsys.notification import dump_notification
from pytest_clawperator.simulator.android.dumpsys.package import dump_package
from pytest_clawperator.simulator.android.dumpsys.window import dump_window
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation


def _package(system: AndroidSystem, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if names[:1] in (["packages"], ["package"]):
        names = names[1:]
    return dump_package(system, names[0] if names else None)


Dump = Callable[[AndroidSystem, "list[str]"], str]

DUMPS: Mapping[str, Dump] = {
    "SurfaceFlinger": dump_surface_flinger,
    "accessibility": dump_accessibility,
    "activity": dump_activity,
    "battery": dump_battery,
    "display": dump_display,
    "notification": dump_notification,
    "package": _package,
    "power": dump_power,
    "window": dump_window,
}
"""The services that can be dumped."""


async def dumpsys(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the dump of one service, or of all."""
    words = invocation.args[1:]
    if words[:1] == ["-l"]:
        listed = [] if system.booting else sorted(DUMPS)
        lines = "".join(f"  {name}\n" for name in listed)
        await invocation.out(f"Currently running services:\n{lines}")
        return 0
    if not words:
        return await _everything(system, invocation)
    dump = DUMPS.get(words[0])
    if dump is None or (system.booting and words[0] != "SurfaceFlinger"):
        await invocation.err(f"Can't find service: {words[0]}\n")
        return 0
    await invocation.out(dump(system, words[1:]))
    return 0


async def _everything(system: AndroidSystem, invocation: Invocation) -> int:
    for name in sorted(DUMPS) if not system.booting else []:
        rule = "-" * 79
        await invocation.out(f"{rule}\nDUMP OF SERVICE {name}:\n")
        await invocation.out(DUMPS[name](system, []))
    return 0
