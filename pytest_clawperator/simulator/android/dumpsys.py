"""``dumpsys``: what Android's services print about themselves."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.packages import (
    OPERATOR_PACKAGES,
    RUNTIME_PERMISSIONS,
    Package,
    component,
)
from pytest_clawperator.simulator.android.screen_capture import (
    DARK_DISPLAY_ID,
    DISPLAY_ID,
    display_ids,
    is_secure,
)
from pytest_clawperator.simulator.android.settings_store import (
    enabled_accessibility_services,
    is_accessibility_on,
)
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.screen.phone_state import Toast
from pytest_clawperator.simulator.shell.shell import Invocation

# Since this API level the system itself shows toasts of text, and so knows the text.
_TOAST_TEXTS_SINCE = 30
# Before this one, the id of an app was printed as that of a user.
_APP_ID_SINCE = 33
# Since this one, the bars have the names of the public interface.
_BARS_RENAMED = 34


async def dumpsys(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the dump of one service."""
    name, *words = [*invocation.args[1:], ""]
    if name in _DUMPS and not system.booting:
        await invocation.out(_text(_DUMPS[name](system, words[0] if words else "")))
    else:
        await invocation.err(f"Can't find service: {name}\n")
    return 0


# -- Activities and windows ----------------------------------------------------------------------


def _object_id(text: str) -> str:
    """Return the number of a Java object, always the same for the same thing."""
    return f"{zlib.crc32(text.encode()) & 0xFFFFFFF:x}"


def _activity_record(package: str, activity: str) -> str:
    name = component(package, activity)
    return f"ActivityRecord{{{_object_id('record ' + name)} u0 {name} t12}}"


def _front(system: AndroidSystem) -> tuple[str, str]:
    """Return package and activity of what is in front."""
    return system.ui.view.foreground_package(), system.ui.view.foreground_activity()


def _focused_window(system: AndroidSystem) -> str:
    name = "/".join(_front(system))
    return f"Window{{{_object_id('window ' + name)} u0 {name}}}"


def _dump_activity(system: AndroidSystem, part: str) -> list[str]:
    """Print the activity in front."""
    record = _activity_record(*_front(system))
    return [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
        f"    * Hist  #0: {record}",
        f"  ResumedActivity: {record}",
        f"  topResumedActivity={record}",
        f"  mFocusedApp={record}",
    ]


def _dump_window(system: AndroidSystem, part: str) -> list[str]:
    """Print the window policy, the displays or the windows, or all three."""
    parts = {"policy": _policy, "displays": _displays, "windows": _windows}
    chosen = [parts[part]] if part in parts else list(parts.values())
    return [line for print_part in chosen for line in print_part(system)]


def _policy(system: AndroidSystem) -> list[str]:
    awake = system.display.awake
    locked = _flag(system.faults.active("locked") is not None)
    return [
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        f"    mAwake={_flag(awake)} mScreenOnEarly={_flag(awake)} mScreenOnFully={_flag(awake)}",
        f"    screenState={'SCREEN_STATE_ON' if awake else 'SCREEN_STATE_OFF'}",
        "    KeyguardServiceDelegate",
        f"      showing={locked}",
    ]


def _displays(system: AndroidSystem) -> list[str]:
    width, height = system.ui.display.size
    bars = "statusBars" if system.build.api >= _BARS_RENAMED else "ITYPE_STATUS_BAR"
    bar_height = system.ui.view.windows()[-1].root.bounds.bottom
    return [
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        "  Display: mDisplayId=0 (organized)",
        "    init={}x{}".format(*system.display.size) + f" cur={width}x{height}",
        f"    mCurrentFocus={_focused_window(system)}",
        f"    mFocusedApp={_activity_record(*_front(system))}",
        f"    mRotation={system.ui.display.rotation}",
        f"      InsetsSource type={bars} frame=[0,0][{width},{bar_height}] visible=true",
    ]


def _windows(system: AndroidSystem) -> list[str]:
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    for number, window in enumerate(reversed(system.ui.view.windows())):
        name = window.package
        if window.active or name == system.ui.view.foreground_package():
            name = f"{name}/{system.ui.view.foreground_activity()}"
        secure = " fl=SECURE" if is_secure(system, window.package) else ""
        lines += [
            f"  Window #{number} Window{{{_object_id('window ' + name)} u0 {name}}}:",
            f"    mDisplayId=0 package={window.package}",
            f"    mAttrs={{(0,0)(fillxfill) ty={window.type.upper()}{secure}}}",
        ]
    return [*lines, f"  mCurrentFocus={_focused_window(system)}", "  mTopFocusedDisplayId=0"]


# -- Power, battery and displays -----------------------------------------------------------------


def _dump_power(system: AndroidSystem, part: str) -> list[str]:
    """Print whether the phone is awake and charging."""
    awake = system.display.awake
    stay_on = system.settings.get("global", "stay_on_while_plugged_in") or "0"
    wakefulness, power = "mWakefulness", f"state={'ON' if awake else 'OFF'}"
    if "samsung-power" in system.quirks:
        wakefulness = "getWakefulnessLocked()"
        power = "com.android.server.power.PowerManagerService$1@5e3c2f1"
    return [
        "POWER MANAGER (dumpsys power)",
        "Power Manager State:",
        f"  {wakefulness}={'Awake' if awake else 'Asleep'}",
        "  mIsPowered=true",
        f"  mStayOn={_flag(stay_on != '0')}",
        f"  mHoldingDisplaySuspendBlocker={_flag(awake)}",
        f"Display Power: {power}",
    ]


def _dump_battery(system: AndroidSystem, part: str) -> list[str]:
    """Print the battery, which never changes."""
    return [
        "Current Battery Service state:",
        *("  AC powered: false", "  USB powered: true", "  Wireless powered: false"),
        *("  status: 2", "  health: 2", "  present: true", "  level: 85", "  scale: 100"),
        *("  voltage: 4280", "  temperature: 271", "  technology: Li-ion"),
    ]


def _dump_display(system: AndroidSystem, part: str) -> list[str]:
    """Print the size, rotation and state of each display."""
    display = system.display
    density = display.forced_density or display.density
    state = "ON" if display.awake else "OFF"
    shown = [(0, DISPLAY_ID, system.ui.display.size, density, state, _cutout(system))]
    if len(display_ids(system)) > 1:
        shown.append((3, DARK_DISPLAY_ID, (2076, 2152), 390, "OFF", ""))
    viewports, logical = [], []
    for number, panel, (width, height), dots, lit, cutout in shown:
        rotation = 0 if number else system.ui.display.rotation
        viewports.append(
            f"DisplayViewport{{type=INTERNAL, valid=true, isActive={_flag(number == 0)},"
            f" displayId={number}, uniqueId='local:{panel}', orientation={rotation},"
            f" deviceWidth={width}, deviceHeight={height}}}"
        )
        logical += [
            f"  Display {number}:",
            f"    mScreenState={lit}",
            f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId {number}, real'
            f" {width} x {height}, rotation {rotation}, density {dots}, state {lit}{cutout}}}",
        ]
    return [
        "DISPLAY MANAGER (dumpsys display)",
        f"  mViewports=[{', '.join(viewports)}]",
        f"Logical Displays: size={len(shown)}",
        *logical,
    ]


def _cutout(system: AndroidSystem) -> str:
    left, top, right, bottom = system.ui.display.insets
    if not any((left, top, right, bottom)):
        return ""
    return f", DisplayCutout{{insets=Rect({left}, {top} - {right}, {bottom}) waterfall=Insets{{}}}}"


def _dump_surface_flinger(system: AndroidSystem, part: str) -> list[str]:
    """Print the identifiers of the displays."""
    return [
        f'Display {name} (HWC display {port}): port={port} pnpId=GGL displayName=""'
        for port, name in enumerate(display_ids(system))
    ]


# -- Accessibility and toasts --------------------------------------------------------------------


def _dump_accessibility(system: AndroidSystem, part: str) -> list[str]:
    """Print the accessibility services that are enabled and bound."""
    enabled = enabled_accessibility_services(system.settings)
    automation = system.faults.active("ui_automation") is not None
    may_bind = (
        is_accessibility_on(system.settings)
        and system.faults.active("service_off") is None
        and not automation
    )
    bound = ", ".join(
        f"Service[label=Clawperator Operator, {name}]"
        for name in enabled
        if may_bind and system.operators.pid_of(name.partition("/")[0]) is not None
    )
    names = ", ".join(f"{{{name}}}" for name in enabled)
    holder = ["Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]"]
    return [
        "ACCESSIBILITY MANAGER (dumpsys accessibility)",
        "User state[",
        f"     Bound services:{{{bound}}}",
        f"     Enabled services:{{{names}}}",
        "     Crashed services:{}]",
        *(holder if automation else []),
    ]


def _dump_notification(system: AndroidSystem, part: str) -> list[str]:
    """Print the queue of toasts; there are no notifications."""
    toast = system.ui.view.toast
    queue = [] if toast is None else ["  Toast Queue:", f"    {_toast_record(system, toast)}"]
    return ["Current Notification Manager state:", *queue, "  Notification List:"]


def _toast_record(system: AndroidSystem, toast: Toast) -> str:
    identity = _object_id(f"toast {toast.text}")
    if system.build.api < _TOAST_TEXTS_SINCE:
        return f"ToastRecord{{{identity} pkg={toast.package} duration=1"
    owner = f"{system.processes.pid_of(toast.package) or 0}:{toast.package}/u0"
    return f"TextToastRecord{{{identity} {owner} isSystemToast=false text={toast.text} duration=1}}"


# -- Packages ------------------------------------------------------------------------------------


def _dump_package(system: AndroidSystem, name: str) -> list[str]:
    """Print one package, or all of them."""
    shown = [package for package in system.packages.all() if name in ("", package.name)]
    if not shown:
        return [f"Unable to find package: {name}"]
    return ["Packages:", *(line for each in shown for line in _package(system, each))]


def _package(system: AndroidSystem, package: Package) -> list[str]:
    version = package.version_name
    other = system.faults.active("operator_version")
    if other is not None and package.name in OPERATOR_PACKAGES:
        version = other.options["version"]
    app_id = "appId" if system.build.api >= _APP_ID_SINCE else "userId"
    flags = f"{'SYSTEM ' if package.system else ''}HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP"
    return [
        f"  Package [{package.name}] ({_object_id(package.name)}):",
        f"    {app_id}={package.app_id}",
        f"    codePath={package.code_path}",
        f"    versionCode={package.version_code} minSdk={package.min_sdk}"
        f" targetSdk={package.target_sdk}",
        f"    versionName={version}",
        f"    lastUpdateTime={_date(package.updated_at)}",
        f"    signatures=PackageSignatures{{1 version:2, signatures:[{package.signature}]}}",
        f"    pkgFlags=[ {flags} ]",
        "    install permissions:",
        *(
            f"      {name}: granted=true"
            for name in package.requested
            if name not in RUNTIME_PERMISSIONS
        ),
        *_user_states(system, package),
    ]


def _user_states(system: AndroidSystem, package: Package) -> list[str]:
    """Print for which users a package is installed, and what it may do there."""
    user = 10 if "multi-user" in system.quirks else 0
    absent = ["    User 0: installed=false hidden=false stopped=true enabled=0"] if user else []
    held = system.ui.permissions.granted(package.name)
    return [
        *absent,
        f"    User {user}: installed=true hidden=false stopped={_flag(package.stopped)} enabled=0",
        f"      firstInstallTime={_date(package.installed_at)}",
        "      runtime permissions:",
        *(
            f"        {name}: granted={_flag(name in held)}, flags=[ USER_SET ]"
            for name in package.requested
            if name in RUNTIME_PERMISSIONS
        ),
    ]


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))


def _flag(value: bool) -> str:
    return str(value).lower()


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


# Each takes the part that is asked for, which is empty for all.
_DUMPS: Mapping[str, Callable[[AndroidSystem, str], list[str]]] = {
    "SurfaceFlinger": _dump_surface_flinger,
    "accessibility": _dump_accessibility,
    "activity": _dump_activity,
    "battery": _dump_battery,
    "display": _dump_display,
    "notification": _dump_notification,
    "package": _dump_package,
    "power": _dump_power,
    "window": _dump_window,
}
