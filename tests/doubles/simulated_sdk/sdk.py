"""A simulated SDK for as long as a block lasts: its tools, its adb server, its emulators."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from pytest_clawperator.simulator.wire.adb_server import AdbServer
from pytest_clawperator.transport.adb_program import find_adb
from tests.doubles.simulated_sdk.files import (
    HeldFile,
    SdkPackage,
    ToolCall,
    holder_of,
    install,
    is_free_before,
    read_calls,
    running_folder,
    session_file,
)
from tests.doubles.simulated_sdk.scenario import Scenario

_ROOT = Path(__file__).parents[3]
_PROGRAMS = {
    "emulator/emulator": ("emulator", "run_emulator"),
    "cmdline-tools/latest/bin/avdmanager": ("managers", "run_avdmanager"),
    "cmdline-tools/latest/bin/sdkmanager": ("managers", "run_sdkmanager"),
}
_CODE = (
    "import sys; sys.path.insert(0, {root!r});"
    " from tests.doubles.simulated_sdk.{module} import {function};"
    " sys.exit({function}({sdk!r}, sys.argv[1:]))"
)
# How long emulators have to end, first after a request, then by force.
_GENTLE_SECONDS = 1.0
_FORCE_SECONDS = 0.5
_STOP_DEADLINE = 5.0
# Variables that would lead programs away from the simulated SDK.
_FOREIGN = (
    "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_USER_HOME",
    "ADB_PATH", "EMULATOR_PATH", "AVDMANAGER_PATH", "SDKMANAGER_PATH",
)  # fmt: skip


class SimulatedSdk:
    """Android's SDK with simulated emulators: ``with SimulatedSdk(folder) as sdk:``.

    ``sdk.environment`` is the environment of this process with the variables of the SDK in it;
    ``sdk.variables`` are those alone. Emulators that were started end with the block, or with
    this process.
    """

    def __init__(self, folder: Path, scenario: Scenario | None = None) -> None:
        self.folder = folder.absolute()
        self.variables: dict[str, str] = {}
        self.adb_port = 0
        self.pid = 0
        self._scenario = scenario or Scenario()
        self._session: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment for programs that use the SDK."""
        own = {key: value for key, value in os.environ.items() if key not in _FOREIGN}
        return {**own, **self.variables}

    @property
    def adb(self) -> Path:
        """The adb program of the SDK."""
        return self.folder / "platform-tools" / "adb"

    def __enter__(self) -> SimulatedSdk:
        (self.folder / "avd").mkdir(parents=True, exist_ok=True)
        for place, (module, function) in _PROGRAMS.items():
            _write_program(self.folder, self.folder / place, module, function)
        self.adb.parent.mkdir(exist_ok=True)
        self.adb.symlink_to(find_adb().absolute())
        self._scenario.write(self.folder)
        self._session = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self.folder)],
            cwd=_ROOT,
            stdin=subprocess.PIPE,  # its end is the end of this process
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._session.stdout is not None
        self.pid, self.adb_port = self._session.pid, json.loads(self._session.stdout.readline())
        self.variables = {
            "ANDROID_HOME": str(self.folder),
            "ANDROID_SDK_ROOT": str(self.folder),
            "ANDROID_AVD_HOME": str(self.folder / "avd"),
            "ANDROID_ADB_SERVER_PORT": str(self.adb_port),
        }
        return self

    def __exit__(self, *_: object) -> None:
        assert self._session is not None
        with self._session as session:
            session.terminate()
            session.wait(_STOP_DEADLINE)

    def behave(self, scenario: Scenario) -> None:
        """Use another scenario for everything that starts from now on."""
        scenario.write(self.folder)

    def install_image(self, name: str) -> None:
        """Install a system image without a download."""
        install(self.folder, SdkPackage(name, "9", name))

    def calls(self, tool: str | None = None) -> list[ToolCall]:
        """Return how the tools were called so far; downloads are calls of ``download``."""
        return [call for call in read_calls(self.folder) if tool in (None, call.tool)]


def end_emulators(sdk: Path) -> None:
    """End all emulators that were started from an SDK, by force if necessary."""
    records = list(running_folder(sdk).glob("[0-9]*"))
    for number, seconds in ((signal.SIGTERM, _GENTLE_SECONDS), (signal.SIGKILL, _FORCE_SECONDS)):
        deadline = time.monotonic() + seconds
        for record in records:
            # Held, so it is that process and not a later one with the same id.
            if holder_of(record) is not None:
                with suppress(ProcessLookupError):
                    os.kill(int(record.name), number)
        records = [record for record in records if not is_free_before(record, deadline)]
    for record in running_folder(sdk).glob("[0-9]*"):
        if holder_of(record) is None:
            record.unlink(missing_ok=True)


def _write_program(sdk: Path, path: Path, module: str, function: str) -> None:
    code = _CODE.format(root=str(_ROOT), module=module, function=function, sdk=str(sdk))
    body = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -c {shlex.quote(code)} "$@"\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, "utf-8")
    path.chmod(0o755)


async def _run_session(sdk: Path) -> None:
    """Run the adb server of an SDK until a signal arrives or standard input ends."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_reader(sys.stdin.fileno(), stopped.set)
    server, held = AdbServer(), HeldFile(session_file(sdk))
    assert held.hold({}), f"the simulated SDK in {sdk} is in use"
    try:
        await server.start()
        held.write({"adb_port": server.port})
        print(server.port, flush=True)
        await server.keep_until(stopped)
        await asyncio.to_thread(end_emulators, sdk)
    finally:
        held.release()
        await server.stop()


if __name__ == "__main__":
    asyncio.run(_run_session(Path(sys.argv[1])))
