"""The table of Android's shell commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pytest_clawperator.simulator.android.dumpsys.dumpsys import DUMPS, dumpsys
from pytest_clawperator.simulator.android.programs.bugreportz import bugreportz
from pytest_clawperator.simulator.android.programs.content import content
from pytest_clawperator.simulator.android.programs.getprop import getprop, setprop
from pytest_clawperator.simulator.android.programs.monkey import monkey
from pytest_clawperator.simulator.android.programs.network import ifconfig, ip
from pytest_clawperator.simulator.android.programs.process_tools import (
    kill,
    pgrep,
    pidof,
    pkill,
    ps,
)
from pytest_clawperator.simulator.android.programs.screencap import screencap
from pytest_clawperator.simulator.android.programs.screenrecord import screenrecord
from pytest_clawperator.simulator.android.programs.service import make_service
from pytest_clawperator.simulator.android.programs.svc import reboot, svc
from pytest_clawperator.simulator.android.programs.uiautomator import uiautomator
from pytest_clawperator.simulator.android.services.am.am import activity_service
from pytest_clawperator.simulator.android.services.appops import appops_service
from pytest_clawperator.simulator.android.services.ime import ime_service
from pytest_clawperator.simulator.android.services.input import input_service
from pytest_clawperator.simulator.android.services.locale import locale_service
from pytest_clawperator.simulator.android.services.lock_settings import lock_settings_service
from pytest_clawperator.simulator.android.services.pm.pm import package_service
from pytest_clawperator.simulator.android.services.radios import (
    bluetooth_service,
    connectivity_service,
    location_service,
    phone_service,
    wifi_service,
)
from pytest_clawperator.simulator.android.services.service_call import (
    NO_SERVICE,
    ServiceHandler,
    run_service,
)
from pytest_clawperator.simulator.android.services.settings import settings_service
from pytest_clawperator.simulator.android.services.statusbar import statusbar_service
from pytest_clawperator.simulator.android.services.uimode import uimode_service
from pytest_clawperator.simulator.android.services.wm import window_service
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Command, Invocation

SERVICES: Mapping[str, ServiceHandler] = {
    "activity": activity_service,
    "appops": appops_service,
    "bluetooth_manager": bluetooth_service,
    "connectivity": connectivity_service,
    "input": input_service,
    "input_method": ime_service,
    "locale": locale_service,
    "location": location_service,
    "lock_settings": lock_settings_service,
    "package": package_service,
    "phone": phone_service,
    "settings": settings_service,
    "statusbar": statusbar_service,
    "uimode": uimode_service,
    "wifi": wifi_service,
    "window": window_service,
}
"""The services that take commands through ``cmd``."""

# Services that came later than with the oldest phones, and those that took no commands before.
_SERVICES_SINCE = {"locale": 33}
_COMMANDS_SINCE = {"connectivity": 30}

# Commands that are a service under another name.
_FRONT_ENDS = {
    "am": "activity",
    "appops": "appops",
    "ime": "input_method",
    "input": "input",
    "locksettings": "lock_settings",
    "pm": "package",
    "settings": "settings",
    "wm": "window",
}

_PROGRAMS: Mapping[str, Callable[[AndroidSystem, Invocation], Awaitable[int]]] = {
    "bugreportz": bugreportz,
    "content": content,
    "dumpsys": dumpsys,
    "getprop": getprop,
    "ifconfig": ifconfig,
    "ip": ip,
    "kill": kill,
    "monkey": monkey,
    "pgrep": pgrep,
    "pidof": pidof,
    "pkill": pkill,
    "ps": ps,
    "reboot": reboot,
    "screencap": screencap,
    "screenrecord": screenrecord,
    "setprop": setprop,
    "svc": svc,
    "uiautomator": uiautomator,
}


COMMAND_NAMES: tuple[str, ...] = tuple(sorted([*_PROGRAMS, *_FRONT_ENDS, "cmd", "service"]))
"""What can be typed."""


def android_commands(system: AndroidSystem) -> dict[str, Command]:
    """Return Android's commands by name, bound to this system."""
    commands: dict[str, Command] = {
        name: partial(program, system) for name, program in _PROGRAMS.items()
    }
    for name, service in _FRONT_ENDS.items():
        commands[name] = partial(_front_end, system, service)
    commands["cmd"] = partial(_cmd, system)
    commands["service"] = make_service(system, {*SERVICES, *DUMPS})
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
