"""A simulated SDK for tests: its tools as processes, and the real adb."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import AdbHost, BootLimits
from pytest_clawperator.emulators.emulators import Emulators
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulated_sdk.files import (
    AvdFiles,
    holder_of,
    installed,
    list_avds,
    uninstall,
)
from tests.doubles.simulated_sdk.scenario import EmulatorScenario, Scenario
from tests.doubles.simulated_sdk.sdk import SimulatedSdk, end_emulators

DEADLINE = 20.0
IMAGE = "system-images;android-34;google_apis;x86_64"
PROFILE = EmulatorProfile(api=34, image="google_apis", abi="x86_64", device="pixel_7")
QUICK = EmulatorScenario(
    offline_seconds=0.0, boot_seconds=0.0, quick_boot_seconds=0.0, operator="release"
)
NORMAL = Scenario(
    emulator=QUICK,
    download_seconds=0.0,
    download_steps=4,
    licences="accepted",
    host_abi="x86_64",
    # Far from others: the adb server of one SDK calls for a minute where an emulator was.
    first_port=20_000 + 40 * (os.getpid() % 500),
)
_PLACES = {
    "emulator": "emulator/emulator",
    "avdmanager": "cmdline-tools/latest/bin/avdmanager",
    "sdkmanager": "cmdline-tools/latest/bin/sdkmanager",
}


def await_true(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + DEADLINE
    while not is_so():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)


class SdkBench:
    """A running SDK with one system image, and its tools."""

    def __init__(self, sdk: SimulatedSdk) -> None:
        self.sdk = sdk
        self.folder = sdk.folder
        self.home = sdk.folder / "avd"
        self._server = AdbServer("127.0.0.1", sdk.adb_port)
        self._started: list[subprocess.Popen[bytes]] = []

    def behave(self, **changes: Any) -> None:
        """Let what is started from now on behave differently; fields of both scenarios."""
        own = {name: value for name, value in changes.items() if hasattr(NORMAL, name)}
        of_emulators = {name: value for name, value in changes.items() if name not in own}
        self.sdk.behave(replace(NORMAL, emulator=replace(QUICK, **of_emulators), **own))

    def run(self, tool: str, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run a tool to its end."""
        return subprocess.run(
            [self.folder / _PLACES[tool], *arguments],
            env=self.sdk.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    def create(self, name: str, *, device: str = "pixel_7", image: str = IMAGE) -> AvdFiles:
        """Create a virtual device, without its tool."""
        if not (self.folder / image.replace(";", "/")).is_dir():
            self.sdk.install_image(image)
        avd = AvdFiles(self.home, name)
        avd.create(image=image, device=device)
        return avd

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start an emulator in the background; its output goes into its log."""
        with self.log(name).open("wb") as written:
            process = subprocess.Popen(
                [self.folder / _PLACES["emulator"], f"@{name}", *arguments],
                env=self.sdk.environment,
                stdout=written,
                stderr=subprocess.STDOUT,
            )
        self._started.append(process)
        return process

    def log(self, name: str) -> Path:
        """Return the file of an emulator's output."""
        return self.folder / f"{name}.log"

    def boot(self, name: str, *arguments: str) -> str:
        """Start an emulator, wait until Android runs on it, and return its serial."""
        serial = self.serial_of(self.start(name, *arguments))
        await_true(lambda: self.has_booted(serial), f"{name} boots, see {self.log(name)}")
        return serial

    def has_booted(self, serial: str) -> bool:
        """Whether Android runs on an emulator."""
        is_there = self.devices().get(serial) == "device"
        return is_there and self.shell(serial, "getprop sys.boot_completed") == "1"

    def serial_of(self, process: subprocess.Popen[bytes]) -> str:
        """Return the serial of an emulator, once it has its ports."""
        record = self.folder / ".running" / str(process.pid)
        values: dict[str, Any] = {}

        def has_ports() -> bool:
            nonlocal values
            assert process.poll() is None, "the emulator ended"
            values = holder_of(record) or {}
            return "port" in values

        await_true(has_ports, "it has its ports")
        return f"emulator-{values['port']}"

    def running(self) -> list[int]:
        """Return the processes of the emulators that run."""
        records = (self.folder / ".running").glob("*")
        return [int(record.name) for record in records if holder_of(record) is not None]

    def avds(self) -> list[str]:
        """Return the names of the virtual devices."""
        return list_avds(self.home)

    def adb(self, *arguments: str) -> str:
        """Run the real adb and return what it prints."""
        ran = subprocess.run(
            [self.sdk.adb, *arguments],
            env=self.sdk.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        return ran.stdout + ran.stderr

    def devices(self) -> dict[str, str]:
        """Return what the adb server knows, with the states; nothing while it restarts."""
        try:
            return dict(self._server.devices())
        except ClawperatorError:
            return {}

    def shell(self, serial: str, command: str) -> str:
        """Run a command on an emulator; one that cannot be reached says nothing."""
        try:
            return AdbHost(self._server).shell(serial, command).stdout.strip()
        except ClawperatorError:
            return ""

    def console(self, serial: str, command: str) -> str:
        """Ask the console of an emulator through adb."""
        return self.adb("-s", serial, "emu", *command.split()).strip()

    def connection(self, serial: str) -> str:
        """Return the number of adb's connection to a usable emulator, which is never used again."""
        with suppress(ClawperatorError):
            for row in self._server.ask("host:devices-l").decode().splitlines():
                if row.split()[:2] == [serial, "device"]:
                    return row.rpartition("transport_id:")[2]
        return ""

    def settle(self, serial: str, *, after: str = "") -> None:
        """Wait until an emulator is usable again, by another connection than the one before.

        The adb server notices some time later that a connection was closed.
        """
        await_true(lambda: self.connection(serial) not in ("", after), f"{serial} is back")

    def emulators(self, **changes: Any) -> Emulators:
        """Return the library on this SDK, which looks often and does not wait for long."""
        limits = BootLimits(registration=changes.pop("registration", DEADLINE),
                            boot=changes.pop("boot", DEADLINE), poll=0.02)  # fmt: skip
        environment = {**self.sdk.environment, **changes.pop("environment", {})}
        options = {"profile": PROFILE, **changes}
        return Emulators(sdk=Sdk(environment), limits=limits, **options)

    def await_end(self) -> None:
        """Wait until the emulators that this one started have ended."""
        for process in self._started:
            process.wait(DEADLINE)
        self._started.clear()

    def clean(self) -> None:
        """End the emulators of a test, remove its virtual devices, and behave as usual again."""
        self.behave()
        end_emulators(self.folder)
        for process in self._started:
            process.kill()
            process.wait()
        self._started.clear()
        await_true(lambda: not self.devices(), "adb knows no emulator any more")
        for name in self.avds():
            AvdFiles(self.home, name).delete()
        for package in installed(self.folder):
            if package.name != IMAGE:
                uninstall(self.folder, package.name)


@contextmanager
def running_sdk(folder: Path) -> Iterator[SdkBench]:
    """Run an SDK for the tests of a module."""
    with SimulatedSdk(folder, NORMAL) as sdk:
        sdk.install_image(IMAGE)
        yield SdkBench(sdk)
