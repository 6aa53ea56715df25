"""``dumpsys battery``, ``power``, ``display`` and ``SurfaceFlinger``."""

from __future__ import annotations

from pytest_clawperator.simulator.android.java import JavaException, java_int
from pytest_clawperator.simulator.android.state.hardware import Battery
from pytest_clawperator.simulator.android.system import AndroidSystem

_DISPLAY_ID = "4619827259835644672"
_BATTERY_SWITCHES = ("ac", "usb", "wireless", "dock", "present")

_BATTERY_NUMBERS = {"level": "level", "status": "status", "temp": "temperature"}


def dump_battery(system: AndroidSystem, words: list[str]) -> str:
    """Print the battery, or change what it reports: ``set``, ``unplug``, ``reset``."""
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
    except JavaException:
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


def dump_power(system: AndroidSystem, words: list[str]) -> str:
    """Print whether the phone is awake and charging."""
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


def dump_display(system: AndroidSystem, words: list[str]) -> str:
    """Print the size, rotation and state of the display."""
    width, height = system.ui.display.size
    panel = "{} x {}".format(*system.display.size)
    rotation = system.ui.display.rotation
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


def dump_surface_flinger(system: AndroidSystem, words: list[str]) -> str:
    """Print the display's identifier."""
    return f'Display {_DISPLAY_ID} (HWC display 0): port=0 pnpId=GGL displayName=""\n'
