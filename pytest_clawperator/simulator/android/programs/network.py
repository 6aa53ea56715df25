"""``ifconfig`` and ``ip``: the network interfaces."""

from __future__ import annotations

import zlib

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation


def wlan_address(serial: str) -> str:
    """Return the phone's address in its wireless network, which nothing listens on."""
    return f"192.168.{zlib.crc32(serial.encode()) % 200 + 20}.15"


def _online(system: AndroidSystem) -> bool:
    settings = system.settings
    return settings.get("global", "wifi_on") == "1"


async def ifconfig(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the network interfaces."""
    wanted = [word for word in invocation.args[1:] if not word.startswith("-")][:1]
    address = wlan_address(system.build.serial)
    interfaces = {"lo": _interface("lo", "Local Loopback", "127.0.0.1", "255.0.0.0")}
    if _online(system):
        interfaces["wlan0"] = _interface("wlan0", "Ethernet", address, "255.255.255.0")
    if wanted and wanted[0] not in interfaces:
        await invocation.err(f"ifconfig: {wanted[0]}: No such device\n")
        return 1
    for name, text in sorted(interfaces.items()):
        if not wanted or name == wanted[0]:
            await invocation.out(text)
    return 0


def _interface(name: str, kind: str, address: str, mask: str) -> str:
    flags = "UP LOOPBACK RUNNING" if name == "lo" else "UP BROADCAST RUNNING MULTICAST"
    return (
        f"{name:<10}Link encap:{kind}\n"
        f"          inet addr:{address}  Mask:{mask}\n"
        f"          {flags}  MTU:1500  Metric:1\n\n"
    )


async def ip(system: AndroidSystem, invocation: Invocation) -> int:
    """Print addresses or routes."""
    words = [word for word in invocation.args[1:] if not word.startswith("-")]
    address = wlan_address(system.build.serial)
    network = address.rpartition(".")[0]
    if words[:1] and "route".startswith(words[0]):
        if _online(system):
            await invocation.out(
                f"{network}.0/24 dev wlan0 proto kernel scope link src {address}\n"
            )
        return 0
    if not words or not "address".startswith(words[0]):
        await invocation.err("Usage: ip [ address | route ] [ show [ dev ] NAME ]\n")
        return 255
    name = words[-1] if words[-1] not in (words[0], "show", "dev") else ""
    if name not in ("", "lo", "wlan0") or (name == "wlan0" and not _online(system)):
        await invocation.err(f'Device "{name}" does not exist.\n')
        return 1
    if name in ("", "lo"):
        await invocation.out(
            "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 state UNKNOWN\n"
            "    inet 127.0.0.1/8 scope host lo\n"
        )
    if name in ("", "wlan0") and _online(system):
        await invocation.out(
            "21: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP\n"
            f"    inet {address}/24 brd {network}.255 scope global wlan0\n"
        )
    return 0
