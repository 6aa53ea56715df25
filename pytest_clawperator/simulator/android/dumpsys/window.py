"""``dumpsys window``: windows, displays and the window policy."""

from __future__ import annotations

from pytest_clawperator.simulator.android.dumpsys.hardware import is_secure
from pytest_clawperator.simulator.android.dumpsys.records import (
    focused_window,
    front_activity,
    object_id,
    task_id,
)
from pytest_clawperator.simulator.android.system import AndroidSystem

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
