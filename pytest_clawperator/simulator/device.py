"""One simulated phone: what adbd offers for it, and what can be done to it from outside."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Literal

from pytest_clawperator.simulator.android.assembly import (
    DeviceOptions,
    Variant,
    assemble,
    bind_services,
    clean_files,
    install_operator_variant,
)
from pytest_clawperator.simulator.android.commands import android_commands
from pytest_clawperator.simulator.android.package_store import OPERATOR_PACKAGES
from pytest_clawperator.simulator.android.picture import ScreenPicture
from pytest_clawperator.simulator.android.system import Battery
from pytest_clawperator.simulator.faults import Fault, Faults
from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.log.buffer import BUFFERS, LogBuffer
from pytest_clawperator.simulator.log.chatter import Chatter
from pytest_clawperator.simulator.log.log_command import make_log
from pytest_clawperator.simulator.log.logcat import make_logcat
from pytest_clawperator.simulator.operator.run import Profile
from pytest_clawperator.simulator.operator.time import OperatorClock
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.jobs import Jobs
from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Command, Shell
from pytest_clawperator.simulator.sim_command import LASTING_FAULTS, FaultRequest, make_sim
from pytest_clawperator.simulator.stats import Stats
from pytest_clawperator.simulator.wire.adbd import ServiceRefused, Stream
from pytest_clawperator.simulator.wire.sync import serve_sync

if TYPE_CHECKING:
    from pytest_clawperator.simulator.screen.ui import Ui
    from pytest_clawperator.simulator.shell.shell import Invocation

__all__ = ["Device", "DeviceOptions"]

# So that what was just answered leaves before the cable is pulled.
_ANSWER_SECONDS = 0.05
# So that an execution has begun, and its broadcast is acknowledged.
_EXECUTION_SECONDS = 0.002
_OPERATOR_FAULTS = ("operator_absent", "operator_variant")

# What adbd itself says on a phone that is no developer's.
_REPLIES = {
    "root:": "adbd cannot run as root in production builds\n",
    "unroot:": "adbd not running as root\n",
    "remount:": 'Not running as root. Try "adb root" first.\n',
    "disable-verity:": "verity cannot be disabled/enabled - USER build\n",
    "enable-verity:": "verity cannot be disabled/enabled - USER build\n",
}
_NO_REVERSE = "this simulated phone opens no connections to the host"


def _nothing() -> None:
    pass


class Device:
    """One phone; ``disconnect`` is to be set to what drops the connections of its hosts."""

    def __init__(self, options: DeviceOptions, *, clock: Callable[[], float] = time.time) -> None:
        self.options = options
        # The whole phone goes by the Operator's time, so that what is shown "after 800 ms" is
        # there when the Operator has waited a second, however short its pauses are made.
        self._time = OperatorClock(clock, time_scale=options.time_scale)
        clock = self._time.seconds
        self.disconnect: Callable[[], None] = _nothing
        self.faults = Faults()
        self.stats = Stats(on_execution=self._execution_started)
        self.log = LogBuffer(clock=clock)
        self.files = FileSystem(
            clock=clock, is_full=lambda: self.faults.active("storage_full") is not None
        )
        self._clock = clock
        self._commands: dict[str, Command] = {}
        self._jobs = Jobs()
        self._chatter = Chatter(
            self.log,
            rng=random.Random(f"{options.seed}/chatter"),  # noqa: S311 - no secrets here
            rate=options.chatter,
            pid_of=lambda name: self.system.processes.pid_of(name),
        )
        self._assemble()
        self.banner = self.system.properties.banner()

    def _assemble(self) -> None:
        self.system, self._operators = assemble(
            self.options,
            time=self._time,
            files=self.files,
            log=self.log,
            faults=self.faults,
            stats=self.stats,
            phone=self,
        )
        self._picture = ScreenPicture(self.system)
        commands = {
            **SHELL_COMMANDS,
            **android_commands(self.system),
            "log": make_log(self.log),
            "logcat": make_logcat(self.log, self.faults),
            "sim": make_sim(self),
        }
        # Shells that are open keep the table, and find the new commands in it.
        for name, command in commands.items():
            self._commands[name] = _counted(name, command, self.stats)

    @property
    def ui(self) -> Ui:
        """Its screen."""
        return self.system.ui

    @property
    def chatter_rate(self) -> float:
        """How many lines a second its other processes log; settable."""
        return self._chatter.rate

    @chatter_rate.setter
    def chatter_rate(self, value: float) -> None:
        self._chatter.rate = value

    @property
    def profile(self) -> Profile:
        """Whose habits its Operator has; settable."""
        return self._operators.profile

    @profile.setter
    def profile(self, value: Profile) -> None:
        self._operators.profile = value

    async def start(self) -> None:
        """Begin to live: what other processes log is logged from now on."""
        self._chatter.start()

    async def stop(self) -> None:
        """End everything that goes on in the phone."""
        await self._jobs.stop()
        await self._chatter.stop()
        await self._operators.close()

    def admission(self) -> Literal["device", "offline", "unauthorized"]:
        """Say how a host that connects now is received."""
        if self.faults.active("offline"):
            return "offline"
        return "unauthorized" if self.faults.active("unauthorized") else "device"

    async def serve(self, destination: str, stream: Stream) -> None:
        """Run one of adbd's services until it is done."""
        kind = destination.partition(":")[0].partition(",")[0]
        if kind in ("shell", "exec"):
            await serve_shell(destination, stream, self.make_shell)
        elif destination == "sync:":
            await serve_sync(stream, self.files)
        elif kind == "reboot":
            self.reboot()
        elif kind == "reverse":
            await stream.write(_reverse(destination.partition(":")[2]))
        elif destination in _REPLIES:
            await stream.write(_REPLIES[destination].encode())
        else:
            raise ServiceRefused(destination)

    def make_shell(self) -> Shell:
        """Give a new shell on the phone."""
        return Shell(self._commands, self.files, clock=self._clock, jobs=self._jobs)

    def screenshot_key(self) -> Hashable:
        """Give a value that is another one whenever a screenshot may be another one."""
        # The picture is another one after a reset, and what it counts begins anew.
        return self._picture, self._picture.key()

    async def screenshot(self) -> bytes:
        """Give a picture of the screen, as PNG."""
        return await self._picture.png()

    async def frame(self, size: tuple[int, int]) -> bytes:
        """Give a picture of the screen fitted into that size, as JPEG."""
        return await self._picture.jpeg(size)

    def set_fault(self, request: FaultRequest) -> Fault:
        """Let something go wrong from now on."""
        fault = self.faults.set(request.name, times=request.times, **request.options)
        if request.name == "log_cut":
            self.log.cut_streams()
        elif request.name in _OPERATOR_FAULTS:
            install_operator_variant(self.system, self._operator_variant())
        elif request.name in LASTING_FAULTS:
            self._disconnect_soon()
            self._clear_later(fault)
        elif request.name == "disconnect" and fault.options["after"] == "now":
            # It has happened; there is nothing left that could be cleared.
            self.faults.clear("disconnect")
            self._disconnect_soon()
        return fault

    def _clear_later(self, fault: Fault) -> None:
        """Let a fault end by itself: no shell can be had to clear one that keeps hosts out."""

        def clear() -> None:
            if self.faults.active(fault.name) is fault:
                self.clear_faults(fault.name)

        milliseconds = int(fault.options["ms"])
        if milliseconds:
            asyncio.get_running_loop().call_later(milliseconds / 1000, clear)

    def clear_faults(self, name: str | None = None) -> None:
        """Set one fault right, or all of them; hosts that were kept out may come back."""
        kept_out = self.admission() != "device"
        variant = self._operator_variant()
        self.faults.clear(name)
        if kept_out and self.admission() == "device":
            self._disconnect_soon()
        if variant != self._operator_variant():
            install_operator_variant(self.system, self._operator_variant())

    def _operator_variant(self) -> Variant:
        """Say which variant of the Operator the faults leave on the phone."""
        if self.faults.active("operator_absent"):
            return "absent"
        if self.faults.active("operator_variant"):
            return "dev" if self.options.operator == "release" else "release"
        return self.options.operator

    def reset(self) -> None:
        """Set everything back as it was at the start; what is installed or written is lost."""
        self.clear_faults()
        for name in OPERATOR_PACKAGES:
            self._operators.stop(name)
        clean_files(self.files)
        self._assemble()
        self.log.clear(BUFFERS)
        self.stats.reset()
        self.chatter_rate = self.options.chatter

    def reboot(self) -> None:
        """Go down and come up again: files, settings and apps stay, nothing else does."""
        system = self.system
        for name in OPERATOR_PACKAGES:
            self._operators.stop(name)
        for name in system.ui.running_packages():
            system.ui.force_stop(name)
        system.ui.home()
        system.processes.boot()
        system.install_sessions.clear()
        system.battery, system.display.awake, system.shade = Battery(), True, ""
        self.log.clear(BUFFERS)
        bind_services(system)
        self._disconnect_soon()

    def _execution_started(self) -> None:
        fault = self.faults.active("disconnect")
        if fault is not None and fault.options["after"] == "execution":
            self.faults.take("disconnect")
            self._disconnect_soon(_EXECUTION_SECONDS)

    def _disconnect_soon(self, seconds: float = _ANSWER_SECONDS) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # not yet running, so nobody is connected
            return
        loop.call_later(seconds, self.disconnect)


def _counted(name: str, command: Command, stats: Stats) -> Command:
    def count(invocation: Invocation) -> Awaitable[int]:
        stats.command(name)
        return command(invocation)

    return count


def _reverse(request: str) -> bytes:
    """Answer ``adb reverse``: nothing is forwarded, so there is nothing to list or to end."""
    if request == "list-forward":
        return b"0000"
    if request == "killforward-all":
        return b"OKAY"
    return f"FAIL{len(_NO_REVERSE):04x}{_NO_REVERSE}".encode()
