"""The processes of apps: starting, killing, crashing, and listing what runs."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state.operator_packages import (
    OPERATOR_PACKAGES,
)
from pytest_clawperator.simulator.android.state.process_table import Process
from pytest_clawperator.simulator.android.state.system_packages import LAUNCHER
from pytest_clawperator.simulator.android.system import AndroidSystem

UI_AUTOMATION = "io.appium.uiautomator2.server"
"""Who holds the device while the fault ``ui_automation`` is on."""


def kill(system: AndroidSystem, name: str) -> None:
    """End a package's processes; its state in Android stays as it is."""
    pid = system.processes.pid_of(name) or system.operators.pid_of(name)
    if name in OPERATOR_PACKAGES:
        system.operators.stop(name)
    system.ui.processes.force_stop(name)
    system.processes.stop(name)
    if pid is not None:
        _log_death(system, name, pid)


def crash(system: AndroidSystem, name: str, message: str) -> None:
    """Crash a package's process with an exception."""
    if name in OPERATOR_PACKAGES:
        system.operators.crash(name, message)
        return
    app_crashed(system, name, message)
    system.ui.processes.force_stop(name)


def app_crashed(system: AndroidSystem, name: str, message: str) -> None:
    """Log an app's crash and forget its process; the screen has closed it already."""
    processes = {process.name: process for process in running_processes(system)}
    process = processes.get(name) or start_process(system, name)
    text = f"FATAL EXCEPTION: main\nProcess: {name}, PID: {process.pid}\n{message}"
    system.log.write("E", "AndroidRuntime", text, pid=process.pid, buffer="crash")
    system.processes.stop(name)
    _log_death(system, name, process.pid)


def app_hangs(system: AndroidSystem, name: str, reason: str) -> None:
    """Log what the system logs of an app that does not respond."""
    pid = {process.name: process.pid for process in running_processes(system)}.get(name, 0)
    text = f"ANR in {name}\nPID: {pid}\nReason: {reason}"
    _log_by_system(system, text, priority="E")


def start_process(system: AndroidSystem, name: str) -> Process:
    """Return a package's process, starting one if none runs."""
    package = system.packages.get(name)
    return system.processes.start(name, user=package.user if package else "u0_a199")


def start_operator(system: AndroidSystem, name: str) -> None:
    """Start an installed Operator for a broadcast, unless it runs; the system logs it."""
    package = system.packages.get(name)
    if package is None or system.operators.pid_of(name) is not None:
        return
    system.operators.start(name)
    pid = system.operators.pid_of(name)
    user = package.user.replace("_", "")
    _log_by_system(system, f"Start proc {pid}:{name}/{user} for broadcast")


def running_processes(system: AndroidSystem) -> list[Process]:
    """List what runs, with the processes of the apps that are open at this moment."""
    known = [package.name for package in system.packages.all()]
    keep = {process.name for process in system.processes.all()} & {
        "com.android.systemui",
        "com.android.phone",
        "com.google.android.inputmethod.latin",
    }
    wanted = {LAUNCHER, *system.ui.processes.running_packages(), *keep}
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
    if system.faults.active("ui_automation"):
        system.processes.start(UI_AUTOMATION, user="u0_a198")
    else:
        system.processes.stop(UI_AUTOMATION)
    return system.processes.all()


def app_complains(system: AndroidSystem, name: str, message: str) -> None:
    """Log what an app's file asks for and what cannot be done, as an error of the app."""
    system.log.write("E", "AppFile", message, pid=start_process(system, name).pid)


def _log_death(system: AndroidSystem, name: str, pid: int) -> None:
    _log_by_system(system, f"Process {name} (pid {pid}) has died: prcp TOP")


def _log_by_system(system: AndroidSystem, text: str, *, priority: str = "I") -> None:
    server = system.processes.pid_of("system_server") or 1
    system.log.write(priority, "ActivityManager", text, pid=server, buffer="system")
