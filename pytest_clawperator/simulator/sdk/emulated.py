"""A running emulator: one simulated phone with its console, from the boot to the end."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.fault_switch import parse_fault
from pytest_clawperator.simulator.phone.options import DeviceOptions
from pytest_clawperator.simulator.screen.app_files.load import load_app, shipped_apps
from pytest_clawperator.simulator.sdk.avd_files import USER_DATA, AvdFiles
from pytest_clawperator.simulator.sdk.device_profiles import DEVICE_PROFILES
from pytest_clawperator.simulator.sdk.held_file import HeldFile, wait_for_end
from pytest_clawperator.simulator.sdk.registration import keep_registered
from pytest_clawperator.simulator.sdk.scenario import EmulatorScenario, Scenario
from pytest_clawperator.simulator.sdk.snapshots import Snapshots, read_state, write_state
from pytest_clawperator.simulator.sdk.tools.command_line import FIRST_PORT, LAST_PORT, StartRequest
from pytest_clawperator.simulator.sdk.tree import adb_address, session_file
from pytest_clawperator.simulator.wire.adbd import Adbd
from pytest_clawperator.simulator.wire.console import Console, ConsoleRefusal

_QUICK_BOOT = "default_boot"
_MOST_PORTS = LAST_PORT + 2 - FIRST_PORT
_MODELS = {"x86_64": "sdk_gphone64_x86_64", "x86": "sdk_gphone_x86"}


def run_emulator(
    sdk: Path, scenario: Scenario, request: StartRequest, avd: AvdFiles, record: HeldFile
) -> int:
    """Run an emulator until it is ended; return its exit code."""
    emulator = Emulated(sdk, scenario, request, avd)
    return asyncio.run(emulator.run(record))


class Emulated:
    """One emulator; the console calls what is public here."""

    def __init__(self, sdk: Path, scenario: Scenario, request: StartRequest, avd: AvdFiles) -> None:
        self._sdk = sdk
        self._scenario = scenario.of_emulator(avd.name)
        self._first_port = scenario.first_port & ~1
        self._request = request
        self._avd = avd
        self._snapshots = Snapshots(avd.folder)
        self._stopped = asyncio.Event()
        self._booted = False
        self._registering: asyncio.Task[None] | None = None
        self._began = time.monotonic()
        self._device = Device(_options_of(avd, self._scenario))
        self._adbd = Adbd(self._device)
        self._adbd.is_expecting = False  # until it has told adb of itself
        self._device.cable.disconnect = self._adbd.drop_connections
        self._console = Console(avd_name=avd.name, on_kill=self._killed, device=self)

    # -- What the console asks for -----------------------------------------------------------

    @property
    def path(self) -> str:
        """The folder of its files."""
        return str(self._avd.folder)

    def check_kill(self) -> None:
        """Raise if it does not let itself be ended."""
        if self._scenario.kill == "refused":
            raise ConsoleRefusal("emulator is busy, try again later")

    def list_snapshots(self) -> list[str]:
        """Return a line for each snapshot."""
        return self._snapshots.lines()

    async def save_snapshot(self, name: str) -> None:
        """Save the state of the phone."""
        await asyncio.sleep(self._scenario.snapshot_seconds)
        if self._scenario.snapshot_failure == "save":
            raise ConsoleRefusal(f"Failed to save snapshot '{name}'")
        self._snapshots.save(name, self._device.kept())

    async def load_snapshot(self, name: str) -> None:
        """Go back to a saved state; hosts have to connect again, and adb does so by itself."""
        state = self._snapshots.load(name)
        await asyncio.sleep(self._scenario.snapshot_seconds)
        if self._scenario.snapshot_failure == "load":
            raise ConsoleRefusal(f"Failed to load snapshot '{name}'")
        self._device.bring_back(state)
        await asyncio.sleep(0)  # in this turn the connections are closed: before the answer

    def delete_snapshot(self, name: str) -> None:
        """Delete a saved state."""
        self._snapshots.delete(name)

    def _killed(self) -> None:
        if self._scenario.kill == "works":
            self._stopped.set()

    # -- From the start to the end -----------------------------------------------------------

    async def run(self, record: HeldFile) -> int:
        """Run until it is ended; return the exit code."""
        self._watch_ends()
        ports = await self._listen()
        if ports is None:
            _say("ERROR", "It seems too many emulator instances are running on this machine."
                 " Aborting.")  # fmt: skip
            return 1
        console_port, adb_port = ports
        record.write({"pid": os.getpid(), "avd": self._avd.name, "port": console_port})
        _say("INFO", f"Serial number of this emulator (for ADB): emulator-{console_port}")
        booting = asyncio.create_task(self._boot(adb_port))
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({booting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if booting.done():
            booting.result()
        await self._stopped.wait()
        booting.cancel()
        await self._end()
        return 0

    def _watch_ends(self) -> None:
        """End on signals, and when the SDK that started it is there no more."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopped.set)

        def watch() -> None:
            wait_for_end(session_file(self._sdk))
            loop.call_soon_threadsafe(self._stopped.set)

        threading.Thread(target=watch, name="session", daemon=True).start()

    async def _listen(self) -> tuple[int, int] | None:
        """Take the ports that were asked for, or the first two that are free."""
        request = self._request
        if request.port is not None and request.adb_port is not None:
            return await self._take(request.port, request.adb_port)
        for port in range(self._first_port, self._first_port + _MOST_PORTS, 2):
            taken = await self._take(port, port + 1)
            if taken is not None:
                return taken
        return None

    async def _take(self, port: int, adb_port: int) -> tuple[int, int] | None:
        try:
            await self._console.start(port=port)
        except OSError:
            return None
        try:
            await self._adbd.start(port=adb_port)
        except OSError:
            await self._console.stop()
            return None
        return port, adb_port

    async def _boot(self, adb_port: int) -> None:
        """Go through the stages of a boot, as far as the scenario says."""
        scenario = self._scenario
        is_quick = self._bring_back()
        is_offline = scenario.never == "connects" or (scenario.offline_seconds and not is_quick)
        for fault in ("booting", "offline") if is_offline else ("booting",):
            self._device.set_fault(parse_fault([fault]))
        await self._device.start()
        self._crash_at("started")
        await asyncio.sleep(scenario.register_seconds)
        if scenario.never == "registers":
            return
        self._registering = asyncio.create_task(
            keep_registered(self._adbd, adb_port=adb_port, server=adb_address(self._sdk))
        )
        self._crash_at("registered")
        await asyncio.sleep(scenario.offline_seconds if is_offline else 0)
        if scenario.never == "connects":
            return
        self._device.clear_faults("offline")
        self._crash_at("booting")
        await asyncio.sleep(scenario.quick_boot_seconds if is_quick else scenario.boot_seconds)
        if scenario.never == "boots":
            return
        self._device.clear_faults("booting")
        for fault in scenario.faults:
            self._device.set_fault(parse_fault(fault.split()))
        self._booted = True
        _say("INFO", f"Boot completed in {(time.monotonic() - self._began) * 1000:.0f} ms")
        self._crash_at("booted")

    def _bring_back(self) -> bool:
        """Put the phone into the state that was kept; return whether it need not boot."""
        request = self._request
        if request.snapshot in self._snapshots.names():
            _say("INFO", f"Loading snapshot '{request.snapshot}'...")
            self._device.bring_back(self._snapshots.load(request.snapshot))
            return True
        user_data = read_state(self._avd.folder / USER_DATA)
        if user_data is not None and not request.wipes_data:
            self._device.bring_back(user_data, running=False)
        return False

    def _crash_at(self, stage: str) -> None:
        if self._scenario.crash == stage:
            _say("FATAL", "the emulator crashed, as its scenario says")
            os.kill(os.getpid(), signal.SIGKILL)

    async def _end(self) -> None:
        """Keep what outlives the emulator, and end everything."""
        await asyncio.sleep(self._scenario.end_seconds)
        if not self._request.read_only:
            state = self._device.kept()
            write_state(self._avd.folder / USER_DATA, state)
            if self._request.saves_snapshot and self._booted:
                _say("INFO", f"Saving state on exit with session uptime 0 ms: {_QUICK_BOOT}")
                self._snapshots.save(_QUICK_BOOT, state)
        if self._registering is not None:
            self._registering.cancel()
        await self._console.stop()
        await self._adbd.stop()
        await self._device.stop()


def _options_of(avd: AvdFiles, scenario: EmulatorScenario) -> DeviceOptions:
    config = avd.config
    profile = DEVICE_PROFILES.get(config.get("hw.device.name", ""), DEVICE_PROFILES["medium_phone"])
    api = config["image.sysdir.1"].split("/")[1].removeprefix("android-")
    width = int(config.get("hw.lcd.width", profile.width))
    height = int(config.get("hw.lcd.height", profile.height))
    try:
        apps = tuple(load_app(Path(path)) for path in scenario.apps)
    except ConfigurationError as error:
        _say("ERROR", str(error))
        raise
    return DeviceOptions(
        serial_number="EMULATOR35X4X9X0",
        model=_MODELS.get(config.get("abi.type", ""), "sdk_gphone64_arm64"),
        avd_name=avd.name,
        image=config["image.sysdir.1"],
        api=int(api),
        size=(width, height),
        density=int(config.get("hw.lcd.density", profile.density)),
        apps=(*shipped_apps(), *apps),
        operator=scenario.operator,  # type: ignore[arg-type]  # the scenario was checked
        time_scale=scenario.time_scale,
        seed=random.SystemRandom().getrandbits(32),
    )


def _say(level: str, text: str) -> None:
    stream = sys.stdout if level == "INFO" else sys.stderr
    print(f"{level:<8}| {text}", file=stream, flush=True)
