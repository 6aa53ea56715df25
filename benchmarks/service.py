"""What the service costs: per execution over the library, and per client that only listens.

Eight simulated devices are used at once, by eight threads: through the library, and through the
service, which is a process of its own, as it is at work. Both ways are measured alternately. The
executions keep each device busy for a moment, as real ones do; on a small machine the simulated
phones share the processors with all the rest, and without pauses they would be measured.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
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

from benchmarks.measuring import show
from benchmarks.startup import environment
from pytest_clawperator import connect
from pytest_clawperator.simulator import Simulator

DEVICES = 8
BUSY_MS = 50
# The best of many short rounds: other load only ever adds time.
ROUNDS, EXECUTIONS = 24, 10
ADDED_MS = 3.0

LISTENERS = (100, 500, 1000)
HEARTBEATS_FOR = 60.0
UNREAD = 200

Actions = list[dict[str, Any]]
Run = Callable[[Actions], None]

BUSY: Actions = [{"id": "a", "type": "sleep", "params": {"durationMs": BUSY_MS}}]
LOOK: Actions = [*BUSY, {"id": "b", "type": "snapshot_ui"}]

SERVE = """
import sys
from pytest_clawperator.service.server import ServiceOptions, run_service

run_service(
    ServiceOptions(port=0, adb=sys.argv[1]),
    started=lambda url, token: print(url, flush=True),
    notify=lambda text: None,
)
"""


@contextmanager
def own_service(simulator: Simulator, folder: Path) -> Iterator[tuple[str, int]]:
    """Run the service for the simulated phones; yield its url and its process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, f"{simulator.adb_host}:{simulator.adb_port}"],
        env={**environment(folder), "CLAWPERATOR_LEASE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.pid
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


class Poster:
    """Runs executions on a device with ``POST /execute``, over one connection."""

    def __init__(self, url: str, serial: str, *, has_lease: bool) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"))
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._serial = serial
        self._count = 0
        self._headers = {"content-type": "application/json"}
        if has_lease:
            asked = {"serial": serial, "owner": "bench", "ttlMs": 600_000}
            self._headers["clawperator-lease"] = self._ask("POST", "/v1/leases", asked)["lease"]

    def __call__(self, actions: Actions) -> None:
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
        answer = self._ask("POST", "/execute", {"deviceId": self._serial, "execution": execution})
        assert answer["envelope"]["status"] == "success", answer

    def close(self) -> None:
        """Release the device, and close the connection."""
        if lease := self._headers.get("clawperator-lease"):
            self._ask("DELETE", f"/v1/leases/{lease}")
        self._connection.close()

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, self._headers)
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        assert answer["ok"], answer
        return answer


def clients(opened: ExitStack, serials: Sequence[str], **where: Any) -> list[Run]:
    """Return what runs executions with clients of the library."""

    def runner(serial: str) -> Run:
        claw = opened.enter_context(connect(serial, **where))

        def run(actions: Actions) -> None:
            assert claw.execute(actions).ok

        return run

    return [runner(serial) for serial in serials]


def seconds_each(runs: Sequence[Run], actions: Actions, threads: ThreadPoolExecutor) -> float:
    """Return the median seconds of an execution, on all devices at once."""

    def timed(place: int) -> list[float]:
        took = []
        time.sleep(place * BUSY_MS / 1000 / len(runs))  # tests do not go in step
        for _ in range(EXECUTIONS):
            begin = time.perf_counter()
            runs[place](actions)
            took.append(time.perf_counter() - begin)
        return took

    return statistics.median(one for took in threads.map(timed, range(len(runs))) for one in took)


def compare(name: str, library: Sequence[Run], service: Sequence[Run], actions: Actions) -> None:
    """Print what the service adds to the library."""
    with ThreadPoolExecutor(DEVICES) as threads:

        def measured(runs: Sequence[Run]) -> float:
            return seconds_each(runs, actions, threads) * 1000

        for runs in (library, service):
            measured(runs)  # connects, and warms up
        rounds = [(measured(library), measured(service)) for _ in range(ROUNDS)]
    base, through = (min(took) for took in zip(*rounds, strict=True))
    show(
        f"{name} over {base - BUSY_MS:.1f} ms",
        f"{through - base:+.2f} ms",
        f"<= {ADDED_MS:g} ms",
    )


def executions(folder: Path) -> None:
    """Print what the service adds to an execution, with eight devices at once.

    Each side has devices of its own: who only watches a log slows its device down.
    """
    with ExitStack() as opened:
        ours, its = (opened.enter_context(Simulator(devices=DEVICES, seed=1)) for _ in range(2))
        library = clients(opened, ours.serials, adb=f"{ours.adb_host}:{ours.adb_port}")
        url, _ = opened.enter_context(own_service(its, folder))
        with ExitStack() as connected:
            compare("connect(url=...)", library, clients(connected, its.serials, url=url), BUSY)
        for has_lease in (True, False):
            with ExitStack() as posting:
                posters = [
                    posting.enter_context(closing(Poster(url, serial, has_lease=has_lease)))
                    for serial in its.serials
                ]
                leased = "leased" if has_lease else "not leased"
                compare(f"POST /execute, {leased},", library, posters, BUSY)
                compare("... and a snapshot", library, posters, LOOK)


def resident(pid: int) -> float:
    """Return the megabytes of memory that a process has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def listen(url: str) -> socket.socket:
    """Open a stream of events, and wait for its first one."""
    host, port = url.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)))
    client.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    received = b""
    while b"CONNECTED" not in received:
        received += client.recv(65536)
    return client


def listeners(folder: Path) -> None:
    """Print what listeners cost in memory: as they come, as time passes, when they left."""
    with Simulator(devices=1, seed=1) as simulator, own_service(simulator, folder) as (url, pid):
        with closing(Poster(url, simulator.serials[0], has_lease=False)) as post:
            post(LOOK)
        listen(url).close()
        before, opened = resident(pid), list[socket.socket]()
        show("memory without listeners", f"{before:.1f} MB")
        for count in LISTENERS:
            opened += [listen(url) for _ in range(count - len(opened))]
            grown = resident(pid) - before
            show(f"{count} listeners", f"+ {grown:.1f} MB, {grown * 1024 / count:.0f} kB each")
        full = resident(pid)
        time.sleep(HEARTBEATS_FOR)  # they come every 15 s, and nothing else should
        heard = min(client.recv(65536).count(b"ALIVE") for client in opened)
        show(f"after {heard} heartbeats", f"{resident(pid) - full:+.1f} MB", "flat")
        for client in opened:
            client.close()
        opened = [listen(url) for _ in range(LISTENERS[-1])]
        show(f"{LISTENERS[-1]} others, after these left", f"{resident(pid) - full:+.1f} MB", "flat")
        with closing(Poster(url, simulator.serials[0], has_lease=False)) as post:
            for _ in range(UNREAD):
                post(LOOK[1:])
        show(f"{UNREAD} snapshots, which none of them reads", f"{resident(pid) - full:+.1f} MB")
        for client in opened:
            client.close()


def main() -> None:
    """Print one line for each figure."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
    with tempfile.TemporaryDirectory() as name:
        os.environ["CLAWPERATOR_LEASE_DIR"] = name
        executions(Path(name))
        listeners(Path(name))


if __name__ == "__main__":
    main()
