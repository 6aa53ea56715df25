"""The table of Android's shell commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pytest_clawperator.simulator.android import settings
from pytest_clawperator.simulator.android.am import ACTIVITY_COMMANDS
from pytest_clawperator.simulator.android.dumpsys import dumpsys
from pytest_clawperator.simulator.android.input import input_service
from pytest_clawperator.simulator.android.pm import PACKAGE_COMMANDS
from pytest_clawperator.simulator.android.processes import kill_program, pidof, ps
from pytest_clawperator.simulator.android.screen_capture import screencap, screenrecord
from pytest_clawperator.simulator.android.service_call import (
    NO_SERVICE,
    ServiceHandler,
    dispatch,
    run_service,
)
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Command, Invocation


async def _reboot(system: AndroidSystem, invocation: Invocation) -> int:
    """Restart the phone; the shell that asked waits until its connection drops."""
    system.reboot()
    await asyncio.Event().wait()
    return 0  # never reached


SERVICES: Mapping[str, ServiceHandler] = {
    "activity": partial(dispatch, commands=ACTIVITY_COMMANDS),
    "input": input_service,
    "package": partial(dispatch, commands=PACKAGE_COMMANDS),
    "settings": settings.settings_service,
    **{name: partial(dispatch, commands=commands) for name, commands in settings.SERVICES.items()},
}
"""The services that take commands through ``cmd``."""

# The first API levels with a service, and with commands of a service.
_SERVICES_SINCE = {"locale": 33}
_COMMANDS_SINCE = {"connectivity": 30}
# Programs that pass their arguments to a service.
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
    "getprop": settings.getprop,
    "kill": kill_program,
    "pidof": pidof,
    "ps": ps,
    "reboot": _reboot,
    "screencap": screencap,
    "screenrecord": screenrecord,
    "setprop": settings.setprop,
}


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
    words = invocation.args[1:]
    return await run_service(
        service, SERVICES[service], system=system, invocation=invocation, words=words
    )


async def _cmd(system: AndroidSystem, invocation: Invocation) -> int:
    name, *words = [*invocation.args[1:], ""]
    api = system.build.api
    if name not in SERVICES or api < _SERVICES_SINCE.get(name, 0):
        await invocation.err(f"cmd: Can't find service: {name}\n")
        return NO_SERVICE
    if api < _COMMANDS_SINCE.get(name, 0):
        await invocation.out("No shell command implementation.\n")
        return 0
    return await run_service(
        name, SERVICES[name], system=system, invocation=invocation, words=words[:-1]
    )
