"""``dumpsys battery``, ``power``, ``display`` and ``SurfaceFlinger``."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state.system_packages import LAUNCHER
from pytest_clawperator.simulator.android.system import AndroidSystem

_DISPLAY_ID = "4619827259835644672"
# Of a foldable: the panel on the other side, which hosts are told of first.
DARK_DISPLAY_ID = "4619827677550801152"
_WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the"
    " first display found, however this default is not guaranteed to be consistent across"
    " captures. A display id should be specified.\n"
    "A display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n'
)
# Apps of the system, which forbid no pictures.
_PICTURED = frozenset({LAUNCHER, "com.android.settings", "com.android.systemui"})
_BATTERY = """Current Battery Service state:
  AC powered: false
  USB powered: true
  Wireless powered: false
  Dock powered: false
  Max charging current: 500000
  Max charging voltage: 5000000
  Charge counter: 3825000
  status: 2
  health: 2
  present: true
  level: 85
  scale: 100
  voltage: 4280
  temperature: 271
  technology: Li-ion
  Charging state: 0
  Charging policy: 1
"""


def dump_battery(system: AndroidSystem, words: list[str]) -> str:
    """Print the battery, which never changes."""
    return _BATTERY


def dump_power(system: AndroidSystem, words: list[str]) -> str:
    """Print whether the phone is awake and charging."""
    awake = system.display.awake
    stay_on = system.settings.get("global", "stay_on_while_plugged_in") or "0"
    return (
        "POWER MANAGER (dumpsys power)\n\n"
        "Power Manager State:\n"
        "  mDirty=0x0\n"
        f"  {_wakefulness(system)}={'Awake' if awake else 'Asleep'}\n"
        "  mWakefulnessChanging=false\n"
        "  mIsPowered=true\n"
        "  mPlugType=2\n"
        "  mBatteryLevel=85\n"
        f"  mStayOn={str(stay_on != '0').lower()}\n"
        "  mBootCompleted=true\n"
        f"  mStayOnWhilePluggedInSetting={stay_on}\n"
        f"  mHoldingWakeLockSuspendBlocker=false\n"
        f"  mHoldingDisplaySuspendBlocker={str(awake).lower()}\n"
        f"{_display_power(system)}\n"
    )


def _wakefulness(system: AndroidSystem) -> str:
    return "getWakefulnessLocked()" if _is_samsung(system) else "mWakefulness"


def _display_power(system: AndroidSystem) -> str:
    if _is_samsung(system):
        return "Display Power: com.android.server.power.PowerManagerService$1@5e3c2f1"
    return f"Display Power: state={'ON' if system.display.awake else 'OFF'}"


def _is_samsung(system: AndroidSystem) -> bool:
    return "samsung-power" in system.quirks


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
        f" deviceWidth={width}, deviceHeight={height}}}{_dark_viewport(system)}]\n"
        f"Display Devices: size={1 + has_two_displays(system)}\n"
        f'  DisplayDeviceInfo{{"Built-in Screen": uniqueId="local:{_DISPLAY_ID}", {panel},'
        f" density {system.display.density}, state {state}}}\n"
        f"{_dark_panel(system)}"
        f"Logical Displays: size={1 + has_two_displays(system)}\n"
        "  Display 0:\n"
        f"    mScreenState={state}\n"
        f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {width} x'
        f" {height}, rotation {rotation}, density {density}, state {state}{_cutout(system)}}}\n"
        f"{_dark_logical(system)}"
    )


def _cutout(system: AndroidSystem) -> str:
    left, top, right, bottom = system.ui.display.insets
    if not any((left, top, right, bottom)):
        return ""
    return f", DisplayCutout{{insets=Rect({left}, {top} - {right}, {bottom}) waterfall=Insets{{}}}}"


def has_two_displays(system: AndroidSystem) -> bool:
    """Whether the phone is a foldable, one of whose displays is dark."""
    return "two-displays" in system.quirks


def panels(system: AndroidSystem) -> list[str]:
    """Return the ids of the displays that can be photographed, in the order of their ports."""
    return [DARK_DISPLAY_ID, _DISPLAY_ID] if has_two_displays(system) else [_DISPLAY_ID]


def screencap_warning(system: AndroidSystem, display: str | None) -> str:
    """Return what screencap says to somebody who does not choose among several displays."""
    return _WARNING if has_two_displays(system) and display is None else ""


def is_dark(system: AndroidSystem, display: str | None) -> bool:
    """Whether a picture of this display, or of the first one, shows nothing."""
    other = has_two_displays(system) and display in (None, DARK_DISPLAY_ID)
    return other or is_secure(system, system.ui.view.foreground_package())


def is_secure(system: AndroidSystem, package: str) -> bool:
    """Whether an app forbids pictures of its windows."""
    return "secure-screen" in system.quirks and package not in _PICTURED


def _dark_viewport(system: AndroidSystem) -> str:
    if not has_two_displays(system):
        return ""
    return (
        ", DisplayViewport{type=INTERNAL, valid=true, isActive=false, displayId=3,"
        f" uniqueId='local:{DARK_DISPLAY_ID}', physicalPort=1, orientation=0,"
        " logicalFrame=Rect(0, 0 - 2076, 2152), physicalFrame=Rect(0, 0 - 2076, 2152),"
        " deviceWidth=2076, deviceHeight=2152}"
    )


def _dark_panel(system: AndroidSystem) -> str:
    if not has_two_displays(system):
        return ""
    name = f'"Built-in Screen": uniqueId="local:{DARK_DISPLAY_ID}"'
    return f"  DisplayDeviceInfo{{{name}, 2076 x 2152, density 390, state OFF}}\n"


def _dark_logical(system: AndroidSystem) -> str:
    if not has_two_displays(system):
        return ""
    return (
        "  Display 3:\n    mScreenState=OFF\n"
        '    mBaseDisplayInfo=DisplayInfo{"Built-in Screen", displayId 3, real 2076 x 2152,'
        " rotation 0, density 390, state OFF}\n"
    )


def dump_surface_flinger(system: AndroidSystem, words: list[str]) -> str:
    """Print the display's identifier."""
    return "".join(
        f'Display {name} (HWC display {port}): port={port} pnpId=GGL displayName=""\n'
        for port, name in enumerate(panels(system))
    )
