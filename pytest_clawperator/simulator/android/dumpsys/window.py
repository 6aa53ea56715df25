"""What ``dumpsys window`` and ``dumpsys activity`` print: who has the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_clawperator.simulator.android.dumpsys.package import object_id
from pytest_clawperator.simulator.android.managers.activity_manager import running_processes
from pytest_clawperator.simulator.android.state.packages import component

if TYPE_CHECKING:
    from pytest_clawperator.simulator.android.system import AndroidSystem


def focused_window(system: AndroidSystem) -> str:
    """Name the window that has the focus."""
    if system.shade:
        return f"Window{{{object_id('shade')} u0 NotificationShade}}"
    package, activity = system.ui.foreground_package(), system.ui.foreground_activity()
    name = f"{package}/{activity}"
    return f"Window{{{object_id('window ' + name)} u0 {name}}}"


def activity_record(package: str, activity: str) -> str:
    """Name an activity as the activity manager does."""
    name = component(package, activity)
    return f"ActivityRecord{{{object_id('record ' + name)} u0 {name} t{task_id(package)}}}"


def task_id(package: str) -> int:
    """Give the number of a package's task."""
    return int(object_id("task " + package), 16) % 900 + 10


def _front(system: AndroidSystem) -> str:
    return activity_record(system.ui.foreground_package(), system.ui.foreground_activity())


def dump_window(system: AndroidSystem, words: list[str]) -> str:
    """Print windows, displays, or both with what else the window manager has to say."""
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
    return [
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
        "    mSafeMode=false mSystemReady=true mSystemBooted=true",
        f"    mAwake={str(awake).lower()} mScreenOnEarly={str(awake).lower()}"
        f" mScreenOnFully={str(awake).lower()}",
        f"    screenState={'SCREEN_STATE_ON' if awake else 'SCREEN_STATE_OFF'}",
        "    KeyguardServiceDelegate",
        "      showing=false",
        "      showingAndNotOccluded=false",
        "      inputRestricted=false",
        "    mShowingDream=false mDreamingLockscreen=false",
    ]


def _displays(system: AndroidSystem) -> list[str]:
    width, height = system.ui.size
    density = system.display.forced_density or system.display.density
    first = "{}x{}".format(*system.display.size)
    return [
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        "  Display: mDisplayId=0 (organized)",
        f"    init={first} {density}dpi cur={width}x{height} app={width}x{height}"
        f" rng={min(width, height)}x{min(width, height)}-{max(width, height)}x{max(width, height)}",
        "    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion()",
        f"    mCurrentFocus={focused_window(system)}",
        f"    mFocusedApp={_front(system)}",
        f"    mRotation={system.ui.rotation} mDisplayRotation=ROTATION_{system.ui.rotation * 90}",
        f"    mInputMethodTarget={focused_window(system)}",
    ]


def _windows(system: AndroidSystem) -> list[str]:
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    windows = system.ui.windows()
    width, height = system.ui.size
    for number, window in enumerate(reversed(windows)):
        name = _window_name(system, window.type, window.package, active=window.active)
        kind = {"application": "BASE_APPLICATION", "input_method": "INPUT_METHOD"}
        package = system.packages.get(window.package)
        lines += [
            f"  Window #{number} Window{{{object_id('window ' + name)} u0 {name}}}:",
            f"    mDisplayId=0 rootTaskId={task_id(window.package)}",
            f"    mOwnerUid={package.app_id if package else 1000} showForAllUsers=false"
            f" package={window.package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) ty={kind.get(window.type, 'STATUS_BAR')}}}",
            f"    Requested w={width} h={height} mLayoutSeq={system.ui.version}",
            "    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false",
            "    isOnScreen=true",
            "    isVisible=true",
        ]
    lines += [
        "",
        f"  mTopFocusedDisplayId=0 imeControlTarget in display# 0 {focused_window(system)}",
        f"  mDisplayFrozen=false windows={len(windows)} client=false apps=0",
        f"  mRotation={system.ui.rotation}",
    ]
    return lines


def _window_name(system: AndroidSystem, kind: str, package: str, *, active: bool) -> str:
    if kind == "input_method":
        return "InputMethod"
    if kind == "system":
        return "StatusBar" if package == "com.android.systemui" else package
    if active or package == system.ui.foreground_package():
        return f"{package}/{system.ui.foreground_activity()}"
    found = system.packages.get(package)
    return f"{package}/{found.activities[0] if found and found.activities else package}"


def dump_activity(system: AndroidSystem, words: list[str]) -> str:
    """Print the activity manager's state, or the part of it that is asked for."""
    what = words[0] if words else "all"
    parts = {
        "activities": _activities,
        "a": _activities,
        "top": _top,
        "recents": _recents,
        "r": _recents,
        "processes": _processes,
        "p": _processes,
        "services": _services,
        "s": _services,
    }
    if what in parts:
        return "\n".join(parts[what](system)) + "\n"
    if what not in ("all", "-a"):
        return f"Bad activity command, or no activities match: {what}\nUse -h for help.\n"
    sections = [_activities, _recents, _services, _processes]
    return "\n\n".join("\n".join(section(system)) for section in sections) + "\n"


def _tasks(system: AndroidSystem) -> list[tuple[str, str]]:
    """Give package and activity of what is open, what is in front first."""
    front = (system.ui.foreground_package(), system.ui.foreground_activity())
    tasks = [front]
    for name in system.ui.running_packages():
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
    front = _front(system)
    return [
        *lines,
        "",
        f"  ResumedActivity: {front}",
        "",
        f"  topResumedActivity={front}",
        f"  mFocusedApp={front}",
    ]


def _top(system: AndroidSystem) -> list[str]:
    package, activity = system.ui.foreground_package(), system.ui.foreground_activity()
    pids = {process.name: process.pid for process in running_processes(system)}
    name = component(package, activity)
    return [
        f"TASK {package} id={task_id(package)} userId=0 displayId=0(type=INTERNAL)",
        f"  ACTIVITY {name} {object_id('record ' + name)} pid={pids.get(package, 0)} userId=0",
        f"    Local Activity {object_id('local ' + name)} State:",
        "      mResumed=true mStopped=false mFinished=false",
    ]


def _recents(system: AndroidSystem) -> list[str]:
    lines = ["ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)", "  Recent tasks:"]
    for position, (package, activity) in enumerate(_tasks(system)):
        number = task_id(package)
        lines += [
            f"  * Recent #{position}: Task{{{object_id('task ' + package)} #{number}"
            f" type=standard A={number}:{package}}}",
            "    userId=0 hasTask=true lastActiveTime=0",
            f"    realActivity={{{component(package, activity)}}}",
        ]
    return lines


def _processes(system: AndroidSystem) -> list[str]:
    lines = [
        "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)",
        "  All known processes:",
    ]
    for process in running_processes(system):
        package = system.packages.get(process.name)
        if package is not None:
            lines += [
                f"  *APP* UID {package.app_id} ProcessRecord{{{object_id(process.name)}"
                f" {process.pid}:{process.name}/{process.user}}}",
                f"    user #0 uid={package.app_id}",
                f"    packageList={{{process.name}}}",
            ]
    return lines


def _services(system: AndroidSystem) -> list[str]:
    lines = ["ACTIVITY MANAGER SERVICES (dumpsys activity services)", "  User 0 active services:"]
    services = (system.settings.get("secure", "enabled_accessibility_services") or "").split(":")
    for name in filter(None, services):
        package, _, cls = name.partition("/")
        if system.operators.pid_of(package) is not None:
            shown = component(package, cls)
            lines += [
                f"  * ServiceRecord{{{object_id('service ' + name)} u0 {shown} c:android}}",
                f"    intent={{act=android.accessibilityservice.AccessibilityService cmp={shown}}}",
                f"    packageName={package}",
                f"    processName={package}",
                f"    app=ProcessRecord{{{object_id(package)}"
                f" {system.operators.pid_of(package)}:{package}}}",
            ]
    return lines
