"""The activity manager: starting activities, delivering broadcasts, stopping packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.android.managers.app_processes import (
    UI_AUTOMATION,
    kill,
    start_operator,
)
from pytest_clawperator.simulator.android.managers.intent import (
    CATEGORY_HOME,
    INCLUDE_STOPPED,
    MAIN,
    Intent,
)
from pytest_clawperator.simulator.android.state import accessibility
from pytest_clawperator.simulator.android.state.operator_packages import (
    OPERATOR_ACTION,
    OPERATOR_PACKAGES,
    OPERATOR_RECEIVER,
)
from pytest_clawperator.simulator.android.state.packages import Package
from pytest_clawperator.simulator.android.state.system_packages import LAUNCHER
from pytest_clawperator.simulator.android.system import AndroidSystem

_SHELL_MAY_NOT_SEND = frozenset(
    f"android.intent.action.{name}"
    for name in (
        "AIRPLANE_MODE", "BATTERY_CHANGED", "BATTERY_LOW", "BOOT_COMPLETED", "LOCALE_CHANGED",
        "LOCKED_BOOT_COMPLETED", "PACKAGE_ADDED", "PACKAGE_REMOVED", "PACKAGE_REPLACED",
        "REBOOT", "SCREEN_OFF", "SCREEN_ON", "TIME_SET", "TIMEZONE_CHANGED", "USER_PRESENT",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Started:
    """An activity that was started: anew, from its task, or that was on top already.

    ``component`` is None where only the screen will show which one it was.
    """

    component: tuple[str, str] | None
    how: Literal["new", "front", "top"]


def start_activity(system: AndroidSystem, intent: Intent) -> Started | None:
    """Start the activity for an intent; None where no app takes it."""
    running = set(system.ui.processes.running_packages())
    before = (system.ui.view.foreground_package(), system.ui.view.foreground_activity())
    component = resolve_activity(system, intent)
    if not _start(system, intent, component):
        return None
    if component is None:
        return Started(None, "new")
    package = system.packages.get(component[0])
    if package is not None:
        package.stopped = False
    if before == component:
        return Started(component, "top")
    return Started(component, "front" if component[0] in running else "new")


def resolve_activity(system: AndroidSystem, intent: Intent) -> tuple[str, str] | None:
    """Return the activity that the intent names by component, package or category."""
    if intent.component is not None:
        package = system.packages.get(intent.component[0])
        if package is None:
            return None
        return intent.component if intent.component[1] in package.activities else None
    if intent.data is not None:
        return None
    if CATEGORY_HOME in intent.categories:
        return LAUNCHER, f"{LAUNCHER}.NexusLauncherActivity"
    if intent.package is not None and intent.action in (None, MAIN):
        package = system.packages.get(intent.package)
        if package is not None and package.launcher:
            return package.name, package.launcher
    return None


def _start(system: AndroidSystem, intent: Intent, component: tuple[str, str] | None) -> bool:
    if component is not None:
        return _open(system, *component)
    if intent.component is not None:
        return False
    if intent.data is not None:
        return system.ui.links.open_uri(intent.data, package=intent.package)
    return bool(intent.action) and system.ui.launching.start_intent(intent.action or "")


def _open(system: AndroidSystem, package: str, activity: str) -> bool:
    if package == LAUNCHER:
        return system.ui.keys.home()
    if package in OPERATOR_PACKAGES:
        system.operators.start(package)
    return system.ui.launching.start_app(package, activity)


def may_broadcast(intent: Intent) -> bool:
    """Whether the shell's user may send this; some actions are the system's alone."""
    return intent.action not in _SHELL_MAY_NOT_SEND


def send_broadcast(system: AndroidSystem, intent: Intent) -> None:
    """Deliver a broadcast to its receivers; having none is no error."""
    system.stats.broadcast()
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        if package is not None and _receives(package, intent):
            package.stopped = False
            start_operator(system, name)
            system.operators.receive(name, intent.extras.get("payload"))


def _receives(package: Package, intent: Intent) -> bool:
    if package.stopped and not intent.flags & INCLUDE_STOPPED:
        return False
    if intent.component is not None:
        named = intent.component == (package.name, OPERATOR_RECEIVER)
        return named and intent.action in (None, OPERATOR_ACTION)
    # Since API 26 a receiver in a manifest gets only what is addressed to its package.
    return intent.package == package.name and intent.action == OPERATOR_ACTION


def force_stop(system: AndroidSystem, name: str) -> None:
    """Stop a package; until it is started again it receives no broadcast."""
    if name == UI_AUTOMATION:
        system.faults.clear("ui_automation")
    package = system.packages.get(name)
    if package is None:
        return
    kill(system, name)
    if not package.system:
        package.stopped = True
    accessibility.disable_package(system.settings, name)
