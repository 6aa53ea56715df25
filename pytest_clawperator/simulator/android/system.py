"""The Android system of a simulated phone: the state that its commands read and change."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pytest_clawperator.simulator.android.state.build import Build
from pytest_clawperator.simulator.android.state.hardware import Battery, Display
from pytest_clawperator.simulator.android.state.packages import PackageStore
from pytest_clawperator.simulator.android.state.process_table import ProcessTable
from pytest_clawperator.simulator.android.state.properties import Properties
from pytest_clawperator.simulator.android.state.settings import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.log.buffer import LogBuffer
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.stats import Stats


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

    def bring_back(self, pids: Mapping[str, int | None]) -> None:
        """Let Operators run with the pids that they had, and no other."""


class Camera(Protocol):
    """Takes pictures of the screen."""

    def key(self) -> Hashable:
        """Return a value that changes whenever the picture may have changed."""

    def png(self, *, dark: bool = False) -> Awaitable[bytes]:
        """Capture the screen now, or one that is off; the picture comes as PNG."""

    def png_beginning(self) -> bytes:
        """Return what a picture of the screen begins with, whatever it shows."""

    async def jpeg(self, size: tuple[int, int]) -> bytes:
        """Return a picture of the screen fitted into that size, as JPEG."""


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
    battery: Battery = field(default_factory=Battery)
    app_ops: dict[str, dict[str, str]] = field(default_factory=dict)
    doze_exempt: set[str] = field(default_factory=set)
    standby_buckets: dict[str, int] = field(default_factory=dict)
    locales: dict[str, str] = field(default_factory=dict)
    install_sessions: dict[int, bytearray] = field(default_factory=dict)
    shade: Literal["", "notifications", "settings"] = ""
    allows_installs: bool = False
    lock_credential: str | None = None

    @property
    def booting(self) -> bool:
        """Whether Android's services are not there yet."""
        return self.faults.active("booting") is not None or not self.has_services()
