"""``svc`` and ``reboot``: radios and power."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

_RADIOS = {"bluetooth": "bluetooth_on", "data": "mobile_data", "nfc": "nfc_on", "wifi": "wifi_on"}

_STAY_ON = {"true": "15", "false": "0", "ac": "1", "usb": "2", "wireless": "4", "dock": "8"}

_USAGE = """Available commands:
    help     Show information about the subcommands
    bluetooth Control Bluetooth service
    data     Control mobile data connectivity
    nfc      Control NFC functions
    power    Control the power manager
    wifi     Control the Wi-Fi manager
"""


async def svc(system: AndroidSystem, invocation: Invocation) -> int:
    """Switch a radio, or change how the phone stays awake."""
    words = invocation.args[1:]
    if system.booting:
        await invocation.err("Error: the system is not running\n")
        return 1
    if len(words) >= 2 and words[0] in _RADIOS and words[1] in ("enable", "disable"):
        system.settings.put("global", _RADIOS[words[0]], str(int(words[1] == "enable")))
        return 0
    if words[:2] == ["power", "stayon"] and len(words) == 3 and words[2] in _STAY_ON:
        system.settings.put("global", "stay_on_while_plugged_in", _STAY_ON[words[2]])
        if words[2] != "false":
            system.display.awake = True
        return 0
    if words[:2] == ["power", "reboot"]:
        return await reboot(system, invocation)
    await invocation.err(_help(words))
    return 0 if not words or words[0] == "help" else 1


def _help(words: list[str]) -> str:
    if words and words[0] in _RADIOS:
        name = words[0]
        return f"usage: svc {name} [enable|disable]\n         Turn {name} on or off.\n\n"
    if words and words[0] == "power":
        return (
            f"usage: svc power stayon [{'|'.join(_STAY_ON)}]\n       svc power reboot [reason]\n\n"
        )
    return _USAGE


async def reboot(system: AndroidSystem, invocation: Invocation) -> int:
    """Restart the phone, and wait for the end that this is for the shell, too."""
    system.reboot()
    await asyncio.Event().wait()
    return 0  # never reached
