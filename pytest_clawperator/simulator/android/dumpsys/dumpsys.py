"""``dumpsys``: what the services tell about themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.android.dumpsys.package import package_dump
from pytest_clawperator.simulator.android.dumpsys.window import dump_activity, dump_window
from pytest_clawperator.simulator.android.services.service_call import JavaError, java_int
from pytest_clawperator.simulator.android.system import AndroidSystem, Battery

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation

_DISPLAY_ID = "4619827259835644672"
_BATTERY_SWITCHES = ("ac", "usb", "wireless", "dock", "present")
_BATTERY_NUMBERS = {"level": "level", "status": "status", "temp": "temperature"}


def _package(system: AndroidSystem, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if names[:1] in (["packages"], ["package"]):
        names = names[1:]
    return package_dump(system, names[0] if names else None)


def _battery(system: AndroidSystem, words: list[str]) -> str:
    battery = system.battery
    if not words or words == ["-a"]:
        return _battery_state(battery)
    words = [word for word in words if word != "-f"]
    if words == ["unplug"]:
        battery.ac = battery.usb = battery.wireless = battery.dock = False
        battery.forced = True
        return ""
    if words == ["reset"]:
        system.battery = Battery()
        return ""
    if len(words) == 3 and words[0] == "set":
        return _set_battery(battery, words[1], words[2])
    return (
        f"Unknown command: {' '.join(words)}\n"
        "Battery service (battery) commands:\n"
        "  set [-f] [ac|usb|wireless|dock|status|level|temp|present] <value>\n"
        "  unplug [-f]\n  reset [-f]\n"
    )


def _set_battery(battery: Battery, key: str, value: str) -> str:
    try:
        number = java_int(value)
    except JavaError:
        return f"Bad value: {value}\n"
    if key in _BATTERY_SWITCHES:
        setattr(battery, key, number != 0)
    elif key in _BATTERY_NUMBERS:
        setattr(battery, _BATTERY_NUMBERS[key], number)
    else:
        return f"Unknown set option: {key}\n"
    battery.forced = True
    return ""


def _battery_state(battery: Battery) -> str:
    updates = "  (UPDATES STOPPED -- use 'reset' to restart)\n" if battery.forced else ""
    values = {
        "AC powered": battery.ac,
        "USB powered": battery.usb,
        "Wireless powered": battery.wireless,
        "Dock powered": battery.dock,
        "Max charging current": 500000 if battery.powered else 0,
        "Max charging voltage": 5000000 if battery.powered else 0,
        "Charge counter": battery.level * 45000,
        "status": battery.status,
        "health": 2,
        "present": battery.present,
        "level": battery.level,
        "scale": 100,
        "voltage": 3600 + 8 * battery.level,
        "temperature": battery.temperature,
        "technology": "Li-ion",
        "Charging state": 0,
        "Charging policy": 1,
    }
    lines = (
        f"  {name}: {str(value).lower() if isinstance(value, bool) else value}\n"
        for name, value in values.items()
    )
    return f"Current Battery Service state:\n{updates}{''.join(lines)}"


def _power(system: AndroidSystem, words: list[str]) -> str:
    awake = system.display.awake
    stay_on = system.settings.get("global", "stay_on_while_plugged_in") or "0"
    return (
        "POWER MANAGER (dumpsys power)\n\n"
        "Power Manager State:\n"
        "  mDirty=0x0\n"
        f"  mWakefulness={'Awake' if awake else 'Asleep'}\n"
        "  mWakefulnessChanging=false\n"
        f"  mIsPowered={str(system.battery.powered).lower()}\n"
        f"  mPlugType={2 if system.battery.usb else int(system.battery.ac)}\n"
        f"  mBatteryLevel={system.battery.level}\n"
        f"  mStayOn={str(stay_on != '0' and system.battery.powered).lower()}\n"
        "  mBootCompleted=true\n"
        f"  mStayOnWhilePluggedInSetting={stay_on}\n"
        f"  mHoldingWakeLockSuspendBlocker=false\n"
        f"  mHoldingDisplaySuspendBlocker={str(awake).lower()}\n"
        f"Display Power: state={'ON' if awake else 'OFF'}\n"
    )


def _display(system: AndroidSystem, words: list[str]) -> str:
    width, height = system.ui.size
    panel = "{} x {}".format(*system.display.size)
    rotation = system.ui.rotation
    density = system.display.forced_density or system.display.density
    state = "ON" if system.display.awake else "OFF"
    frame = f"Rect(0, 0 - {width}, {height})"
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        "  mSafeMode=false\n"
        "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0,"
        f" uniqueId='local:{_DISPLAY_ID}', physicalPort=0, orientation={rotation},"
        f" logicalFrame={frame}, physicalFrame={frame},"
        f" deviceWidth={width}, deviceHeight={height}}}]\n"
        "Display Devices: size=1\n"
        f'  DisplayDeviceInfo{{"Built-in Screen": uniqueId="local:{_DISPLAY_ID}", {panel},'
        f" density {system.display.density}, state {state}}}\n"
        "Logical Displays: size=1\n"
        "  Display 0:\n"
        f"    mScreenState={state}\n"
        f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {width} x'
        f" {height}, rotation {rotation}, density {density}, state {state}}}\n"
    )


def _input_method(system: AndroidSystem, words: list[str]) -> str:
    shown = str(system.ui.keyboard_shown).lower()
    current = system.settings.get("secure", "default_input_method") or "null"
    return (
        "Current Input Method Manager state:\n"
        "  Client state for user 0:\n"
        f"  mCurMethodId={current}\n"
        "  mCurSeq=1 mCurPerceptible=true\n"
        f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false"
        f" mInputShown={shown}\n"
        f"  mInputShown={shown}\n"
        f"  mIsInputViewShown={shown}\n"
        f"  mCurId={current} mHaveConnection=true\n"
    )


def _accessibility(system: AndroidSystem, words: list[str]) -> str:
    on = system.settings.get("secure", "accessibility_enabled") == "1"
    listed = (system.settings.get("secure", "enabled_accessibility_services") or "").split(":")
    enabled = [name for name in listed if name]
    bound = [
        name
        for name in enabled
        if on
        and system.operators.pid_of(name.partition("/")[0]) is not None
        and system.faults.active("service_off") is None
    ]
    services = ", ".join(f"Service[label=Clawperator Operator, {name}]" for name in bound)
    names = ", ".join(f"{{{name}}}" for name in enabled)
    return (
        "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n"
        f"currentUserId=0\n"
        f"User state[\n     attributes:{{id=0, touchExplorationEnabled=false}}\n"
        f"     Bound services:{{{services}}}\n"
        f"     Enabled services:{{{names}}}\n"
        "     Binding services:{}\n"
        "     Crashed services:{}]\n"
    )


def _surface_flinger(system: AndroidSystem, words: list[str]) -> str:
    return f'Display {_DISPLAY_ID} (HWC display 0): port=0 pnpId=GGL displayName=""\n'


Dump = Callable[[AndroidSystem, "list[str]"], str]

DUMPS: Mapping[str, Dump] = {
    "SurfaceFlinger": _surface_flinger,
    "accessibility": _accessibility,
    "activity": dump_activity,
    "battery": _battery,
    "display": _display,
    "input_method": _input_method,
    "package": _package,
    "power": _power,
    "window": dump_window,
}
"""The services that tell about themselves."""


async def dumpsys(system: AndroidSystem, invocation: Invocation) -> int:
    """Have a service tell about itself."""
    words = invocation.args[1:]
    if words[:1] in (["-t"], ["-T"], ["--priority"]):
        words = words[2:]
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
