"""``dumpsys meminfo`` and ``dumpsys gfxinfo``: what processes need."""

from __future__ import annotations

from pytest_clawperator.simulator.android.managers.app_processes import running_processes
from pytest_clawperator.simulator.android.state.hardware import FREE_KB, MEMORY_KB
from pytest_clawperator.simulator.android.state.process_table import Process
from pytest_clawperator.simulator.android.system import AndroidSystem

# How a process's memory is divided, in hundredths of the whole.
_PARTS = (("Native Heap", 30), ("Dalvik Heap", 25), ("EGL mtrack", 15), ("Unknown", 30))
_HEADING = (
    "                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap\n"
    "                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free\n"
    "                ------   ------   ------   ------   ------   ------   ------   ------\n"
)


def dump_meminfo(system: AndroidSystem, words: list[str]) -> str:
    """Print the memory of one process, by name or number, or of all."""
    title = f"Applications Memory Usage (in Kilobytes):\n{_uptime(system)}"
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return title + _all_memory(running_processes(system))
    process = _process(system, names[0])
    if process is None:
        return f"No process found for: {names[0]}\n"
    total = process.rss * 2 // 3
    rows = "".join(_memory_row(name, total * share // 100) for name, share in _PARTS)
    return (
        f"{title}\n** MEMINFO in pid {process.pid} [{process.name}] **\n{_HEADING}{rows}"
        f"{_memory_row('TOTAL', total)}\n App Summary\n"
        f"           TOTAL PSS:{total:>9}            TOTAL RSS:{process.rss:>9}"
        "       TOTAL SWAP PSS:        0\n"
    )


def dump_gfxinfo(system: AndroidSystem, words: list[str]) -> str:
    """Print how fast a process draws."""
    title = f"Applications Graphics Acceleration Info:\n{_uptime(system)}"
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return title
    process = _process(system, names[0])
    if process is None:
        return f"No process found for: {names[0]}\n"
    return (
        f"{title}\n** Graphics info for pid {process.pid} [{process.name}] **\n\n"
        "Total frames rendered: 120\nJanky frames: 3 (2.50%)\n"
        "50th percentile: 8ms\n90th percentile: 12ms\n95th percentile: 15ms\n"
        "99th percentile: 24ms\nNumber Missed Vsync: 1\nNumber High input latency: 0\n"
        "Number Slow UI thread: 2\nNumber Slow bitmap uploads: 0\n"
        "Number Slow issue draw commands: 1\n"
    )


def _uptime(system: AndroidSystem) -> str:
    seconds = float(system.files.read("/proc/uptime").split()[0])
    return f"Uptime: {seconds * 1000:.0f} Realtime: {seconds * 1000:.0f}\n"


def _process(system: AndroidSystem, word: str) -> Process | None:
    running = running_processes(system)
    return next((each for each in running if word in (each.name, str(each.pid))), None)


def _memory_row(name: str, size: int) -> str:
    numbers = (size, size * 3 // 4, size // 8, 0, size * 3 // 2, size, size * 2 // 3, size // 3)
    return f"{name:>13}   " + " ".join(f"{number:>8}" for number in numbers)[2:] + "\n"


def _all_memory(processes: list[Process]) -> str:
    ordered = sorted(processes, key=lambda process: -process.rss)
    rows = "".join(f"{each.rss:>11,}K: {each.name} (pid {each.pid})\n" for each in ordered)
    return (
        f"\nTotal RSS by process:\n{rows}\n"
        f"Total RAM: {MEMORY_KB:>9,}K (status normal)\n Free RAM: {FREE_KB:>9,}K\n"
        f" Used RAM: {MEMORY_KB - FREE_KB:>9,}K\n"
    )
