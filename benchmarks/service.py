"""What the HTTP service costs: per execution over the library, and for idle listeners.

``python -m benchmarks.service``
"""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.measuring import show
from pytest_clawperator import connect
from pytest_clawperator.simulator import Simulator

DEVICES = 8
ROUNDS, EXECUTIONS = 12, 12
# The device is busy for this long, as with real actions; all of it is outside the host.
DEVICE_MS = 40
LISTENERS, EVENTS = 1000, 200
_MEGABYTE = 1024 * 1024

Run = Callable[[int], None]


def execution(number: int) -> dict[str, Any]:
    """Make an execution that keeps the device busy for a while."""
    return {
        "commandId": f"bench-{time.monotonic_ns()}-{number}",
        "taskId": "bench",
        "source": "bench",
        "expectedFormat": "android-ui-automator",
        "timeoutMs": 10_000,
        "actions": [{"id": "a", "type": "sleep", "params": {"durationMs": DEVICE_MS}}],
    }


@contextmanager
def running_service(adb: str) -> Iterator[tuple[str, int]]:
    """Run the service as its users do; yield its url and its process."""
    command = [sys.executable, "-m", "pytest_clawperator", "serve", "--port", "auto"]
    process = subprocess.Popen([*command, "--adb", adb], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None, "the service did not start"
        yield found[0], process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


class Poster:
    """Runs executions with ``POST /execute``, over one connection and with a lease."""

    def __init__(self, url: str, serial: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port or 80)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._serial = serial
        asked = {"serial": serial, "owner": "bench", "ttlMs": 60_000}
        self._lease = self._ask("POST", "/v1/leases", asked)["lease"]

    def __call__(self, number: int) -> None:
        """Run one execution."""
        body = {"execution": execution(number), "deviceId": self._serial}
        self._ask("POST", "/execute", body, {"clawperator-lease": self._lease})

    def close(self) -> None:
        """Release the device."""
        self._ask("DELETE", f"/v1/leases/{self._lease}")
        self._connection.close()

    def _ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        about = {"content-type": "application/json", **(headers or {})}
        self._connection.request(method, path, json.dumps(body) if body else None, about)
        answer = json.loads(self._connection.getresponse().read())
        assert answer["ok"], answer
        return answer


def milliseconds(threads: ThreadPoolExecutor, runs: Sequence[Run]) -> list[float]:
    """Run on all devices at once; return how long each execution took."""

    def measured(run: Run) -> list[float]:
        took = []
        for number in range(EXECUTIONS):
            begin = time.perf_counter()
            run(number)
            took.append((time.perf_counter() - begin) * 1000)
        return took

    return [value for values in threads.map(measured, runs) for value in values]


def measure_executions(simulator: Simulator, url: str, adb: str) -> None:
    """Print what an execution costs more than with the library, with 8 devices at once."""
    serials = simulator.serials
    bases: list[float] = []
    told: dict[str, list[float]] = {"POST /execute": [], "connect(url=...)": []}
    with ThreadPoolExecutor(DEVICES) as threads:
        for _ in range(ROUNDS):
            with ExitStack() as opened:
                clients = [opened.enter_context(connect(one, adb=adb)) for one in serials]
                library = [_runner(client) for client in clients]
                milliseconds(threads, library)
                base = statistics.median(milliseconds(threads, library))
            with ExitStack() as opened:
                posters = [opened.enter_context(closing(Poster(url, one))) for one in serials]
                milliseconds(threads, posters)
                posted = statistics.median(milliseconds(threads, posters))
            with ExitStack() as opened:
                clients = [opened.enter_context(connect(one, url=url)) for one in serials]
                tunnelled = [_runner(client) for client in clients]
                milliseconds(threads, tunnelled)
                through = statistics.median(milliseconds(threads, tunnelled))
            bases.append(base)
            told["POST /execute"].append(posted)
            told["connect(url=...)"].append(through)
    # The best of several rounds: other load only ever adds time.
    for name, values in told.items():
        figure = f"{min(values) - min(bases):+.2f} ms"
        show(f"{name} over the library, {DEVICES} devices", figure, "<= 3 ms")


def _runner(client: Any) -> Run:
    return lambda number: client.execute(execution(number))


def measure_listeners(url: str, pid: int, serial: str) -> None:
    """Print what idle listeners of events cost in memory, and what events cost with them."""
    parts = urlsplit(url)
    poster = Poster(url, serial)
    poster(0)
    before = memory(pid)
    listeners = []
    for _ in range(LISTENERS):
        one = socket.create_connection((parts.hostname or "", parts.port or 80))
        one.sendall(b"GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"CONNECTED" in _read_until(one, b"CONNECTED")
        listeners.append(one)
    connected = memory(pid)
    for number in range(EVENTS):
        poster(number)  # nobody reads: a listener has no queue
    afterwards = memory(pid)
    for one in listeners:
        one.close()
    show("memory of a listener", f"{(connected - before) / LISTENERS / 1024:.0f} KB")
    grown = (afterwards - connected) / _MEGABYTE
    show(f"{EVENTS} executions, {LISTENERS} who do not read", f"{grown:+.1f} MB", "flat")


def _read_until(connection: socket.socket, mark: bytes) -> bytes:
    received = b""
    while mark not in received and (data := connection.recv(4096)):
        received += data
    return received


def memory(pid: int) -> int:
    """Return the bytes that a process has in memory."""
    told = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", told)
    assert found is not None
    return int(found[1]) * 1024


def main() -> None:
    """Print what the service costs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
    with tempfile.TemporaryDirectory() as locks, Simulator(devices=DEVICES, seed=1) as simulator:
        os.environ["CLAWPERATOR_LEASE_DIR"] = locks
        adb = f"{simulator.adb_host}:{simulator.adb_port}"
        with running_service(adb) as (url, pid):
            measure_executions(simulator, url, adb)
            measure_listeners(url, pid, simulator.serials[0])


if __name__ == "__main__":
    main()
