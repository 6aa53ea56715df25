"""The table of Android's shell commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pytest_clawperator.simulator.android.am import activity_service
from pytest_clawperator.simulator.android.dumpsys import dumpsys
from pytest_clawperator.simulator.android.input import input_service
from pytest_clawperator.simulator.android.pm import package_service
from pytest_clawperator.simulator.android.processes import kill_program, pidof, ps
from pytest_clawperator.simulator.android.screen_capture import screencap, screenrecord
from pytest_clawperator.simulator.android.service_call import (
    NO_SERVICE,
    ServiceHandler,
    run_service,
)
from pytest_clawperator.simulator.android.settings import (
    appops_service,
    connectivity_service,
    getprop,
    ime_service,
    locale_service,
    setprop,
    settings_service,
    uimode_service,
)
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.android.wm import window_service
from pytest_clawperator.simulator.shell.shell import Command, Invocation


async def reboot(system: AndroidSystem, invocation: Invocation) -> int:
    """Restart the phone; the shell that asked waits until its connection drops."""
    system.reboot()
    await asyncio.Event().wait()
    return 0  # never reached


SERVICES: Mapping[str, ServiceHandler] = {
    "activity": activity_service,
    "appops": appops_service,
    "connectivity": connectivity_service,
    "input": input_service,
    "input_method": ime_service,
    "locale": locale_service,
    "package": package_service,
    "settings": settings_service,
    "uimode": uimode_service,
    "window": window_service,
}
"""The services that take commands through ``cmd``."""

# Services that came later than with the oldest phones, and those that took no commands before.
_SERVICES_SINCE = {"locale": 33}
_COMMANDS_SINCE = {"connectivity": 30}

# Commands that are a service under another name.
_FRONT_ENDS = {
    "am": "activity",
    "ime": "input_method",
    "input": "input",
    "pm": "package",
    "settings": "settings",
    "wm": "window",
}

_PROGRAMS: Mapping[str, Callable[[AndroidSystem, Invocation], Awaitable[int]]] = {
    "dumpsys": dumpsys,
    "getprop": getprop,
    "kill": kill_program,
    "pidof": pidof,
    "ps": ps,
    "reboot": reboot,
    "screencap": screencap,
    "screenrecord": screenrecord,
    "setprop": setprop,
}

COMMAND_NAMES: tuple[str, ...] = tuple(sorted([*_PROGRAMS, *_FRONT_ENDS, "cmd"]))
"""What can be typed."""


def android_commands(system: AndroidSystem) -> dict[str, Command]:
    """Return Android's commands by name, bound to this system."""
    commands: dict[str, Command] = {
        name: partial(program, system) for name, program in _PROGRAMS.items()
    }
    for name, service in _FRONT_ENDS.items():
        commands[name] = partial(_front_end, system, service)
    commands["cmd"] = partial(_cmd, system)
    return commands


async def _front_end(system: AndroidSystem, service: str, invocation: Invocation) -> int:
    return await run_service(
        service,
        SERVICES[service],
        system=system,
        invocation=invocation,
        words=invocation.args[1:],
    )


async def _cmd(system: AndroidSystem, invocation: Invocation) -> int:
    words = invocation.args[1:]
    if not words:
        await invocation.err("cmd: No service specified; use -l to list all services\n")
        return NO_SERVICE
    if words[0] == "-l":
        names = [] if system.booting else sorted(filter(partial(_has, system), SERVICES))
        lines = "".join(f"  {name}\n" for name in names)
        await invocation.out(f"Currently running services:\n{lines}")
        return 0
    if words[0] == "-w":
        words = words[1:]
    handler = SERVICES.get(words[0]) if words else None
    if handler is not None and system.build.api < _COMMANDS_SINCE.get(words[0], 0):
        await invocation.out("No shell command implementation.\n")
        return 0
    if handler is None or not _has(system, words[0]):
        name = words[0] if words else ""
        await invocation.err(f"cmd: Can't find service: {name}\n")
        return NO_SERVICE
    return await run_service(
        words[0], handler, system=system, invocation=invocation, words=words[1:]
    )


def _has(system: AndroidSystem, service: str) -> bool:
    return system.build.api >= _SERVICES_SINCE.get(service, 0)
