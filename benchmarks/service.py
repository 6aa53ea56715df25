"""What the service costs: per execution over the library, and per client that only listens.

Eight simulated devices are used at once, by eight threads: through the library, and through the
service, which is a process of its own as it is at work. Both ways are measured alternately. The
executions keep each device busy for a moment, as real ones do; on a small machine the simulated
phones share the processors with all the rest, and without pauses they would be measured.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import show
from benchmarks.startup import environment
from pytest_clawperator import Clawperator, connect
from pytest_clawperator.simulator import Simulator

DEVICES = 8
BUSY_MS = 50
# The best of many short rounds: other load only ever adds time.
ROUNDS, EXECUTIONS = 24, 10
ADDED_MS = 3.0

LISTENERS = (100, 500, 1000)
HEARTBEATS_FOR = 60.0

BUSY: list[dict[str, Any]] = [{"id": "a", "type": "sleep", "params": {"durationMs": BUSY_MS}}]
LOOK: list[dict[str, Any]] = [*BUSY, {"id": "b", "type": "snapshot_ui"}]

SERVE = """
import sys
from pytest_clawperator.service.server import ServiceOptions, run_service

run_service(
    ServiceOptions(port=0, adb=sys.argv[1]), started=lambda url, token: print(url, flush=True)
)
"""


@contextmanager
def own_service(simulator: Simulator, folder: Path) -> Iterator[tuple[int, int]]:
    """Run the service for the simulated phones; yield its port and its process id."""
    adb = f"{simulator.adb_host}:{simulator.adb_port}"
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, adb],
        env={**environment(folder), "CLAWPERATOR_LEASE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline().rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class HttpDevice:
    """A device of the service, used through one connection."""

    def __init__(self, port: int, serial: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._serial = serial
        self._count = 0

    def run(self, actions: list[dict[str, Any]]) -> None:
        """Run an execution, and check that it succeeded."""
        self._count += 1
        execution = {
            "commandId": f"bench-{self._serial}-{self._count}",
            "taskId": "bench",
            "source": "bench",
            "expectedFormat": "android-ui-automator",
            "timeoutMs": 10_000,
            "actions": actions,
        }
        body = json.dumps({"deviceId": self._serial, "execution": execution})
        headers = {"content-type": "application/json"}
        self._connection.request("POST", "/execute", body, headers)
        answer = json.loads(self._connection.getresponse().read())
        assert answer["ok"], answer
        assert answer["envelope"]["status"] == "success", answer

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def seconds_each(runs: Sequence[Callable[[], None]], threads: ThreadPoolExecutor) -> float:
    """Return the median seconds of an execution, on all devices at once."""

    def timed(run: Callable[[], None]) -> list[float]:
        took = []
        for _ in range(EXECUTIONS):
            begin = time.perf_counter()
            run()
            took.append(time.perf_counter() - begin)
        return took

    return statistics.median(one for took in threads.map(timed, runs) for one in took)


def best_rounds(
    clients: Sequence[Clawperator],
    devices: Sequence[HttpDevice],
    actions: list[dict[str, Any]],
    threads: ThreadPoolExecutor,
) -> tuple[float, float]:
    """Return the ms of an execution in the best round: of the library, and of the service."""

    def execute(claw: Clawperator) -> None:
        assert claw.execute(actions).ok

    library = [lambda claw=claw: execute(claw) for claw in clients]
    service = [lambda device=device: device.run(actions) for device in devices]
    for runs in (library, service):
        seconds_each(runs, threads)  # connects, and warms up
    rounds = [[seconds_each(runs, threads) for runs in (library, service)] for _ in range(ROUNDS)]
    through_library, through_service = (min(took) * 1000 for took in zip(*rounds, strict=True))
    return through_library, through_service


def executions(folder: Path) -> None:
    """Print what the service adds to an execution, with eight devices at once."""
    with ExitStack() as opened:
        simulator = opened.enter_context(Simulator(devices=DEVICES, seed=1))
        port, _ = opened.enter_context(own_service(simulator, folder))
        adb = f"{simulator.adb_host}:{simulator.adb_port}"
        serials = simulator.serials
        clients = [opened.enter_context(connect(serial, adb=adb)) for serial in serials]
        devices = [HttpDevice(port, serial) for serial in serials]
        threads = opened.enter_context(ThreadPoolExecutor(DEVICES))
        for device in devices:
            opened.callback(device.close)
        for name, actions in (("no-op", BUSY), ("snapshot", LOOK)):
            library, service = best_rounds(clients, devices, actions, threads)
            show(
                f"{name} on {DEVICES} devices, besides {BUSY_MS} ms of work",
                f"{library - BUSY_MS:.1f} ms + {service - library:.2f} ms",
                f"+ <= {ADDED_MS:g} ms",
            )


def resident(pid: int) -> float:
    """Return the megabytes of memory that a process has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def listen(port: int) -> socket.socket:
    """Open a stream of events, and wait for its first one."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    received = b""
    while b"CONNECTED" not in received:
        received += client.recv(65536)
    return client


def listeners(folder: Path) -> None:
    """Print what idle listeners cost in memory: as they come, as time passes, when they left."""
    with Simulator(devices=1, seed=1) as simulator, own_service(simulator, folder) as (port, pid):
        listen(port).close()
        before, clients = resident(pid), list[socket.socket]()
        show("memory without listeners", f"{before:.1f} MB")
        for count in LISTENERS:
            clients += [listen(port) for _ in range(count - len(clients))]
            grown = resident(pid) - before
            show(f"{count} listeners", f"+ {grown:.1f} MB, {grown * 1024 / count:.0f} kB each")
        full = resident(pid)
        time.sleep(HEARTBEATS_FOR)  # heartbeats come every 15 s
        heard = [len(client.recv(65536)) for client in clients]
        show(
            f"after {HEARTBEATS_FOR:g} s, {min(heard)} to {max(heard)} bytes of heartbeats",
            f"{resident(pid) - full:+.1f} MB",
            "flat",
        )
        for client in clients:
            client.close()
        time.sleep(1.0)
        again = [listen(port) for _ in range(LISTENERS[-1])]
        show(f"{LISTENERS[-1]} others, after these left", f"{resident(pid) - full:+.1f} MB", "flat")
        for client in again:
            client.close()


def main() -> None:
    """Print one line for each figure."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["CLAWPERATOR_LEASE_DIR"] = name
        executions(Path(name))
        listeners(Path(name))


if __name__ == "__main__":
    main()
