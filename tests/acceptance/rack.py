"""Phones, an adb server and a Redis that may be stopped, killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.wire import AdbServer
from tests.acceptance.lab import OwnAdbServer, Witness
from tests.acceptance.runs import processes, wait_for
from tests.doubles.redis_server import RedisServer
from tests.programs import REDIS, missing


class RackPhone(Witness):
    """A phone in its own process, observed through an adb server that no run uses."""

    def __init__(self, number: int) -> None:
        self.simulator = Simulator(devices=1, seed=number).start()
        self.is_dead = False
        server = AdbServer(self.simulator.adb_host, self.simulator.adb_port)
        super().__init__(server, self.simulator.serials[0])

    @property
    def pid(self) -> int:
        """Its process."""
        return self.simulator.pid

    def counters(self) -> Counter[str]:
        """Return how much it did and does, once it is connected; its own commands do not count."""
        counted = self._stats_when_connected()
        names = ("executions", "overlaps", "in_flight")
        commands = sum(count for name, count in counted["commands"].items() if name != "sim")
        return Counter({**{name: counted[name] for name in names}, "commands": commands})

    def _stats_when_connected(self) -> dict[str, Any]:
        while True:
            with suppress(ClawperatorError):
                return self.stats()
            self.wait_for_state("device")

    def kill(self) -> None:
        """Kill its process; the phone does not come back."""
        self.is_dead = True
        os.kill(self.pid, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """End it, and disconnect from it."""
        self.simulator.stop()
        self._transport.close()


class Rack:
    """What the runs of a round share."""

    def __init__(self, folder: Path, *, phones: int) -> None:
        self._scratch = folder / "scratch-of-the-rack"
        self._home = folder / "home"
        self._redis_folder = folder / "redis"
        for place in (self._scratch, self._home, self._redis_folder):
            place.mkdir()
        self._made: list[RackPhone] = []
        self._redis: RedisServer | None = None
        self.adb = OwnAdbServer(self._home)
        self.adb.start_alone()
        self.phones = [self._new_phone() for _ in range(phones)]

    @property
    def redis(self) -> RedisServer:
        """The Redis, which is started at its first use and after each death."""
        if self._redis is None:
            self._redis = RedisServer(self._redis_folder)
        return self._redis

    @property
    def dead_ports(self) -> list[str]:
        """The ports of the phones that were killed, by which the files of a phone are named."""
        return [phone.serial.rpartition(":")[2] for phone in self._made if phone.is_dead]

    @property
    def has_redis(self) -> bool:
        """Whether there can be a Redis."""
        return missing(REDIS) is None

    def counters(self) -> Counter[str]:
        """Return the sums of the phones' counters."""
        return sum((phone.counters() for phone in self.phones), Counter())

    def replace(self, phone: RackPhone) -> None:
        """Put another phone in the place of one that was killed."""
        self.phones[self.phones.index(phone)] = self._new_phone()

    def restart_adb(self) -> None:
        """Start the adb server that was killed, with the same phones."""
        self.adb.start_alone()
        for phone in self.phones:
            self.adb.connect(phone.serial)

    def reset(self) -> None:
        """Wait until no phone is busy, and set the counters back.

        The phones keep their logs: the next run may search one for the end of a command.
        """
        wait_for(lambda: not self.counters()["in_flight"])
        for phone in self.phones:
            Witness(self.adb.server, phone.serial).wait_for_state("device")
            phone.sim("fault clear")
            phone.sim("stats reset")

    def close(self) -> list[str]:
        """End everything, and return what is left of it."""
        servers = [self.adb.server, *(phone.server for phone in self._made)]
        pids = [phone.pid for phone in self._made]
        for phone in self.phones:
            phone.close()
        self.adb.kill()
        if self._redis is not None:
            self._redis.stop()
        alive = {pid for pid, _, _ in processes()}
        left = [f"process {pid}" for pid in pids if pid in alive]
        left += [f"port {server.port}" for server in servers if _listens(server)]
        return left + [str(path) for path in self._scratch.iterdir()]

    def _new_phone(self) -> RackPhone:
        with temporary_files_in(self._scratch):
            phone = RackPhone(len(self._made) + 1)
        self._made.append(phone)
        self.adb.connect(phone.serial)
        return phone


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Let this process and those that it starts keep their temporary files there."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    try:
        yield
    finally:
        tempfile.tempdir = None
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def freeze(pid: int, seconds: float) -> None:
    """Stop a process for so long; one that has ended is left alone."""
    send(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)  # so long it stands still
    finally:
        send(pid, signal.SIGCONT)


def send(pid: int, number: int) -> None:
    """Send a signal to a process, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _listens(server: AdbServer) -> bool:
    with suppress(OSError), socket.create_connection((server.host, server.port), timeout=1.0):
        return True
    return False
