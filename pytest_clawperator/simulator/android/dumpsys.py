"""``dumpsys``: what Android's services print about themselves."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Collection, Mapping

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.packages import (
    LAUNCHER,
    OPERATOR_PACKAGES,
    RUNTIME_PERMISSIONS,
    Package,
    component,
)
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.screen.state.phone_state import Toast
from pytest_clawperator.simulator.shell.shell import Invocation

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


def dump_accessibility(system: AndroidSystem, words: list[str]) -> str:
    """Print the accessibility services that are enabled and bound."""
    on = settings_store.is_accessibility_on(system.settings)
    enabled = settings_store.enabled_accessibility_services(system.settings)
    bound = [
        name
        for name in enabled
        if on
        and system.operators.pid_of(name.partition("/")[0]) is not None
        and system.faults.active("service_off") is None
        and system.faults.active("ui_automation") is None
    ]
    holder = "Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n"
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
        f"{holder if system.faults.active('ui_automation') else ''}"
    )


def object_id(text: str) -> str:
    """Return the number of a Java object, always the same for the same thing."""
    return f"{zlib.crc32(text.encode()) & 0xFFFFFFF:x}"


def focused_window(system: AndroidSystem) -> str:
    """Return the record of the focused window."""
    package, activity = system.ui.view.foreground_package(), system.ui.view.foreground_activity()
    name = f"{package}/{activity}"
    return f"Window{{{object_id('window ' + name)} u0 {name}}}"


def activity_record(package: str, activity: str) -> str:
    """Return an activity's record."""
    name = component(package, activity)
    return f"ActivityRecord{{{object_id('record ' + name)} u0 {name} t{task_id(package)}}}"


def task_id(package: str) -> int:
    """Return the number of a package's task."""
    return int(object_id("task " + package), 16) % 900 + 10


def front_activity(system: AndroidSystem) -> str:
    """Return the record of the activity in front."""
    return activity_record(
        system.ui.view.foreground_package(), system.ui.view.foreground_activity()
    )


def dump_activity(system: AndroidSystem, words: list[str]) -> str:
    """Print the open tasks and their activities, the one in front first."""
    if words[:1] not in ([], ["-a"], ["a"], ["activities"]):
        return f"Bad activity command, or no activities match: {words[0]}\nUse -h for help.\n"
    return "\n".join(_activities(system)) + "\n"


def _tasks(system: AndroidSystem) -> list[tuple[str, str]]:
    """Return package and activity of every open task, the one in front first."""
    front = (system.ui.view.foreground_package(), system.ui.view.foreground_activity())
    tasks = [front]
    for name in system.ui.processes.running_packages():
        package = system.packages.get(name)
        if name != front[0] and package is not None and package.activities:
            tasks.append((name, package.activities[0]))
    return tasks


def _activities(system: AndroidSystem) -> list[str]:
    lines = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
    ]
    for position, (package, activity) in enumerate(_tasks(system)):
        record = activity_record(package, activity)
        state = "RESUMED" if position == 0 else "STOPPED"
        number = task_id(package)
        lines += [
            f"  * Task{{{object_id('task ' + package)} #{number} type=standard"
            f" A={number}:{package} U=0 visible={str(position == 0).lower()}"
            " mode=fullscreen translucent=false sz=1}",
            *([f"    topResumedActivity={record}"] if position == 0 else []),
            f"    * Hist  #0: {record}",
            f"        packageName={package} processName={package}",
            f"        mActivityComponent={component(package, activity)}",
            f"        state={state}",
        ]
    front = front_activity(system)
    return [
        *lines,
        "",
        f"  ResumedActivity: {front}",
        "",
        f"  topResumedActivity={front}",
        f"  mFocusedApp={front}",
    ]


# Since this API level the bars have the names of the public interface.
_BARS_RENAMED = 34


def dump_window(system: AndroidSystem, words: list[str]) -> str:
    """Print the windows, the displays or the policy, or all three."""
    what = words[0] if words else ""
    if what in ("windows", "w", "visible", "visible-apps"):
        return "\n".join(_windows(system)) + "\n"
    if what in ("displays", "d"):
        return "\n".join(_displays(system)) + "\n"
    if what in ("policy", "p"):
        return "\n".join(_policy(system)) + "\n"
    if what not in ("", "a", "all", "-a"):
        return f"Bad window command, or no windows match: {what}\nUse -h for help.\n"
    sections = [_policy(system), _displays(system), _windows(system)]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _policy(system: AndroidSystem) -> list[str]:
    awake = system.display.awake
    locked = str(system.faults.active("locked") is not None).lower()
    return [
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        "    mSafeMode=false mSystemReady=true mSystemBooted=true",
        f"    mAwake={str(awake).lower()} mScreenOnEarly={str(awake).lower()}"
        f" mScreenOnFully={str(awake).lower()}",
        f"    screenState={'SCREEN_STATE_ON' if awake else 'SCREEN_STATE_OFF'}",
        "    KeyguardServiceDelegate",
        f"      showing={locked}",
        f"      showingAndNotOccluded={locked}",
        f"      inputRestricted={locked}",
        "    mShowingDream=false mDreamingLockscreen=false",
    ]


def _displays(system: AndroidSystem) -> list[str]:
    width, height = system.ui.display.size
    density = system.display.forced_density or system.display.density
    first = "{}x{}".format(*system.display.size)
    left, top, right, bottom = system.ui.display.insets
    app = f"{width - left - right}x{height - top - bottom}"
    return [
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        "  Display: mDisplayId=0 (organized)",
        f"    init={first} {density}dpi cur={width}x{height} app={app}"
        f" rng={min(width, height)}x{min(width, height)}-{max(width, height)}x{max(width, height)}",
        "    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion()",
        f"    mCurrentFocus={focused_window(system)}",
        f"    mFocusedApp={front_activity(system)}",
        f"    mRotation={system.ui.display.rotation}"
        f" mDisplayRotation=ROTATION_{system.ui.display.rotation * 90}",
        f"    mInputMethodTarget={focused_window(system)}",
        f"      InsetsSource type={_status_bars(system)} frame=[0,0][{width},"
        f"{system.ui.view.windows()[-1].root.bounds.bottom}] visible=true",
    ]


def _status_bars(system: AndroidSystem) -> str:
    return "statusBars" if system.build.api >= _BARS_RENAMED else "ITYPE_STATUS_BAR"


def _windows(system: AndroidSystem) -> list[str]:
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    windows = system.ui.view.windows()
    width, height = system.ui.display.size
    for number, window in enumerate(reversed(windows)):
        name = _window_name(system, window.type, window.package, active=window.active)
        kind = {"application": "BASE_APPLICATION", "input_method": "INPUT_METHOD"}
        package = system.packages.get(window.package)
        lines += [
            f"  Window #{number} Window{{{object_id('window ' + name)} u0 {name}}}:",
            f"    mDisplayId=0 rootTaskId={task_id(window.package)}",
            f"    mOwnerUid={package.app_id if package else 1000} showForAllUsers=false"
            f" package={window.package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) ty={kind.get(window.type, 'STATUS_BAR')}"
            f"{' fl=SECURE' if is_secure(system, window.package) else ''}}}",
            f"    Requested w={width} h={height} mLayoutSeq={system.ui.view.version}",
            "    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false",
            "    isOnScreen=true",
            "    isVisible=true",
        ]
    lines += [
        "",
        f"  mTopFocusedDisplayId=0 imeControlTarget in display# 0 {focused_window(system)}",
        f"  mDisplayFrozen=false windows={len(windows)} client=false apps=0",
        f"  mRotation={system.ui.display.rotation}",
    ]
    return lines


def _window_name(system: AndroidSystem, kind: str, package: str, *, active: bool) -> str:
    if kind == "input_method":
        return "InputMethod"
    if kind == "system":
        return "StatusBar" if package == "com.android.systemui" else package
    if active or package == system.ui.view.foreground_package():
        return f"{package}/{system.ui.view.foreground_activity()}"
    found = system.packages.get(package)
    return f"{package}/{found.activities[0] if found and found.activities else package}"


# Since then the system itself shows toasts of text, and so knows the text.
_TEXT_SINCE_API = 30


def dump_notification(system: AndroidSystem, words: list[str]) -> str:
    """Print the queue of toasts; there are no notifications."""
    toast = system.ui.view.toast
    queue = [] if toast is None else ["  Toast Queue:", f"    {_record(system, toast)}", "  "]
    lines = ["Current Notification Manager state:", *queue, "  Notification List:", "  "]
    return "\n".join(lines) + "\n"


def _record(system: AndroidSystem, toast: Toast) -> str:
    identity = object_id(f"toast {toast.text}")
    if system.build.api < _TEXT_SINCE_API:
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


# Before, the id of an app was called that of a user.
_APP_ID_SINCE = 33

_FLAGS = "HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP"


def dump_package(system: AndroidSystem, name: str | None) -> str:
    """Print one package, or all of them."""
    if name is not None:
        package = system.packages.get(name)
        if package is None:
            return f"Unable to find package: {name}\n"
        shown = [package]
    else:
        shown = system.packages.all()
    lines = [*_resolver_tables(shown), "", "Packages:"]
    for package in shown:
        lines += _package_lines(system, package)
    return "\n".join(lines) + "\n"


def _version_name(system: AndroidSystem, package: Package) -> str:
    other = system.faults.active("operator_version")
    is_other = other is not None and package.name in OPERATOR_PACKAGES
    return other.options["version"] if other is not None and is_other else package.version_name


def _resolver_tables(shown: list[Package]) -> list[str]:
    lines = ["Activity Resolver Table:", "  Non-Data Actions:"]
    launchers = [(p, p.launcher) for p in shown if p.launcher]
    if launchers:
        lines.append("      android.intent.action.MAIN:")
    for package, launcher in launchers:
        assert launcher is not None
        name = component(package.name, launcher)
        lines += [
            f"        {object_id(name)} {name} filter {object_id('filter ' + name)}",
            '          Action: "android.intent.action.MAIN"',
            '          Category: "android.intent.category.LAUNCHER"',
        ]
    lines += ["", "Receiver Resolver Table:", "  Non-Data Actions:"]
    for package in shown:
        for cls, action in package.receivers:
            name = component(package.name, cls)
            lines += [
                f"      {action}:",
                f"        {object_id(name)} {name} filter {object_id('filter ' + name)}",
                f'          Action: "{action}"',
            ]
    return lines


def _package_lines(system: AndroidSystem, package: Package) -> list[str]:
    return [
        f"  Package [{package.name}] ({object_id(package.name)}):",
        *_code(package, "appId" if system.build.api >= _APP_ID_SINCE else "userId"),
        *_version(package, _version_name(system, package)),
        *_installation(package),
        *_permissions(package),
        *_user_states(system, package),
        *_runtime_permissions(package, held=system.ui.permissions.granted(package.name)),
    ]


def _code(package: Package, key: str) -> list[str]:
    return [
        f"    {key}={package.app_id}",
        f"    pkg=Package{{{object_id('pkg ' + package.name)} {package.name}}}",
        f"    codePath={package.code_path}",
        f"    resourcePath={package.code_path}",
        f"    legacyNativeLibraryDir={package.code_path}/lib",
        "    extractNativeLibs=false",
        "    primaryCpuAbi=null",
        "    secondaryCpuAbi=null",
        "    cpuAbiOverride=null",
    ]


def _version(package: Package, name: str) -> list[str]:
    return [
        f"    versionCode={package.version_code} minSdk={package.min_sdk}"
        f" targetSdk={package.target_sdk}",
        "    minExtensionVersions=[]",
        f"    versionName={name}",
        "    hiddenApiEnforcementPolicy=2",
        "    usesNonSdkApi=false",
        "    splits=[base]",
        "    apkSigningVersion=2",
        f"    flags={_flags(package)}",
        "    privateFlags=[ PRIVATE_FLAG_ACTIVITIES_RESIZE_MODE_RESIZEABLE_VIA_SDK_VERSION ]",
        "    forceQueryable=false",
        "    queriesPackages=[]",
        "    queriesIntents=[]",
        "    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]",
    ]


def _flags(package: Package) -> str:
    return f"[ {'SYSTEM ' if package.system else ''}{_FLAGS} ]"


def _installation(package: Package) -> list[str]:
    signature = object_id("signatures " + package.name)
    return [
        f"    timeStamp={_date(package.updated_at)}",
        f"    lastUpdateTime={_date(package.updated_at)}",
        f"    installerPackageName={package.installer or 'null'}",
        f"    signatures=PackageSignatures{{{signature} version:2,"
        f" signatures:[{package.signature}], past signatures:[]}}",
        "    installPermissionsFixed=true",
        f"    pkgFlags={_flags(package)}",
    ]


def _permissions(package: Package) -> list[str]:
    fixed = [name for name in package.requested if name not in RUNTIME_PERMISSIONS]
    return [
        "    requested permissions:",
        *(f"      {name}" for name in package.requested),
        "    install permissions:",
        *(f"      {name}: granted=true" for name in fixed),
    ]


def _user_states(system: AndroidSystem, package: Package) -> list[str]:
    if "multi-user" not in system.quirks:
        return _user_state(package, user=0)
    absent = "installed=false hidden=false suspended=false distractionFlags=0"
    return [
        f"    User 0: ceDataInode=0 deDataInode=0 {absent} stopped=true notLaunched=true enabled=0",
        *_user_state(package, user=10),
    ]


def _user_state(package: Package, *, user: int) -> list[str]:
    stopped = str(package.stopped).lower()
    return [
        f"    User {user}: ceDataInode={4096 + package.app_id} deDataInode={8192 + package.app_id}"
        f" installed=true hidden=false suspended=false distractionFlags=0"
        f" stopped={stopped} notLaunched={stopped}"
        f" enabled=0 instant=false virtual=false quarantined=false",
        "      installReason=0",
        f"      dataDir=/data/user/{user}/{package.name}",
        f"      firstInstallTime={_date(package.installed_at)}",
        "      uninstallReason=0",
    ]


def _runtime_permissions(package: Package, *, held: Collection[str]) -> list[str]:
    runtime = [name for name in package.requested if name in RUNTIME_PERMISSIONS]
    return [
        "      runtime permissions:",
        *(
            f"        {name}: granted={str(name in held).lower()}, flags=[ USER_SET"
            "|USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED ]"
            for name in runtime
        ),
    ]


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))


def _dump_package(system: AndroidSystem, words: list[str]) -> str:
    names = [word for word in words if not word.startswith("-")]
    if names[:1] in (["packages"], ["package"]):
        names = names[1:]
    return dump_package(system, names[0] if names else None)


Dump = Callable[[AndroidSystem, "list[str]"], str]


DUMPS: Mapping[str, Dump] = {
    "SurfaceFlinger": dump_surface_flinger,
    "accessibility": dump_accessibility,
    "activity": dump_activity,
    "battery": dump_battery,
    "display": dump_display,
    "notification": dump_notification,
    "package": _dump_package,
    "power": dump_power,
    "window": dump_window,
}

"""The services that can be dumped."""


async def dumpsys(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the dump of one service, or of all."""
    words = invocation.args[1:]
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
