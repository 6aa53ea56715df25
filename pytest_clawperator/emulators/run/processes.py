"""The processes of virtual devices, emulators and tools: whether one still runs, and ending it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

_GRACE = 10.0
# No system tells of the end of processes that are not children, which these may be.
_POLL = 0.05


def read_pid(path: Path) -> int | None:
    """Read the id that a process wrote of itself."""
    try:
        text = path.read_text("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() and int(text) > 1 else None


def belongs_to(pid: int, avd_name: str) -> bool:
    """Whether this process is of this virtual device; ids are used again.

    An emulator has ``@NAME`` on its command line, ``avdmanager`` has ``--name NAME``.
    """
    words = _command(pid).split()
    return f"@{avd_name}" in words or ("--name", avd_name) in pairwise(words)


def end(
    pid: int,
    avd_name: str,
    *,
    ask: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """End a process and wait for it: ask it to end, then make it.

    ``ask`` returns whether it was heard: an emulator that has just started listens to nobody.
    """
    for step in (ask, partial(_signal, pid, signal.SIGTERM), partial(_signal, pid, signal.SIGKILL)):
        if not belongs_to(pid, avd_name):
            return
        deadline = clock() + (_GRACE if step() else 0.0)
        while belongs_to(pid, avd_name) and clock() < deadline:
            _reap(pid)
            pause(_POLL)


def _signal(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _reap(pid: int) -> None:
    """Take note of the end of a process that this one started; others are not ours to wait for."""
    with suppress(ChildProcessError, OSError):
        os.waitpid(pid, os.WNOHANG)


def _command(pid: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    except OSError:
        return ""
    with suppress(OSError, subprocess.TimeoutExpired):
        asked = subprocess.run(  # noqa: S603 - no text of others
            ["/bin/ps", "-o", "command=", "-p", str(pid)],
            capture_output=True,
            timeout=_GRACE,
            check=False,
        )
        return asked.stdout.decode(errors="replace")
    return ""
