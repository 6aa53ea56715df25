"""The processes of apps, and the programs ``ps``, ``pidof`` and ``kill``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.packages import LAUNCHER, OPERATOR_PACKAGES, component
from pytest_clawperator.simulator.android.system import AndroidSystem, Process
from pytest_clawperator.simulator.shell.shell import CommandFailure, Invocation

UI_AUTOMATION = "io.appium.uiautomator2.server"
"""Who holds the device while the fault ``ui_automation`` is on."""

_STACK = """
\tat {package}.MainActivity.onClick(MainActivity.kt:42)
\tat android.view.View.performClick(View.java:8028)
\tat android.os.Handler.dispatchMessage(Handler.java:107)
\tat com.android.internal.os.ZygoteInit.main(ZygoteInit.java:925)"""
_TASKS = "ActivityTaskManager"
_SHELL_USER = "shell"
_PROGRAM_VSZ, _PROGRAM_RSS = 10_848_000, 12_400
# Width of the column (negative: aligned to the left), and the value.
_FIELDS: Mapping[str, tuple[int, Callable[[Process], str]]] = {
    "USER": (-13, lambda process: process.user),
    "PID": (6, lambda process: str(process.pid)),
    "PPID": (6, lambda process: str(process.ppid)),
    "VSZ": (8, lambda process: str(process.vsz)),
    "RSS": (6, lambda process: str(process.rss)),
    "WCHAN": (-15, lambda process: "0"),
    "ADDR": (8, lambda process: "0"),
    "S": (1, lambda process: "S"),
    "NAME": (-27, lambda process: process.name),
    "ARGS": (-27, lambda process: process.name),
}
_USUAL_FIELDS = ("USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME")
_SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15}
_SIGNAL_NUMBERS = frozenset(map(str, range(16)))


def kill_package(system: AndroidSystem, name: str, why: str = "") -> None:
    """End a package's processes as the system does; its state in Android stays as it is."""
    pid = _end_process(system, name)
    if pid is not None:
        package = system.packages.get(name)
        user = (package.user if package else "u0_a199").replace("_", "")
        why = why or f"stop {name} due to from pid {_server(system)}"
        _log_by_system(system, f"Killing {pid}:{name}/{user} (adj 0): {why}")


def die(system: AndroidSystem, name: str) -> None:
    """End a package's process as if it had ended itself."""
    is_in_front = system.ui.processes.is_in_front(name)
    pid = _end_process(system, name)
    if pid is not None:
        _log_death(system, name, pid, is_in_front=is_in_front)


def _end_process(system: AndroidSystem, name: str) -> int | None:
    """End a package's process; return its id, or None if none ran."""
    pid = {process.name: process.pid for process in running_processes(system)}.get(name)
    if name in OPERATOR_PACKAGES:
        system.operators.stop(name)
    system.ui.processes.force_stop(name)
    system.processes.stop(name)
    return pid


def crash(system: AndroidSystem, name: str, message: str) -> None:
    """Crash a package's process with an exception."""
    if name in OPERATOR_PACKAGES:
        system.operators.crash(name, message)
        return
    app_crashed(system, name, message)
    system.ui.processes.force_stop(name)


def app_crashed(system: AndroidSystem, name: str, message: str) -> None:
    """Log an app's crash and forget its process; the screen closes it then."""
    processes = {process.name: process for process in running_processes(system)}
    pid = (processes.get(name) or start_process(system, name)).pid
    if message.startswith("signal "):
        _log_tombstone(system, name, pid, message)
    else:
        stack = "" if "\n" in message else _STACK.format(package=name)
        text = f"FATAL EXCEPTION: main\nProcess: {name}, PID: {pid}\n{message}{stack}"
        system.log.write("E", "AndroidRuntime", text, pid=pid, buffer="crash")
    is_in_front = system.ui.processes.is_in_front(name)
    if is_in_front:
        text = f"  Force finishing activity {name}/.MainActivity"
        _log_by_system(system, text, tag=_TASKS, priority="W")
    system.processes.stop(name)
    _log_death(system, name, pid, is_in_front=is_in_front)


def app_started(system: AndroidSystem, name: str, activity: str) -> None:
    """Log what the system logs when an app is asked to come to the front."""
    text = f"START u0 {{cmp={component(name, activity)}}} from uid 2000 result code=0"
    _log_by_system(system, text, tag=_TASKS)


def _log_tombstone(system: AndroidSystem, name: str, pid: int, signal: str) -> None:
    """Log what the crash handler, a process of its own, logs of a native crash."""
    lines = (
        " ".join(["***"] * 16),
        f"pid: {pid}, tid: {pid}, name: {name[-15:]}  >>> {name} <<<",
        signal,
        "backtrace:",
        f"      #00 pc 000000000004f2a4  /data/app/{name}/lib/arm64/libapp.so (total+12)",
        "      #01 pc 0000000000050a10  /system/lib64/libc.so (abort+164)",
    )
    text = "\n".join(lines)
    system.log.write("F", "DEBUG", text, pid=pid + 1, buffer="crash")


def app_hangs(system: AndroidSystem, name: str, reason: str) -> None:
    """Log what the system logs of an app that does not respond."""
    pid = {process.name: process.pid for process in running_processes(system)}.get(name, 0)
    text = f"ANR in {name} ({name}/.MainActivity)\nPID: {pid}\nReason: {reason}"
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


def _log_death(system: AndroidSystem, name: str, pid: int, *, is_in_front: bool) -> None:
    state = "prcp TOP" if is_in_front else "prev LAST"
    _log_by_system(system, f"Process {name} (pid {pid}) has died: {state}")


def _log_by_system(
    system: AndroidSystem, text: str, *, tag: str = "ActivityManager", priority: str = "I"
) -> None:
    system.log.write(priority, tag, text, pid=_server(system), buffer="system")


def _server(system: AndroidSystem) -> int:
    return system.processes.pid_of("system_server") or 1


# -- Programs: processes as the shell's user sees them -------------------------------------------


async def ps(system: AndroidSystem, invocation: Invocation) -> int:
    """List processes: the shell's own, or with ``-A`` all."""
    fields, everything = list(_USUAL_FIELDS), False
    words = iter(invocation.args[1:])
    for word in words:
        if word == "-o":
            fields = [name.upper() for name in next(words, "").split(",")]
        else:
            everything = everything or word in ("-A", "-e", "-ef")
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        raise CommandFailure(f"bad -o {unknown[0]}; known fields: {', '.join(_FIELDS)}")
    shell = invocation.shell
    own = Process(shell.jobs.new_pid(), shell.pid, _SHELL_USER, "ps", _PROGRAM_VSZ, _PROGRAM_RSS)
    shown = [
        process
        for process in [*_processes(system, invocation), own]
        if everything or process.user == _SHELL_USER
    ]
    rows = [fields, *([_FIELDS[name][1](process) for name in fields] for process in shown)]
    await invocation.out("".join(f"{_row(fields, row)}\n" for row in rows))
    return 0


def _row(fields: list[str], values: list[str]) -> str:
    parts = []
    for name, value in zip(fields, values, strict=True):
        width = _FIELDS[name][0]
        parts.append(value.ljust(-width) if width < 0 else value.rjust(width))
    return " ".join(parts).rstrip()


def _processes(system: AndroidSystem, invocation: Invocation) -> list[Process]:
    """List what runs: the system's, the apps', and the programs that shells started."""
    adbd = system.processes.pid_of("adbd") or 1
    programs = [
        Process(program.pid, adbd, _SHELL_USER, program.name, _PROGRAM_VSZ, _PROGRAM_RSS)
        for program in invocation.shell.jobs.programs()
    ]
    return [*running_processes(system), *programs]


async def pidof(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the pids of the processes with these names."""
    names = invocation.args[1:]
    if not names:
        raise CommandFailure('Needs 1 argument (see "pidof --help")')
    running = _processes(system, invocation)
    found = [str(process.pid) for process in running if process.name in names]
    await invocation.out(" ".join(found) + "\n" if found else "")
    return 0 if found else 1


async def kill_program(system: AndroidSystem, invocation: Invocation) -> int:
    """Signal processes; only those of the shell's user can be ended."""
    number, words = _signal_and_words(invocation.args[1:])
    if not words:
        await invocation.err("/system/bin/sh: usage: kill [-signum | -signame] pid ...\n")
        return 1
    if number is None:
        await invocation.err(f"/system/bin/sh: kill: bad signal '{invocation.args[1]}'\n")
        return 1
    failed = False
    running = {process.pid for process in running_processes(system)}
    for word in words:
        pid = _pid(word)
        if not invocation.shell.jobs.send(pid, number):
            failed = True
            problem = "Operation not permitted" if pid in running else "No such process"
            await invocation.err(f"/system/bin/sh: kill: {word}: {problem}\n")
    # A shell that signalled itself ends here, before its next command.
    await asyncio.sleep(0)
    return int(failed)


def _signal_and_words(words: list[str]) -> tuple[int | None, list[str]]:
    """Parse a leading signal, by name or number; None for an unknown one."""
    if not words or not words[0].startswith("-"):
        return _SIGNALS["TERM"], words
    name = words[0][1:].upper().removeprefix("SIG")
    number = int(name) if name in _SIGNAL_NUMBERS else _SIGNALS.get(name)
    return number, words[1:]


def _pid(text: str) -> int:
    """Parse a pid; return -1, which no process has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else -1
