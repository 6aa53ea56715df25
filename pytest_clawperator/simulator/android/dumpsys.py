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
    """Print the dump of one service, or of all."""
    words = invocation.args[1:]
    names = [] if system.booting else sorted(_DUMPS)
    if words[:1] == ["-l"]:
        lines = "".join(f"  {name}\n" for name in names)
        await invocation.out(f"Currently running services:\n{lines}")
    elif not words:
        for name in names:
            await invocation.out(f"{'-' * 79}\nDUMP OF SERVICE {name}:\n")
            await invocation.out(_DUMPS[name](system, []))
    elif words[0] in names:
        await invocation.out(_DUMPS[words[0]](system, words[1:]))
    else:
        await invocation.err(f"Can't find service: {words[0]}\n")
    return 0


# -- Activities and windows ----------------------------------------------------------------------


def _object_id(text: str) -> str:
    """Return the number of a Java object, always the same for the same thing."""
    return f"{zlib.crc32(text.encode()) & 0xFFFFFFF:x}"


def _task_id(package: str) -> int:
    return int(_object_id("task " + package), 16) % 900 + 10


def _activity_record(package: str, activity: str) -> str:
    name = component(package, activity)
    return f"ActivityRecord{{{_object_id('record ' + name)} u0 {name} t{_task_id(package)}}}"


def _front(system: AndroidSystem) -> tuple[str, str]:
    """Return package and activity of what is in front."""
    return system.ui.view.foreground_package(), system.ui.view.foreground_activity()


def _focused_window(system: AndroidSystem) -> str:
    name = "/".join(_front(system))
    return f"Window{{{_object_id('window ' + name)} u0 {name}}}"


def _dump_activity(system: AndroidSystem, words: list[str]) -> str:
    """Print the open tasks and their activities, the one in front first."""
    if words[:1] not in ([], ["-a"], ["a"], ["activities"]):
        return f"Bad activity command, or no activities match: {words[0]}\nUse -h for help.\n"
    tasks = [_front(system)]
    for name in system.ui.processes.running_packages():
        found = system.packages.get(name)
        if name != tasks[0][0] and found is not None and found.activities:
            tasks.append((name, found.activities[0]))
    lines = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
    ]
    for package, activity in tasks:
        record, number = _activity_record(package, activity), _task_id(package)
        is_front = (package, activity) == tasks[0]
        lines += [
            f"  * Task{{{_object_id('task ' + package)} #{number} type=standard"
            f" A={number}:{package} U=0 visible={_flag(is_front)} mode=fullscreen sz=1}}",
            *([f"    topResumedActivity={record}"] if is_front else []),
            f"    * Hist  #0: {record}",
            f"        packageName={package} processName={package}",
            f"        mActivityComponent={component(package, activity)}",
            f"        state={'RESUMED' if is_front else 'STOPPED'}",
        ]
    front = _activity_record(*tasks[0])
    lines += ["", f"  ResumedActivity: {front}", "", f"  topResumedActivity={front}"]
    return _text([*lines, f"  mFocusedApp={front}"])


def _dump_window(system: AndroidSystem, words: list[str]) -> str:
    """Print the window policy, the displays or the windows, or all three."""
    parts = {"policy": _policy, "displays": _displays, "windows": _windows}
    if words[:1] in ([], ["-a"], ["all"]):
        return "\n".join(_text(part(system)) for part in parts.values())
    if words[0] not in parts:
        return f"Bad window command, or no windows match: {words[0]}\nUse -h for help.\n"
    return _text(parts[words[0]](system))


def _policy(system: AndroidSystem) -> list[str]:
    awake = system.display.awake
    locked = _flag(system.faults.active("locked") is not None)
    return [
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        "    mSafeMode=false mSystemReady=true mSystemBooted=true",
        f"    mAwake={_flag(awake)} mScreenOnEarly={_flag(awake)} mScreenOnFully={_flag(awake)}",
        f"    screenState={'SCREEN_STATE_ON' if awake else 'SCREEN_STATE_OFF'}",
        "    KeyguardServiceDelegate",
        f"      showing={locked}",
        f"      showingAndNotOccluded={locked}",
        f"      inputRestricted={locked}",
    ]


def _displays(system: AndroidSystem) -> list[str]:
    width, height = system.ui.display.size
    density = system.display.forced_density or system.display.density
    left, top, right, bottom = system.ui.display.insets
    bars = "statusBars" if system.build.api >= _BARS_RENAMED else "ITYPE_STATUS_BAR"
    bar_height = system.ui.view.windows()[-1].root.bounds.bottom
    return [
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        "  Display: mDisplayId=0 (organized)",
        "    init={}x{}".format(*system.display.size) + f" {density}dpi cur={width}x{height}"
        f" app={width - left - right}x{height - top - bottom}"
        f" rng={min(width, height)}x{min(width, height)}-{max(width, height)}x{max(width, height)}",
        f"    mCurrentFocus={_focused_window(system)}",
        f"    mFocusedApp={_activity_record(*_front(system))}",
        f"    mRotation={system.ui.display.rotation}"
        f" mDisplayRotation=ROTATION_{system.ui.display.rotation * 90}",
        f"      InsetsSource type={bars} frame=[0,0][{width},{bar_height}] visible=true",
    ]


def _windows(system: AndroidSystem) -> list[str]:
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    windows = system.ui.view.windows()
    kinds = {"application": "BASE_APPLICATION", "input_method": "INPUT_METHOD"}
    for number, window in enumerate(reversed(windows)):
        name = _window_name(system, window.type, window.package, active=window.active)
        package = system.packages.get(window.package)
        secure = " fl=SECURE" if is_secure(system, window.package) else ""
        lines += [
            f"  Window #{number} Window{{{_object_id('window ' + name)} u0 {name}}}:",
            f"    mDisplayId=0 rootTaskId={_task_id(window.package)}",
            f"    mOwnerUid={package.app_id if package else 1000} package={window.package}",
            f"    mAttrs={{(0,0)(fillxfill) ty={kinds.get(window.type, 'STATUS_BAR')}{secure}}}",
            "    mHasSurface=true isReadyForDisplay()=true",
            "    isOnScreen=true",
            "    isVisible=true",
        ]
    return [
        *lines,
        "",
        f"  mTopFocusedDisplayId=0 imeControlTarget in display# 0 {_focused_window(system)}",
        f"  mRotation={system.ui.display.rotation}",
    ]


def _window_name(system: AndroidSystem, kind: str, package: str, *, active: bool) -> str:
    if kind == "input_method":
        return "InputMethod"
    if kind == "system":
        return "StatusBar" if package == "com.android.systemui" else package
    if active or package == system.ui.view.foreground_package():
        return f"{package}/{system.ui.view.foreground_activity()}"
    found = system.packages.get(package)
    return f"{package}/{found.activities[0] if found and found.activities else package}"


# -- Power, battery and displays -----------------------------------------------------------------


def _dump_power(system: AndroidSystem, words: list[str]) -> str:
    """Print whether the phone is awake and charging."""
    awake = system.display.awake
    stay_on = system.settings.get("global", "stay_on_while_plugged_in") or "0"
    wakefulness, power = "mWakefulness", f"state={'ON' if awake else 'OFF'}"
    if "samsung-power" in system.quirks:
        wakefulness = "getWakefulnessLocked()"
        power = "com.android.server.power.PowerManagerService$1@5e3c2f1"
    return (
        "POWER MANAGER (dumpsys power)\n\n"
        "Power Manager State:\n"
        f"  {wakefulness}={'Awake' if awake else 'Asleep'}\n"
        "  mIsPowered=true\n"
        "  mPlugType=2\n"
        "  mBatteryLevel=85\n"
        f"  mStayOn={_flag(stay_on != '0')}\n"
        "  mBootCompleted=true\n"
        f"  mStayOnWhilePluggedInSetting={stay_on}\n"
        f"  mHoldingDisplaySuspendBlocker={_flag(awake)}\n"
        f"Display Power: {power}\n"
    )


def _dump_battery(system: AndroidSystem, words: list[str]) -> str:
    """Print the battery, which never changes."""
    return (
        "Current Battery Service state:\n"
        "  AC powered: false\n  USB powered: true\n  Wireless powered: false\n"
        "  status: 2\n  health: 2\n  present: true\n  level: 85\n  scale: 100\n"
        "  voltage: 4280\n  temperature: 271\n  technology: Li-ion\n"
    )


def _dump_display(system: AndroidSystem, words: list[str]) -> str:
    """Print the size, rotation and state of each display."""
    width, height = system.ui.display.size
    rotation = system.ui.display.rotation
    density = system.display.forced_density or system.display.density
    state = "ON" if system.display.awake else "OFF"
    shown = [_Display(0, DISPLAY_ID, (width, height), density, state, rotation, _cutout(system))]
    if len(display_ids(system)) > 1:
        shown.append(_Display(3, DARK_DISPLAY_ID, (2076, 2152), 390, "OFF"))
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mViewports=[{', '.join(each.viewport() for each in shown)}]\n"
        f"Logical Displays: size={len(shown)}\n" + "".join(each.logical() for each in shown)
    )


class _Display:
    """One display, as the display manager prints it."""

    def __init__(
        self,
        number: int,
        panel: str,
        size: tuple[int, int],
        density: int,
        state: str,
        rotation: int = 0,
        cutout: str = "",
    ) -> None:
        self._number, self._panel, self._size = number, panel, size
        self._density, self._state, self._rotation = density, state, rotation
        self._cutout = cutout

    def viewport(self) -> str:
        width, height = self._size
        frame = f"Rect(0, 0 - {width}, {height})"
        return (
            f"DisplayViewport{{type=INTERNAL, valid=true, isActive={_flag(self._number == 0)},"
            f" displayId={self._number}, uniqueId='local:{self._panel}',"
            f" orientation={self._rotation}, logicalFrame={frame}, physicalFrame={frame},"
            f" deviceWidth={width}, deviceHeight={height}}}"
        )

    def logical(self) -> str:
        width, height = self._size
        return (
            f"  Display {self._number}:\n    mScreenState={self._state}\n"
            f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId {self._number}, real'
            f" {width} x {height}, rotation {self._rotation}, density {self._density},"
            f" state {self._state}{self._cutout}}}\n"
        )


def _cutout(system: AndroidSystem) -> str:
    left, top, right, bottom = system.ui.display.insets
    if not any((left, top, right, bottom)):
        return ""
    return f", DisplayCutout{{insets=Rect({left}, {top} - {right}, {bottom}) waterfall=Insets{{}}}}"


def _dump_surface_flinger(system: AndroidSystem, words: list[str]) -> str:
    """Print the identifiers of the displays."""
    return "".join(
        f'Display {name} (HWC display {port}): port={port} pnpId=GGL displayName=""\n'
        for port, name in enumerate(display_ids(system))
    )


# -- Accessibility and toasts --------------------------------------------------------------------


def _dump_accessibility(system: AndroidSystem, words: list[str]) -> str:
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
    holder = "Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n"
    return (
        "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n"
        "currentUserId=0\n"
        "User state[\n     attributes:{id=0, touchExplorationEnabled=false}\n"
        f"     Bound services:{{{bound}}}\n"
        f"     Enabled services:{{{names}}}\n"
        "     Binding services:{}\n"
        "     Crashed services:{}]\n"
        f"{holder if automation else ''}"
    )


def _dump_notification(system: AndroidSystem, words: list[str]) -> str:
    """Print the queue of toasts; there are no notifications."""
    toast = system.ui.view.toast
    queue = [] if toast is None else ["  Toast Queue:", f"    {_toast_record(system, toast)}", "  "]
    return _text(["Current Notification Manager state:", *queue, "  Notification List:", "  "])


def _toast_record(system: AndroidSystem, toast: Toast) -> str:
    identity = _object_id(f"toast {toast.text}")
    if system.build.api < _TOAST_TEXTS_SINCE:
        proxy = f"android.app.ITransientNotification$Stub$Proxy@{identity}"
        return f"ToastRecord{{{identity} pkg={toast.package} callback={proxy} duration=1"
    package = system.packages.get(toast.package)
    user = "1000" if package is None else package.user.replace("_", "")
    owner = f"{system.processes.pid_of(toast.package) or 0}:{toast.package}/{user}"
    token = f"android.os.BinderProxy@{identity}"
    return (
        f"TextToastRecord{{{identity} {owner} isSystemToast=false token={token}"
        f" text={toast.text} duration=1}}"
    )


# -- Packages ------------------------------------------------------------------------------------


def _dump_package(system: AndroidSystem, words: list[str]) -> str:
    """Print one package, or all of them."""
    shown = system.packages.all()
    if words:
        shown = [package for package in shown if package.name == words[0]]
    if not shown:
        return f"Unable to find package: {words[0]}\n"
    return _text(["Packages:", *(line for each in shown for line in _package(system, each))])


def _package(system: AndroidSystem, package: Package) -> list[str]:
    version = package.version_name
    other = system.faults.active("operator_version")
    if other is not None and package.name in OPERATOR_PACKAGES:
        version = other.options["version"]
    app_id = "appId" if system.build.api >= _APP_ID_SINCE else "userId"
    flags = f"{'SYSTEM ' if package.system else ''}HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP"
    signature = _object_id("signatures " + package.name)
    fixed = [name for name in package.requested if name not in RUNTIME_PERMISSIONS]
    return [
        f"  Package [{package.name}] ({_object_id(package.name)}):",
        f"    {app_id}={package.app_id}",
        f"    pkg=Package{{{_object_id('pkg ' + package.name)} {package.name}}}",
        f"    codePath={package.code_path}",
        f"    resourcePath={package.code_path}",
        f"    versionCode={package.version_code} minSdk={package.min_sdk}"
        f" targetSdk={package.target_sdk}",
        f"    versionName={version}",
        f"    flags=[ {flags} ]",
        f"    timeStamp={_date(package.updated_at)}",
        f"    lastUpdateTime={_date(package.updated_at)}",
        f"    installerPackageName={package.installer or 'null'}",
        f"    signatures=PackageSignatures{{{signature} version:2,"
        f" signatures:[{package.signature}], past signatures:[]}}",
        f"    pkgFlags=[ {flags} ]",
        "    requested permissions:",
        *(f"      {name}" for name in package.requested),
        "    install permissions:",
        *(f"      {name}: granted=true" for name in fixed),
        *_user_states(system, package),
    ]


def _user_states(system: AndroidSystem, package: Package) -> list[str]:
    """Print for which users a package is installed, and what it may do there."""
    lines, user = [], 0
    if "multi-user" in system.quirks:
        user = 10
        lines.append(
            "    User 0: ceDataInode=0 deDataInode=0 installed=false hidden=false suspended=false"
            " stopped=true notLaunched=true enabled=0"
        )
    stopped = _flag(package.stopped)
    held = system.ui.permissions.granted(package.name)
    return [
        *lines,
        f"    User {user}: ceDataInode={4096 + package.app_id} deDataInode={8192 + package.app_id}"
        f" installed=true hidden=false suspended=false stopped={stopped} notLaunched={stopped}"
        " enabled=0 instant=false virtual=false",
        f"      dataDir=/data/user/{user}/{package.name}",
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


_DUMPS: Mapping[str, Callable[[AndroidSystem, list[str]], str]] = {
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
