"""The adb servers that run on this computer, and which of them take USB devices."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePath

from pytest_clawperator.transport.server import DEFAULT_PORT

_PROCESSES = Path("/proc")
_LISTED_WITHIN = 5.0
_PROGRAMS = ("adb", "adb.exe")
_PORT = re.compile(r"(?:\w+:)*(\d{1,5})")


@dataclass(frozen=True)
class RunningServer:
    """A process that is an adb server; ``takes_usb`` unless it was told to use one device only."""

    pid: int
    port: int | None
    takes_usb: bool


def running_servers() -> list[RunningServer]:
    """List the adb servers of this computer; none where processes cannot be listed."""
    found = (as_server(pid, words) for pid, words in _processes())
    return [server for server in found if server is not None]


def as_server(pid: int, words: Sequence[str]) -> RunningServer | None:
    """Return the server that a command line starts; None if it starts none."""
    if not words or PurePath(words[0]).name not in _PROGRAMS:
        return None
    if not {"server", "fork-server"} & set(words[1:]):
        return None
    return RunningServer(pid, _port(words), takes_usb="--one-device" not in words)


def _port(words: Sequence[str]) -> int | None:
    for option, value in pairwise(words[1:]):
        if option in ("-P", "-L"):
            found = _PORT.fullmatch(value)
            # `acceptfd:3` names an open file, and no port.
            return int(found[1]) if found and not value.startswith("acceptfd:") else None
    return DEFAULT_PORT


def _processes() -> Iterator[tuple[int, list[str]]]:
    if (_PROCESSES / "self" / "cmdline").exists():
        for folder in _PROCESSES.glob("[0-9]*"):
            with suppress(OSError):  # it may end in between
                text = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
                yield int(folder.name), text.rstrip("\0").split("\0")
        return
    try:
        listed = subprocess.run(
            ["ps", "-axo", "pid=,args="],  # noqa: S607 - wherever the system has it
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LISTED_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in listed.stdout.decode("utf-8", "replace").splitlines():
        pid, _, command = line.strip().partition(" ")
        if pid.isdecimal():
            yield int(pid), command.split()
