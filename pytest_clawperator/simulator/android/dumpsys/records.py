"""How dumps name windows, activities, tasks and other objects."""

from __future__ import annotations

import zlib

from pytest_clawperator.simulator.android.state.packages import component
from pytest_clawperator.simulator.android.system import AndroidSystem


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
