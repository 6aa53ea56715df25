"""``ps``, ``pidof``, ``pgrep``, ``pkill``, ``kill``: processes, as the shell's user sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.managers.app_processes import running_processes
from pytest_clawperator.simulator.android.state.process_table import Process
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import NAMES, TERMINATE, Invocation, signal_number

_SHELL_USER = "shell"
_PROGRAM_VSZ, _PROGRAM_RSS = 10_848_000, 12_400

# Heading, width (negative: to the left), and the value.
_FIELDS: Mapping[str, tuple[int, Callable[[Process], str]]] = {
    "USER": (-13, lambda process: process.user),
    "UID": (-13, lambda process: process.user),
    "PID": (6, lambda process: str(process.pid)),
    "PPID": (6, lambda process: str(process.ppid)),
    "VSZ": (8, lambda process: str(process.vsz)),
    "RSS": (6, lambda process: str(process.rss)),
    "WCHAN": (-15, lambda process: "0"),
    "ADDR": (8, lambda process: "0"),
    "S": (1, lambda process: "S"),
    "STIME": (5, lambda process: "00:00"),
    "TTY": (-7, lambda process: "?"),
    "TIME": (8, lambda process: "00:00:00"),
    "NAME": (-27, lambda process: process.name),
    "ARGS": (-27, lambda process: process.name),
    "CMD": (-27, lambda process: process.name),
    "CMDLINE": (-27, lambda process: process.name),
    "COMM": (-27, lambda process: process.name[-15:]),
}
_USUAL = (
    "USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME",
)  # fmt: skip
_FULL = (
    "UID", "PID", "PPID", "STIME", "TTY", "TIME", "CMD",
)  # fmt: skip


async def ps(system: AndroidSystem, invocation: Invocation) -> int:
    """List processes: the shell's own, or with ``-A`` all."""
    fields, everything, pids, problem = _ps_options(invocation.args[1:])
    if problem:
        await invocation.err(f"ps: {problem}\n")
        return 1
    own = Process(
        invocation.shell.jobs.new_pid(),
        invocation.shell.pid,
        _SHELL_USER,
        "ps",
        vsz=_PROGRAM_VSZ,
        rss=_PROGRAM_RSS,
    )
    shown = [
        process
        for process in [*_processes(system, invocation), own]
        if (process.pid in pids if pids else everything or process.user == _SHELL_USER)
    ]
    rows = [[_FIELDS[name][1](process) for name in fields] for process in shown]
    lines = [_row(fields, fields), *(_row(fields, row) for row in rows)]
    await invocation.out("".join(f"{line}\n" for line in lines))
    return 0 if shown else 1


def _row(fields: list[str], values: list[str]) -> str:
    parts = []
    for name, value in zip(fields, values, strict=True):
        width = _FIELDS[name][0]
        parts.append(value.ljust(-width) if width < 0 else value.rjust(width))
    return " ".join(parts).rstrip()


def _ps_options(words: list[str]) -> tuple[list[str], bool, set[int], str]:
    fields, everything, pids = list(_USUAL), False, set[int]()
    queue = iter(words)
    for word in queue:
        if word in ("-o", "-O", "-p", "-u", "-w"):
            value = next(queue, "")
            if word == "-o":
                fields = [name.partition("=")[0].upper() for name in value.split(",")]
            elif word == "-p":
                pids |= {_pid(text) for text in value.split(",")}
        elif word.startswith("-") and not word.startswith("--"):
            everything = everything or bool(set("Ae") & set(word))
            fields = list(_FULL) if "f" in word else fields
        else:
            pids |= {_pid(text) for text in word.split(",")}
    unknown = [name for name in fields if name not in _FIELDS]
    problem = f"bad -o {unknown[0]}; known fields: {', '.join(_FIELDS)}" if unknown else ""
    return fields, everything, pids, problem


def _pid(text: str) -> int:
    """Parse a pid; -1, which no process has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else -1


async def pidof(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the pids of the processes with these names."""
    names = [word for word in invocation.args[1:] if not word.startswith("-")]
    if not names:
        await invocation.err('pidof: Needs 1 argument (see "pidof --help")\n')
        return 1
    running = _processes(system, invocation)
    found = [str(process.pid) for process in running if process.name in names]
    if not found:
        return 1
    await invocation.out(" ".join(found) + "\n")
    return 0


def _processes(system: AndroidSystem, invocation: Invocation) -> list[Process]:
    """List what runs: the system's, the apps', and the programs that shells started."""
    adbd = system.processes.pid_of("adbd") or 1
    programs = [
        Process(program.pid, adbd, _SHELL_USER, program.name, vsz=_PROGRAM_VSZ, rss=_PROGRAM_RSS)
        for program in invocation.shell.jobs.programs()
    ]
    return [*running_processes(system), *programs]


async def pgrep(system: AndroidSystem, invocation: Invocation) -> int:
    """Print the pids of the processes whose names have this text in them."""
    _, names = _signal_and_words(invocation.args[1:])
    found = await _matching(system, invocation, names)
    await invocation.out("".join(f"{process.pid}\n" for process in found))
    return int(not found)


async def pkill(system: AndroidSystem, invocation: Invocation) -> int:
    """Send a signal to the processes whose names have this text in them."""
    number, names = _signal_and_words(invocation.args[1:])
    found = await _matching(system, invocation, names)
    if number is None:
        await invocation.err(f"pkill: Unknown signal '{invocation.args[1]}'\n")
        return 1
    for process in found:
        if not invocation.shell.jobs.send(process.pid, number):
            await invocation.err(f"pkill: {process.pid}: Operation not permitted\n")
    await _let_signals_arrive()
    return int(not found)


async def _matching(
    system: AndroidSystem, invocation: Invocation, words: list[str]
) -> list[Process]:
    texts = [word for word in words if word not in ("-f", "-l", "-x")]
    if len(texts) != 1:
        name = invocation.args[0]
        await invocation.err(f'{name}: Needs 1 argument (see "{name} --help")\n')
        return []
    exact = "-x" in words
    return [
        process
        for process in _processes(system, invocation)
        if (process.name == texts[0] if exact else texts[0] in process.name)
    ]


def _signal_and_words(words: list[str]) -> tuple[int | None, list[str]]:
    """Parse a leading signal, by name or number; None for an unknown one."""
    if words[:1] == ["-s"]:
        return signal_number("".join(words[1:2])), words[2:]
    if words and words[0][:1] == "-" and words[0] not in ("-f", "-l", "-x"):
        return signal_number(words[0][1:]), words[1:]
    return TERMINATE, words


async def kill(system: AndroidSystem, invocation: Invocation) -> int:
    """Signal processes; only those of the shell's user can be ended."""
    words = invocation.args[1:]
    if words[:1] == ["-l"]:
        await invocation.out(" ".join(NAMES) + "\n")
        return 0
    number, words = _signal_and_words(words)
    if not words:
        await invocation.err("/system/bin/sh: usage: kill [-s signame | -signum | -signame]\n")
        return 1
    if number is None:
        await invocation.err(f"/system/bin/sh: kill: bad signal '{invocation.args[1]}'\n")
        return 1
    failed = False
    running = {process.pid for process in running_processes(system)}
    for word in words:
        pid = _pid(word)
        if invocation.shell.jobs.send(pid, number):
            continue
        failed = True
        problem = "Operation not permitted" if pid in running else "No such process"
        if pid < 0:
            problem = "Arguments must be process IDs"
        await invocation.err(f"/system/bin/sh: kill: {word}: {problem}\n")
    await _let_signals_arrive()
    return int(failed)


async def _let_signals_arrive() -> None:
    """Let a shell that signalled itself end here, before its next command."""
    await asyncio.sleep(0)
