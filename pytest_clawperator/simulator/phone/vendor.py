"""Commands and adbd as some makers and versions have them: old, slow, guarded, or with warnings."""

from __future__ import annotations

from asyncio import sleep as pause
from collections.abc import Mapping

from pytest_clawperator.simulator.android.processes import running_processes
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Command, Invocation
from pytest_clawperator.simulator.wire.stream import ServiceRefused

# Programs that start a Java machine, while the others are small.
_JAVA = frozenset({"am", "ime", "input", "pm", "wm"})
_DUMP_SECONDS = 2.0
_JAVA_SECONDS = 1.0
_LINKER = (
    "WARNING: linker: /vendor/lib64/libsched.so: unsupported flags DT_FLAGS_1=0x8000001"
    " (ignoring unsupported flags)\n"
)

# The commands that a guarded phone refuses, by words that they must have, and the reason.
_GUARDED: Mapping[str, tuple[frozenset[str], str]] = {
    "input": (
        frozenset(),
        "Injecting input events requires the caller (or the source of the instrumentation, if any)"
        " to have the INJECT_EVENTS permission.",
    ),
    "pm": (
        frozenset({"grant", "revoke"}),
        "grantRuntimePermission: Neither user 2000 nor current process has"
        " android.permission.GRANT_RUNTIME_PERMISSIONS.",
    ),
    "settings": (
        frozenset({"put", "delete", "reset"}),
        "Permission denial: writing to settings requires:android.permission.WRITE_SECURE_SETTINGS",
    ),
}

_FAILED = 255
_PS_SWITCHES = frozenset({"-t", "-n", "-x", "-Z", "-P", "-p", "-c", "--abi"})
_PS_HEADING = "USER      PID   PPID  VSIZE  RSS   WCHAN      PC         NAME"
_UNLOCKING = (["keyevent", "82"], ["keyevent", "MENU"], ["keyevent", "KEYCODE_MENU"])


def as_made(commands: Mapping[str, Command], system: AndroidSystem) -> dict[str, Command]:
    """Return Android's commands as a phone with these quirks has them."""
    made = dict(commands)
    if "old-toybox" in system.quirks:
        made = _with_toolbox(made, system)
    if "guarded-adb" in system.quirks:
        made = {name: _guarded(name, command) for name, command in made.items()}
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
        await pause(delay)
        return await command(invocation)

    return run


def _guarded(name: str, command: Command) -> Command:
    """Return a command as it is on a phone that restricts adb."""
    if name not in _GUARDED:
        return command
    verbs, reason = _GUARDED[name]

    async def run(invocation: Invocation) -> int:
        words = invocation.args[1:]
        if not words or (verbs and not verbs & set(words[:3])):
            return await command(invocation)
        await invocation.err(
            f"\nException occurred while executing '{words[0]}':\n"
            f"java.lang.SecurityException: {reason}\n"
        )
        return _FAILED

    return run


def _with_toolbox(commands: Mapping[str, Command], system: AndroidSystem) -> dict[str, Command]:
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

    # `cmd` came with Android 7, when services began to take commands themselves.
    old = {name: command for name, command in commands.items() if name != "cmd"}
    return {**old, "input": input_, "ps": ps, "wm": wm}


def _processes(system: AndroidSystem, invocation: Invocation) -> list[str]:
    """List the processes: all of them, or those with a pid or the beginning of a name."""
    words = [word for word in invocation.args[1:] if word not in _PS_SWITCHES]
    wanted = words[-1] if words else ""
    rows = [
        f"{process.user:<9} {process.pid:<5} {process.ppid:<5} {process.vsz:<6} {process.rss:<5}"
        f" ffffffff   00000000 S {process.name}"
        for process in running_processes(system)
        if str(process.pid) == wanted or process.name.startswith(wanted)
    ]
    return [_PS_HEADING, *rows]


def old_destination(destination: str) -> str:
    """Return what an old adbd makes of a service; raise for those that it does not know."""
    kind, colon, command = destination.partition(":")
    if kind.startswith("shell,"):
        raise ServiceRefused(destination)
    return f"shell,pty:{command}" if colon and kind == "shell" else destination
