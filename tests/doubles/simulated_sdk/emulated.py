"""A running emulator: one simulated phone with its console, from the boot to the end."""

from __future__ import annotations

import asyncio
import os
import pickle
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_clawperator.simulator.apps.load import shipped_apps
from pytest_clawperator.simulator.faults import parse_fault
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from pytest_clawperator.simulator.wire.adbd import Adbd
from tests.doubles.simulated_sdk.emulator import FIRST_PORT, LAST_PORT, StartRequest
from tests.doubles.simulated_sdk.files import (
    USER_DATA,
    AvdFiles,
    HeldFile,
    holder_of,
    session_file,
    wait_for_end,
)
from tests.doubles.simulated_sdk.kept_phone import bring_back, keep
from tests.doubles.simulated_sdk.scenario import EmulatorScenario, Scenario

_QUICK_BOOT = "default_boot"
_MOST_PORTS = LAST_PORT + 2 - FIRST_PORT
_MODELS = {"x86_64": "sdk_gphone64_x86_64", "x86": "sdk_gphone_x86"}
_STATE = "state"


def run_phone(
    sdk: Path, scenario: Scenario, request: StartRequest, avd: AvdFiles, record: HeldFile
) -> int:
    """Run an emulator until it is ended; return its exit code."""
    return asyncio.run(Emulated(sdk, scenario, request, avd).run(record))


class Emulated:
    """One emulator; the console uses its public methods."""

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
        self._adbd = ExpectingAdbd(self._device)
        self._device.cable.disconnect = self._adbd.drop_connections
        self._console = Console(self)

    # -- What the console asks for -----------------------------------------------------------

    @property
    def avd_name(self) -> str:
        """The name of the virtual device."""
        return self._avd.name

    @property
    def path(self) -> str:
        """The folder of its files."""
        return str(self._avd.folder)

    def kill(self) -> None:
        """End it, as far as the scenario lets it."""
        if self._scenario.kill == "refused":
            raise ConsoleRefusal("emulator is busy, try again later")
        if self._scenario.kill == "works":
            asyncio.get_running_loop().call_soon(self._stopped.set)  # after the answer

    def list_snapshots(self) -> list[str]:
        """Return the lines of the table of snapshots."""
        return self._snapshots.table()

    async def save_snapshot(self, name: str) -> None:
        """Save the state of the phone."""
        if self._scenario.snapshot_failure == "save":
            raise ConsoleRefusal(f"Failed to save snapshot '{name}'")
        self._snapshots.save(name, keep(self._device))

    async def load_snapshot(self, name: str) -> None:
        """Go back to a saved state; hosts have to connect again, and adb does so by itself."""
        state = self._snapshots.load(name)
        if self._scenario.snapshot_failure == "load":
            raise ConsoleRefusal(f"Failed to load snapshot '{name}'")
        bring_back(self._device, state)
        await asyncio.sleep(0)  # in this turn the connections are closed: before the answer

    def delete_snapshot(self, name: str) -> None:
        """Delete a saved state."""
        self._snapshots.delete(name)

    # -- From the start to the end -----------------------------------------------------------

    async def run(self, record: HeldFile) -> int:
        """Run until it is ended; return the exit code."""
        self._watch_ends()
        ports = await self._listen()
        if ports is None:
            _print("ERROR", "It seems too many emulator instances are running on this machine."
                 " Aborting.")  # fmt: skip
            return 1
        console_port, adb_port = ports
        record.write({"pid": os.getpid(), "avd": self._avd.name, "port": console_port})
        _print("INFO", f"Serial number of this emulator (for ADB): emulator-{console_port}")
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
        """End on signals, and when the session of the SDK has ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopped.set)

        def watch() -> None:
            wait_for_end(session_file(self._sdk))
            loop.call_soon_threadsafe(self._stopped.set)

        threading.Thread(target=watch, name="session", daemon=True).start()

    async def _listen(self) -> tuple[int, int] | None:
        """Take the ports that were asked for, or the first two that are free."""
        if self._request.port is not None:
            return await self._take(self._request.port)
        for port in range(self._first_port, self._first_port + _MOST_PORTS, 2):
            taken = await self._take(port)
            if taken is not None:
                return taken
        return None

    async def _take(self, port: int) -> tuple[int, int] | None:
        try:
            await self._console.start(port=port)
            await self._adbd.start(port=port + 1)
        except OSError:
            await self._console.stop()
            return None
        return port, port + 1

    async def _boot(self, adb_port: int) -> None:
        """Go through the stages of a boot, as far as the scenario allows."""
        scenario = self._scenario
        is_quick = self._bring_back()
        is_offline = scenario.never == "connects" or (scenario.offline_seconds and not is_quick)
        for fault in ("booting", "offline") if is_offline else ("booting",):
            self._device.set_fault(parse_fault([fault]))
        await self._device.start()
        if scenario.never == "registers":
            return
        self._registering = asyncio.create_task(
            keep_registered(self._adbd, adb_port=adb_port, server=_adb_address(self._sdk))
        )
        await asyncio.sleep(scenario.offline_seconds if is_offline else 0)
        if scenario.never == "connects":
            return
        self._device.clear_faults("offline")
        if scenario.crash:
            os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(scenario.quick_boot_seconds if is_quick else scenario.boot_seconds)
        if scenario.never == "boots":
            return
        self._device.clear_faults("booting")
        self._booted = True
        _print("INFO", f"Boot completed in {(time.monotonic() - self._began) * 1000:.0f} ms")

    def _bring_back(self) -> bool:
        """Restore the saved state of the phone; return whether this replaces the boot."""
        request = self._request
        if request.snapshot in self._snapshots.names():
            _print("INFO", f"Loading snapshot '{request.snapshot}'...")
            bring_back(self._device, self._snapshots.load(request.snapshot))
            return True
        user_data = read_state(self._avd.folder / USER_DATA)
        if user_data is not None:
            bring_back(self._device, user_data, running=False)
        return False

    async def _end(self) -> None:
        """Save what outlives the emulator, and end everything."""
        state = keep(self._device)
        write_state(self._avd.folder / USER_DATA, state)
        if self._request.saves_snapshot and self._booted:
            self._snapshots.save(_QUICK_BOOT, state)
        if self._registering is not None:
            self._registering.cancel()
        await self._console.stop()
        await self._adbd.stop()
        await self._device.stop()


def _options_of(avd: AvdFiles, scenario: EmulatorScenario) -> DeviceOptions:
    config = avd.config
    return DeviceOptions(
        serial_number="EMULATOR35X4X9X0",
        model=_MODELS.get(config["abi.type"], "sdk_gphone64_arm64"),
        avd_name=avd.name,
        image=config["image.sysdir.1"],
        api=int(config["image.sysdir.1"].split("/")[1].removeprefix("android-")),
        size=(int(config["hw.lcd.width"]), int(config["hw.lcd.height"])),
        density=int(config["hw.lcd.density"]),
        apps=tuple(shipped_apps()),
        operator=scenario.operator,  # type: ignore[arg-type]  # the scenario is read from a file
        time_scale=scenario.time_scale,
        seed=random.SystemRandom().getrandbits(32),
    )


def _print(level: str, text: str) -> None:
    stream = sys.stdout if level == "INFO" else sys.stderr
    print(f"{level:<8}| {text}", file=stream, flush=True)


# -- The console: a text protocol on the even port beside adbd's odd one -------------------------

_GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
_MAX_LINE = 4096


class ConsoleRefusal(Exception):
    """A command that failed; the text is the reason."""


class Console:
    """Answers the console commands of one emulator; any authentication token is accepted."""

    def __init__(self, device: Emulated) -> None:
        self._device = device
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[None]] = set()

    async def start(self, *, port: int) -> None:
        """Listen on a port of the loopback interface."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port, limit=_MAX_LINE)

    async def stop(self) -> None:
        """Stop listening and end every session."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for session in self._sessions:
            session.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._sessions.add(session)
        session.add_done_callback(self._sessions.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # adb prints what follows the second OK: that of a successful ``auth``. Where the user has
        # no token it sends none, so the second OK then comes with the first answer.
        owes_second_ok = not _token_path().is_file()
        try:
            writer.write(_GREETING.encode())
            while (line := await reader.readline()).endswith(b"\n"):
                command = line.decode("utf-8", "replace").split()
                if command[:1] == ["auth"]:
                    writer.write(_GREETING.encode())
                    continue
                if command in (["quit"], ["exit"]):
                    break
                answer = await self._answer(command)
                writer.write((("OK\r\n" if owes_second_ok else "") + answer).encode())
                owes_second_ok = False
                await writer.drain()
        except (OSError, ValueError):
            pass  # the client is gone, or sent a line without end
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, command: list[str]) -> str:
        device = self._device
        try:
            if command == ["kill"]:
                device.kill()
                return "OK: killing emulator, bye bye\r\nOK\r\n"
            if command == ["avd", "name"]:
                return f"{device.avd_name}\r\nOK\r\n"
            if command == ["avd", "path"]:
                return f"{device.path}\r\nOK\r\n"
            if command[:2] == ["avd", "snapshot"]:
                return await self._snapshot(command[2:])
        except ConsoleRefusal as refusal:
            return f"KO: {refusal}\r\n"
        return "KO: unknown command, try 'help'\r\n"

    async def _snapshot(self, command: list[str]) -> str:
        device = self._device
        if command == ["list"]:
            return "".join(f"{line}\r\n" for line in [*device.list_snapshots(), "OK"])
        if len(command) != 2:
            return "KO: argument missing, try 'avd snapshot <command> <name>'\r\n"
        if command[0] == "save":
            await device.save_snapshot(command[1])
        elif command[0] == "load":
            await device.load_snapshot(command[1])
        elif command[0] in ("del", "delete"):
            device.delete_snapshot(command[1])
        else:
            return "KO: bad sub-command\r\n"
        return "OK\r\n"


def _token_path() -> Path:
    return Path("~/.emulator_console_auth_token").expanduser()


# -- Snapshots -----------------------------------------------------------------------------------


class Snapshots:
    """The saved states in the folder of a virtual device, each in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "snapshots"

    def names(self) -> list[str]:
        """Return the names, the oldest first."""
        states = sorted(self._folder.glob(f"*/{_STATE}"), key=lambda path: path.stat().st_mtime)
        return [path.parent.name for path in states]

    def table(self) -> list[str]:
        """Return the table that the console prints."""
        names = self.names()
        if not names:
            return ["There is no snapshot available."]
        rows = [
            f"--        {name:<20}        1K  2026-01-01 00:00:00   00:00:00.000" for name in names
        ]
        return ["List of snapshots present on all disks:", "ID        TAG", *rows]

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Save a state, replacing one of that name."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        write_state(folder / _STATE, state)

    def load(self, name: str) -> dict[str, Any]:
        """Return a state; raise if there is none of that name."""
        state = read_state(self._folder / name / _STATE)
        if state is None:
            raise ConsoleRefusal(f"Device 'cache' does not have the requested snapshot '{name}'")
        return state

    def delete(self, name: str) -> None:
        """Remove a state; raise if there is none of that name."""
        self.load(name)
        shutil.rmtree(self._folder / name)


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state atomically."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(pickle.dumps(state))
    unfinished.replace(path)


def read_state(path: Path) -> dict[str, Any] | None:
    """Read a state; return None if there is none."""
    try:
        state: dict[str, Any] = pickle.loads(path.read_bytes())
    except OSError:
        return None
    return state


# -- Registration with the adb server ------------------------------------------------------------

# There is no signal for an adb server that is up again.
_POLL_SECONDS = 0.05
_ANSWER_DEADLINE = 2.0
# After so many polls a server has noticed that it was disconnected.
_NOTICED_AFTER = 20
_LONGEST_ANSWER = 65536


class ExpectingAdbd(Adbd):
    """Lets hosts in only while one is expected; those that are connected stay."""

    is_expecting = False

    @property
    def has_hosts(self) -> bool:
        """Whether a host is connected."""
        return bool(self._connections)

    def _answer(self) -> asyncio.Protocol:
        return super()._answer() if self.is_expecting else _Closed()


class _Closed(asyncio.Protocol):
    """Ends a connection as soon as it is made."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


async def keep_registered(adbd: ExpectingAdbd, *, adb_port: int, server: tuple[str, int]) -> None:
    """Register the emulator whenever the server is not connected; turn other servers away.

    For a minute a server keeps calling a port where an emulator was, so the server of another
    simulated SDK may call here.
    """
    polls = 0
    while True:
        polls = 0 if adbd.has_hosts else polls + 1
        if polls:
            # A server that was just disconnected may have yet to notice that.
            register = _register(adbd, adb_port, server, wait_for_notice=polls < _NOTICED_AFTER)
            with suppress(OSError, EOFError, asyncio.TimeoutError):
                await asyncio.wait_for(register, _ANSWER_DEADLINE)
        await asyncio.sleep(_POLL_SECONDS)


async def _register(
    adbd: ExpectingAdbd, adb_port: int, server: tuple[str, int], *, wait_for_notice: bool
) -> None:
    if wait_for_notice and await _is_known(server, adb_port):
        return
    adbd.is_expecting = True
    try:
        await _ask(server, f"host:emulator:{adb_port}")
    finally:
        adbd.is_expecting = False
    if not await _is_known(server, adb_port):
        adbd.drop_connections()  # it was another server that called in that moment


async def _is_known(server: tuple[str, int], adb_port: int) -> bool:
    return f"emulator-{adb_port - 1}\t" in await _ask(server, "host:devices")


async def _ask(server: tuple[str, int], request: str) -> str:
    """Send a request and return the answer; some requests have none."""
    reader, writer = await asyncio.open_connection(*server)
    try:
        writer.write(b"%04x" % len(request) + request.encode())
        return (await reader.read(_LONGEST_ANSWER)).decode("utf-8", "replace")
    finally:
        writer.close()


def _adb_address(sdk: Path) -> tuple[str, int]:
    """Return the address of the adb server: that of the environment, else that of this SDK."""
    port = os.environ.get("ANDROID_ADB_SERVER_PORT", "")
    if port.isdecimal():
        return "127.0.0.1", int(port)
    return "127.0.0.1", int((holder_of(session_file(sdk)) or {}).get("adb_port", 5037))
