"""A second connection to a phone, an adb server that can be killed, and other processes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.contracts.events import Event, Notice
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.adb_program import find_adb
from pytest_clawperator.transport.wire import AdbServer, read_block

DEADLINE = 60.0
# Far beyond the deadline of any test: what fails fast does not wait for it.
FOREVER = 120

_START = re.compile(rb"\[Clawperator-Command\] start commandId=(\S+)")
_ROOT = Path(__file__).parents[2]


def nap(milliseconds: int, *, id: str = "nap") -> list[dict[str, Any]]:
    """Return the actions of an execution that only sleeps, in the Operator's time."""
    return [{"id": id, "type": "sleep", "params": {"durationMs": milliseconds}}]


def works(claw: Clawperator, milliseconds: int = 7) -> bool:
    """Whether an execution returns the result that only it can have."""
    result = claw.execute(nap(milliseconds), timeout=FOREVER)
    return result.ok and result.step("nap").data["duration_ms"] == str(milliseconds)


def notices(events: list[Event]) -> list[str]:
    """Return the messages of the notices among the events."""
    return [event.message for event in events if isinstance(event, Notice)]


class Witness:
    """A second connection to a phone, which injects faults and observes what happens."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.server = server
        self.serial = serial
        self._transport = AdbTransport(server, serial)
        self._position = 0

    def look(self) -> None:
        """Watch the phone's log from now on."""
        self._position = self._transport.log.mark()

    def next_start(self) -> str:
        """Wait until the Operator begins with a command, and return its id."""
        log, deadline = self._transport.log, time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            end = log.wait(self._position, deadline)
            for place, line in enumerate(log.read(self._position, end), self._position + 1):
                found = _START.search(line)
                if found:
                    self._position = place
                    return found[1].decode()
            self._position = end
        raise AssertionError("the Operator got no command")

    def sim(self, command: str) -> str:
        """Run the simulator's own command on the phone."""
        result = self._transport.shell(f"sim {command}")
        assert result.ok, result
        return result.stdout

    def shell(self, command: str) -> None:
        """Run a command on the phone, whatever becomes of it."""
        with contextlib.suppress(ClawperatorError):
            self._transport.shell(command)

    def stats(self) -> dict[str, Any]:
        """Return the phone's counters."""
        counters: dict[str, Any] = json.loads(self.sim("stats"))
        return counters

    def log(self) -> str:
        """Return the whole log of the phone."""
        return self._transport.exec_out("logcat -d -v threadtime").decode("utf-8", "replace")

    def wait_for_state(self, state: str | None) -> None:
        """Wait until adb lists the phone in this state; None: until it is not listed."""
        deadline = time.monotonic() + DEADLINE
        with self.server.start("host:track-devices") as tracker:
            while True:
                rows = read_block(tracker, deadline=deadline).decode().splitlines()
                states = dict(row.split("\t") for row in rows)
                if states.get(self.serial) == state:
                    return

    def set_back(self) -> None:
        """Wait until the phone is connected, reset it, and close the connection."""
        self.wait_for_state("device")
        self.sim("reset")
        self._transport.close()


class OwnAdbServer:
    """An adb server that can be killed and started again at the same address."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None
        self.server = AdbServer("127.0.0.1", _free_port())

    def __enter__(self) -> OwnAdbServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self, serial: str) -> None:
        """Start it, connect a phone, and return once the phone is usable."""
        self.start_alone()
        self.connect(serial)

    def start_alone(self) -> None:
        """Start it, and return once it answers."""
        listen = f"tcp:localhost:{self.server.port}"
        self._process = subprocess.Popen(
            [find_adb(), "-L", listen, "--one-device", "none", "server", "nodaemon"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(self._home),
                "ADB_LIBUSB": "0",
                "ADB_MDNS": "0",
                "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
            },
        )
        deadline = time.monotonic() + DEADLINE
        while not self._answers():
            assert time.monotonic() < deadline, "adb did not start"

    def connect(self, serial: str) -> None:
        """Connect a phone, and return once it is usable."""
        self.server.ask(f"host:connect:{serial}")
        Witness(self.server, serial).wait_for_state("device")

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with contextlib.suppress(ClawperatorError):
            return self.server.version() > 0
        assert self._process is not None
        assert self._process.poll() is None, "adb ended immediately"
        return False


@contextlib.contextmanager
def another_process(
    script: str, serial: str, server: AdbServer, *, folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a script on a phone in another process; ``folder`` is for its temporary files.

    It finds the serial and the address of the adb server as its arguments.
    """
    environment = dict(os.environ)
    if folder is not None:
        environment["TMPDIR"] = str(folder)
    process = subprocess.Popen(
        [sys.executable, "-c", script, serial, str(server)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env=environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def open_sockets() -> int:
    """Count the sockets that this process holds."""
    count = 0
    for descriptor in range(1024):
        with contextlib.suppress(OSError):
            count += stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    return count


def _free_port() -> int:
    """Return a free port outside the system's range for outgoing connections."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as attempt, contextlib.suppress(OSError):
            attempt.bind(("127.0.0.1", port))
            return port
