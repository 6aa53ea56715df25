"""One simulated phone: what adbd offers for it, and what can be done to it from outside."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable

from pytest_clawperator.simulator.android.commands import android_commands
from pytest_clawperator.simulator.android.log_buffer import (
    BUFFERS,
    SMALLEST_BUFFER,
    Chatter,
    LogBuffer,
)
from pytest_clawperator.simulator.android.logcat import make_log, make_logcat
from pytest_clawperator.simulator.android.packages import OPERATOR_PACKAGES
from pytest_clawperator.simulator.android.screen_capture import Camera
from pytest_clawperator.simulator.faults import LASTING_FAULTS, Fault, Faults, Stats
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.phone.factory import (
    DeviceOptions,
    Parts,
    Variant,
    as_sold,
    bind_services,
    build_system,
    features_of,
    install_operator_variant,
)
from pytest_clawperator.simulator.phone.network import Admission, Cable, Web
from pytest_clawperator.simulator.phone.power import Boot, Heartbeat
from pytest_clawperator.simulator.phone.sim_command import make_sim
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.service import serve_shell
from pytest_clawperator.simulator.shell.shell import Command, Invocation, Jobs, Shell
from pytest_clawperator.simulator.wire.forwarding import Sockets, serve_forward
from pytest_clawperator.simulator.wire.stream import ServiceRefused, Stream
from pytest_clawperator.simulator.wire.sync import serve_sync

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Priorities of log lines in rising order; S lets nothing through.
_LEVELS = "VDIWEFS"
_LEVEL_PROPERTIES = ("log.tag", "persist.log.tag")


class Device:
    """One phone; ``cable.disconnect`` is to be set to what drops the connections of its hosts."""

    def __init__(self, options: DeviceOptions, *, clock: Callable[[], float] = time.time) -> None:
        self.options = options = as_sold(options)
        # The whole phone goes by the Operator's time, so that what is shown "after 800 ms" is
        # there when the Operator has waited a second, however short its pauses are made.
        self._time = PhoneClock(clock, time_scale=options.time_scale)
        clock = self._time.seconds
        self.faults = Faults()
        self.cable = Cable(self.faults)
        self.stats = Stats(on_execution=self.cable.execution_started)
        self.log = LogBuffer(clock=clock)
        self.log.is_kept = self._is_logged
        if "log-small-buffer" in options.quirks:
            for name in BUFFERS:
                self.log.resize(name, SMALLEST_BUFFER)
        self.files = FileSystem(
            clock=clock, is_full=lambda: self.faults.active("storage_full") is not None
        )
        self.sockets = Sockets()
        self._web = Web(self.sockets)
        self.camera = Camera()
        self.chatter = Chatter(
            self.log,
            rng=random.Random(f"{options.seed}/chatter"),  # noqa: S311 - no secrets here
            rate=options.chatter,
            pid_of=lambda name: self.system.processes.pid_of(name),
        )
        self._commands: dict[str, Command] = {}
        self._jobs = Jobs()
        self._boot_chance = random.Random(f"{options.seed}/boots")  # noqa: S311 - no secrets here
        self._begin_boot()
        self.boot = Boot(
            self.cable,
            time_scale=options.time_scale,
            shut_down=self._shut_down,
            start_apps=lambda: bind_services(self.system),
        )
        self._heartbeat = Heartbeat(self._time, lambda: self.system.ui)
        self._build()
        self.banner = self.system.properties.banner()
        self.features = features_of(options)

    def _build(self) -> None:
        self.system, self.operators = build_system(
            self.options,
            Parts(
                time=self._time,
                files=self.files,
                log=self.log,
                faults=self.faults,
                stats=self.stats,
                camera=self.camera,
                fetch=self._web.fetch,
                boot=self.boot,
            ),
        )
        self.system.ui.watch_plan(self._heartbeat.plan_changed)
        self._heartbeat.plan_changed()
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

    def _begin_boot(self) -> None:
        """Start with a new boot id."""
        boot_id = uuid.UUID(int=self._boot_chance.getrandbits(128), version=4)
        self.files.provide(_BOOT_ID, f"{boot_id}\n".encode())

    def _is_logged(self, priority: str) -> bool:
        """Whether a line of this priority comes into the log."""
        values = (self.system.properties.get(name)[:1].upper() for name in _LEVEL_PROPERTIES)
        least = next((_LEVELS.index(value) for value in values if value and value in _LEVELS), 0)
        if "log-suppressed" in self.options.quirks or self.faults.active("log_suppressed"):
            least = max(least, _LEVELS.index("E"))
        return _LEVELS.index(priority) >= least

    @property
    def ui(self) -> PhoneUi:
        """Its screen."""
        return self.system.ui

    async def start(self) -> None:
        """Let other processes log, and time pass, from now on."""
        self._heartbeat.start()
        self.chatter.start()

    async def stop(self) -> None:
        """End everything that goes on in the phone."""
        await self._heartbeat.stop()
        await self.boot.stop()
        await self.chatter.stop()
        await self.operators.close()
        await self._web.stop()

    def admission(self) -> Admission:
        """Return the state in which a host connecting now sees the phone."""
        return self.cable.admission()

    async def serve(self, destination: str, stream: Stream) -> None:
        """Run one of adbd's services until it is done."""
        if not self.features:
            destination = _old_destination(destination)
        kind = destination.partition(":")[0].partition(",")[0]
        if kind in ("shell", "exec"):
            await serve_shell(destination, stream, self.make_shell)
        elif destination == "sync:":
            await serve_sync(stream, self.files)
        elif kind == "reboot":
            self.boot.begin()
            # As on a phone, the stream stays open until the connection drops.
            await asyncio.Event().wait()
        elif kind in ("tcp", "local", "localabstract", "localreserved", "localfilesystem"):
            await serve_forward(destination, stream, self.sockets)
        else:
            raise ServiceRefused(destination)

    def make_shell(self) -> Shell:
        """Return a new shell on the phone."""
        return Shell(self._commands, self.files, clock=self.log.now, jobs=self._jobs)

    def set_fault(self, fault: Fault) -> None:
        """Switch a fault on."""
        self.faults.add(fault)
        if fault.name == "log_cut":
            self.log.cut_streams()
        elif fault.name == "time_set_back":
            self.log.set_back(int(fault.options["s"]))
        elif fault.name in ("operator_absent", "operator_variant"):
            install_operator_variant(self.system, self._installed_variant())
        elif fault.name in LASTING_FAULTS:
            self.cable.pull_soon()
            self._clear_later(fault)
        elif fault.name == "disconnect" and fault.options["after"] == "now":
            self.faults.clear(fault.name)
            self.cable.pull_soon()

    def clear_faults(self, name: str | None = None) -> None:
        """Switch one fault off, or all of them; hosts that were kept out may connect again."""
        kept_out = self.admission() != "device"
        variant = self._installed_variant()
        self.faults.clear(name)
        if not self.faults.active("time_set_back"):
            self.log.set_right()
        if kept_out and self.admission() == "device":
            self.cable.pull_soon()
        if variant != self._installed_variant():
            install_operator_variant(self.system, self._installed_variant())

    def _clear_later(self, fault: Fault) -> None:
        """Clear a fault after its time: one that keeps hosts out cannot be cleared by a shell."""

        def clear() -> None:
            if self.faults.active(fault.name) is fault:
                self.clear_faults(fault.name)

        milliseconds = int(fault.options["ms"])
        if milliseconds:
            asyncio.get_running_loop().call_later(milliseconds / 1000, clear)

    def _installed_variant(self) -> Variant:
        """Return the variant of the Operator that the faults leave on the phone."""
        asked = self.options.operator
        if self.faults.active("operator_absent"):
            return "absent"
        if self.faults.active("operator_variant"):
            return "dev" if asked == "release" else "release"
        return asked

    def reset(self) -> None:
        """Set everything back as it was at the start; what is installed or written is lost."""
        self.clear_faults()
        for name in OPERATOR_PACKAGES:
            self.operators.stop(name)
        boot_id = self.files.read(_BOOT_ID)
        self.files.reset()
        self.files.provide(_BOOT_ID, boot_id)
        self._build()
        self.log.clear(BUFFERS)
        self.stats.reset()
        self.chatter.rate = self.options.chatter

    def _shut_down(self) -> None:
        """End what runs: files, settings and apps stay, nothing else does."""
        system = self.system
        for name in OPERATOR_PACKAGES:
            self.operators.stop(name)
        for name in system.ui.processes.running_packages():
            system.ui.processes.force_stop(name)
        system.ui.keys.home()
        system.processes.boot()
        system.display.awake = True
        self.log.clear(BUFFERS)
        self._begin_boot()


def _counted(name: str, command: Command, stats: Stats) -> Command:
    def count(invocation: Invocation) -> Awaitable[int]:
        stats.commands[name] += 1
        return command(invocation)

    return count


def _old_destination(destination: str) -> str:
    """Return what an old adbd makes of a service; raise for those that it does not know."""
    kind, colon, command = destination.partition(":")
    if kind.startswith("shell,"):
        raise ServiceRefused(destination)
    return f"shell,pty:{command}" if colon and kind == "shell" else destination
