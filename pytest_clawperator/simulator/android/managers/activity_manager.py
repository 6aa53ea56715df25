"""What Android's activity manager does: starting, stopping, broadcasting, dying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_clawperator.simulator.android.services.intent_options import (
    CATEGORY_HOME,
    INCLUDE_STOPPED,
    MAIN,
    Intent,
)
from pytest_clawperator.simulator.android.state.packages import (
    LAUNCHER,
    OPERATOR_ACTION,
    OPERATOR_PACKAGES,
    OPERATOR_RECEIVER,
    Package,
)
from pytest_clawperator.simulator.android.state.settings import remove_from_list

if TYPE_CHECKING:
    from pytest_clawperator.simulator.android.state.process_table import Process
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
    """Start what the intent names; None where nothing takes it."""
    running = set(system.ui.running_packages())
    before = (system.ui.foreground_package(), system.ui.foreground_activity())
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
    """Give the one activity that the intent names, by component, package or category."""
    if intent.component is not None:
        package = system.packages.get(intent.component[0])
        if package is None or not package.enabled:
            return None
        return intent.component if intent.component[1] in package.activities else None
    if intent.data is not None:
        return None
    if CATEGORY_HOME in intent.categories:
        return LAUNCHER, f"{LAUNCHER}.NexusLauncherActivity"
    if intent.package is not None and intent.action in (None, MAIN):
        package = system.packages.get(intent.package)
        if package is not None and package.enabled and package.launcher:
            return package.name, package.launcher
    return None


def _start(system: AndroidSystem, intent: Intent, component: tuple[str, str] | None) -> bool:
    if component is not None:
        return _open(system, *component)
    if intent.component is not None:
        return False
    if intent.data is not None:
        return system.ui.open_uri(intent.data, package=intent.package)
    return bool(intent.action) and system.ui.start_intent(intent.action or "")


def _open(system: AndroidSystem, package: str, activity: str) -> bool:
    if package == LAUNCHER:
        return system.ui.home()
    if package in OPERATOR_PACKAGES:
        system.operators.start(package)
    return system.ui.start_app(package, activity)


def may_broadcast(intent: Intent) -> bool:
    """Tell whether the shell's user may send this; some actions are the system's alone."""
    return intent.action not in _SHELL_MAY_NOT_SEND


def send_broadcast(system: AndroidSystem, intent: Intent) -> None:
    """Deliver a broadcast to whoever receives it; nobody is told if that is nobody."""
    system.stats.broadcast()
    for name in OPERATOR_PACKAGES:
        package = system.packages.get(name)
        if package is not None and _receives(package, intent):
            package.stopped = False
            system.operators.receive(name, intent.extras.get("payload"))


def _receives(package: Package, intent: Intent) -> bool:
    if not package.enabled or (package.stopped and not intent.flags & INCLUDE_STOPPED):
        return False
    if intent.component is not None:
        named = intent.component == (package.name, OPERATOR_RECEIVER)
        return named and intent.action in (None, OPERATOR_ACTION)
    # Since API 26 a receiver in a manifest gets only what is addressed to its package.
    return intent.package == package.name and intent.action == OPERATOR_ACTION


def force_stop(system: AndroidSystem, name: str) -> None:
    """Stop a package for good: until somebody starts it, it gets no broadcast either."""
    package = system.packages.get(name)
    if package is None:
        return
    kill(system, name)
    if not package.system:
        package.stopped = True
    disable_services(system, name)


def kill(system: AndroidSystem, name: str) -> None:
    """End a package's processes; its state in Android stays as it is."""
    pid = system.processes.pid_of(name) or system.operators.pid_of(name)
    if name in OPERATOR_PACKAGES:
        system.operators.stop(name)
    system.ui.force_stop(name)
    system.processes.stop(name)
    if pid is not None:
        _log_death(system, name, pid)


def disable_services(system: AndroidSystem, name: str) -> None:
    """Switch a package's accessibility service off, as stopping or removing the package does."""
    key = "enabled_accessibility_services"
    before = system.settings.get("secure", key)
    left = remove_from_list(system.settings, "secure", key, package=name)
    if before and not left:
        system.settings.put("secure", "accessibility_enabled", "0")


def crash(system: AndroidSystem, name: str, message: str) -> None:
    """Have a package's process die of an exception."""
    if name in OPERATOR_PACKAGES:
        system.operators.crash(name, message)
        return
    app_crashed(system, name, message)
    system.ui.force_stop(name)


def app_crashed(system: AndroidSystem, name: str, message: str) -> None:
    """Log an app's crash and forget its process; the screen has closed it already."""
    processes = {process.name: process for process in running_processes(system)}
    process = processes.get(name) or start_process(system, name)
    text = f"FATAL EXCEPTION: main\nProcess: {name}, PID: {process.pid}\n{message}"
    system.log.write("E", "AndroidRuntime", text, pid=process.pid, buffer="crash")
    system.processes.stop(name)
    _log_death(system, name, process.pid)


def start_process(system: AndroidSystem, name: str) -> Process:
    """Give a package's process, starting one if none runs."""
    package = system.packages.get(name)
    process = system.processes.start(name, user=package.user if package else "u0_a199")
    if package is not None:
        system.log.uids[process.pid] = package.app_id
    return process


def running_processes(system: AndroidSystem) -> list[Process]:
    """List what runs, with the processes of the apps that are open at this moment."""
    known = [package.name for package in system.packages.all()]
    keep = {process.name for process in system.processes.all()} & {
        "com.android.systemui",
        "com.android.phone",
        "com.google.android.inputmethod.latin",
    }
    wanted = {LAUNCHER, *system.ui.running_packages(), *keep}
    operators = {name: system.operators.pid_of(name) for name in OPERATOR_PACKAGES}
    for name in known:
        if name not in wanted and operators.get(name) is None:
            system.processes.stop(name)
    for name in sorted(wanted):
        if operators.get(name) is None and system.packages.get(name) is not None:
            start_process(system, name)
    for name, pid in operators.items():
        package = system.packages.get(name)
        if pid is not None and package is not None:
            system.processes.start(name, user=package.user, pid=pid)
    return system.processes.all()


def _log_death(system: AndroidSystem, name: str, pid: int) -> None:
    server = system.processes.pid_of("system_server") or 1
    text = f"Process {name} (pid {pid}) has died: prcp TOP"
    system.log.write("I", "ActivityManager", text, pid=server, buffer="system")
