"""``dumpsys activity``: the open tasks and their activities."""

from __future__ import annotations

from pytest_clawperator.simulator.android.dumpsys.records import (
    activity_record,
    front_activity,
    object_id,
    task_id,
)
from pytest_clawperator.simulator.android.state.packages import component
from pytest_clawperator.simulator.android.system import AndroidSystem


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
