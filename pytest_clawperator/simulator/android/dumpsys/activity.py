"""``dumpsys activity``: tasks, activities, processes and services."""

from __future__ import annotations

from pytest_clawperator.simulator.android.dumpsys.records import (
    activity_record,
    front_activity,
    object_id,
    task_id,
)
from pytest_clawperator.simulator.android.managers.app_processes import running_processes
from pytest_clawperator.simulator.android.state.accessibility import enabled_services
from pytest_clawperator.simulator.android.state.packages import component
from pytest_clawperator.simulator.android.system import AndroidSystem


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


def _top(system: AndroidSystem) -> list[str]:
    package, activity = system.ui.view.foreground_package(), system.ui.view.foreground_activity()
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
    for name in enabled_services(system.settings):
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
