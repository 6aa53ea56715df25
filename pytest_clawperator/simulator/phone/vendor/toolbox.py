"""Programs of toolbox, which Android 6 has where later versions have toybox."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.processes import running_processes
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Command, Invocation

# `cmd` came with Android 7, when services began to take commands themselves.
_LATER = frozenset({"cmd"})
_SWITCHES = frozenset({"-t", "-n", "-x", "-Z", "-P", "-p", "-c", "--abi"})
_HEADING = "USER      PID   PPID  VSIZE  RSS   WCHAN      PC         NAME"
_UNLOCKING = (["keyevent", "82"], ["keyevent", "MENU"], ["keyevent", "KEYCODE_MENU"])


def with_toolbox(commands: Mapping[str, Command], system: AndroidSystem) -> dict[str, Command]:
    """Return Android's commands as Android 6 has them."""
    window_manager, keys = commands["wm"], commands["input"]

    async def ps(invocation: Invocation) -> int:
        await invocation.out("".join(f"{line}\n" for line in _processes(system, invocation)))
        return 0

    async def wm(invocation: Invocation) -> int:
        if invocation.args[1:2] == ["dismiss-keyguard"]:
            await invocation.err("Error: unknown command 'dismiss-keyguard'\n")
            return 0
        return await window_manager(invocation)

    async def input_(invocation: Invocation) -> int:
        locked = system.faults.active("locked")
        is_swiped = locked is not None and locked.options["code"] == "0"
        if is_swiped and system.display.awake and invocation.args[1:] in _UNLOCKING:
            system.faults.clear("locked")
        return await keys(invocation)

    old = {name: command for name, command in commands.items() if name not in _LATER}
    return {**old, "input": input_, "ps": ps, "wm": wm}


def _processes(system: AndroidSystem, invocation: Invocation) -> list[str]:
    """List the processes: all of them, or those with a pid or the beginning of a name."""
    words = [word for word in invocation.args[1:] if word not in _SWITCHES]
    wanted = words[-1] if words else ""
    rows = [
        f"{process.user:<9} {process.pid:<5} {process.ppid:<5} {process.vsz:<6} {process.rss:<5}"
        f" ffffffff   00000000 S {process.name}"
        for process in running_processes(system)
        if str(process.pid) == wanted or process.name.startswith(wanted)
    ]
    return [_HEADING, *rows]
