"""The Android system of a simulated phone: the state that its commands read and change."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.packages import PackageStore
from pytest_clawperator.simulator.android.properties import Build, Properties
from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.stats import Stats

PID_LIMIT = 32768

# Name, user and parent's name of what runs on any phone, in the order of its start.
_SYSTEM = (
    ("init", "root", ""),
    ("kthreadd", "root", ""),
    ("ueventd", "root", "init"),
    ("logd", "logd", "init"),
    ("servicemanager", "system", "init"),
    ("vold", "root", "init"),
    ("zygote64", "root", "init"),
    ("surfaceflinger", "system", "init"),
    ("audioserver", "audioserver", "init"),
    ("netd", "root", "init"),
    ("adbd", "shell", "init"),
    ("system_server", "system", "zygote64"),
    ("com.android.systemui", "u0_a190", "zygote64"),
    ("com.android.phone", "radio", "zygote64"),
    ("com.google.android.inputmethod.latin", "u0_a116", "zygote64"),
    ("com.google.android.gms.persistent", "u0_a114", "zygote64"),
)


@dataclass(frozen=True)
class Process:
    """One process."""

    pid: int
    ppid: int
    user: str
    name: str
    vsz: int
    rss: int


class ProcessTable:
    """The processes of one phone; its pids come from the seed alone."""

    def __init__(self, *, rng: random.Random) -> None:
        self._rng = rng
        self._next_pid = 1
        self._by_pid: dict[int, Process] = {}
        self._by_name: dict[str, Process] = {}
        self.boot()

    def boot(self) -> None:
        """End everything and start what runs on any phone."""
        self._by_pid.clear()
        self._by_name.clear()
        self._next_pid = 1
        for name, user, parent in _SYSTEM:
            self.start(name, user=user, parent=parent)
            if name == "kthreadd":
                self._next_pid = self._rng.randrange(300, 500)

    def start(self, name: str, *, user: str, parent: str = "zygote64", pid: int = 0) -> Process:
        """Start a process, or return the running one; ``pid`` where it has one already."""
        running = self._by_name.get(name)
        if running is not None and pid in (0, running.pid):
            return running
        if running is not None:
            self.stop(name)
        process = Process(
            pid=pid or self._free_pid(),
            ppid=self._by_name[parent].pid if parent else 0,
            user=user,
            name=name,
            vsz=self._rng.randrange(10_000, 16_000) * 1000,
            rss=self._rng.randrange(60_000, 240_000),
        )
        self._by_pid[process.pid] = process
        self._by_name[name] = process
        return process

    def stop(self, name: str) -> None:
        """End a process, if it runs."""
        process = self._by_name.pop(name, None)
        if process is not None:
            self._by_pid.pop(process.pid, None)

    def pid_of(self, name: str) -> int | None:
        """Return a process's pid by its name."""
        process = self._by_name.get(name)
        return None if process is None else process.pid

    def all(self) -> list[Process]:
        """List everything that runs, by pid."""
        return [self._by_pid[pid] for pid in sorted(self._by_pid)]

    def _free_pid(self) -> int:
        pid = self._next_pid
        while pid in self._by_pid or pid >= PID_LIMIT:
            pid = pid + 1 if pid < PID_LIMIT else 1000
        low_numbers = pid < 3
        self._next_pid = pid + 1 if low_numbers else pid + self._rng.randrange(2, 40)
        return pid


@dataclass
class Display:
    """The panel, and what ``wm`` put over it."""

    size: tuple[int, int]
    density: int
    forced_size: tuple[int, int] | None = None
    forced_density: int | None = None
    awake: bool = True


class Operators(Protocol):
    """The Operator apps that run."""

    def pid_of(self, package: str) -> int | None:
        """Return the pid of an Operator that runs."""

    def start(self, package: str) -> None:
        """Start an Operator, unless it runs."""

    def stop(self, package: str) -> None:
        """End an Operator and whatever it is doing."""

    def crash(self, package: str, message: str) -> None:
        """Crash an Operator with an exception."""

    def receive(self, package: str, payload: str | None) -> None:
        """Deliver a command to an Operator, which is started if need be."""

    def on_back_key(self) -> None:
        """Notify the running Operators of the back key."""


class Camera(Protocol):
    """Takes pictures of the screen."""

    def png(self, *, dark: bool = False) -> Awaitable[bytes]:
        """Capture the screen now, or one that is off; the picture comes as PNG."""

    def png_beginning(self) -> bytes:
        """Return the PNG header, which a phone sends as soon as the screen is captured."""


@dataclass
class AndroidSystem:
    """One phone's state."""

    build: Build
    clock: Callable[[], float]
    rng: random.Random
    properties: Properties
    settings: SettingsStore
    packages: PackageStore
    processes: ProcessTable
    files: FileSystem
    log: LogBuffer
    ui: PhoneUi
    faults: Faults
    stats: Stats
    display: Display
    operators: Operators
    camera: Camera
    reboot: Callable[[], None]
    has_services: Callable[[], bool]
    quirks: frozenset[str] = frozenset()
    app_ops: dict[str, dict[str, str]] = field(default_factory=dict)
    standby_buckets: dict[str, int] = field(default_factory=dict)
    locales: dict[str, str] = field(default_factory=dict)
    allows_installs: bool = False

    @property
    def booting(self) -> bool:
        """Whether Android's services are not there yet."""
        return self.faults.active("booting") is not None or not self.has_services()
