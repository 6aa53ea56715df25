"""A real Redis of the tests' own, which can be stopped, frozen and started again."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest
import redis

from tests.programs import REDIS, missing

DEADLINE = 30.0


class RedisServer:
    """A Redis that keeps nothing on the disk, so that a new start finds it empty."""

    def __init__(self, folder: Path) -> None:
        if reason := missing(REDIS):
            pytest.skip(reason)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """The url at which it is reached."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The server that runs now."""
        assert self._process is not None
        return self._process

    def start(self) -> None:
        """Start it, on the port that it had before."""
        port = self.port or _free_port()
        command = [REDIS.name, "--port", str(port), "--bind", "127.0.0.1"]
        command += ["--dir", str(self._folder), "--save", "", "--appendonly", "no"]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + DEADLINE
        while not _answers(port):
            # Another process may have taken the port in between.
            if self.process.poll() is not None and self.port == 0:
                return self.start()
            assert time.monotonic() < deadline, (self._folder / "redis.log").read_text()
            time.sleep(0.01)
        self.port = port
        return None

    def stop(self) -> None:
        """Kill it; what it stored is gone."""
        self.process.kill()
        self.process.wait(DEADLINE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _answers(port: int) -> bool:
    with redis.Redis(port=port, socket_timeout=1.0, socket_connect_timeout=1.0) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
