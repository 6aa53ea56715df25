"""How well several devices share a suite, and what leasing many devices costs.

Each test keeps a device busy for a fixed time, so ideally n devices need an n-th of the sum.
The time is measured from the first test's start, before its device is connected, to the last
one's end. The CPU time of the workers is printed too: on a small machine it is the limit.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import redis

from benchmarks.measuring import show
from benchmarks.startup import environment
from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.lease import LeaseStore, take_each
from pytest_clawperator.devices.redis_lease import RedisLeases

BUSY = 0.2
TESTS = 104
# One device needs for a fourth of the tests as long as four need for all.
RUNS = ((1, TESTS // 4), (2, TESTS), (4, TESTS), (8, TESTS))
# The best of several rounds: other load only ever adds time.
ROUNDS = 3
EFFICIENCY = {8: 0.92}
LEASED, LEASED_WITHIN, LEASE_ROUNDS = 50, 0.2, 20
REDIS_STARTS_WITHIN = 10.0

SUITE = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_busy(clawperator, number):
    sleep = {{"type": "sleep", "params": {{"durationMs": {milliseconds}}}}}
    clawperator.execute([sleep]).raise_for_status()
"""
# The monotonic clock is the same in all processes of the machine.
CONFTEST = """
import json
import os
import time
from pathlib import Path

import pytest

stamps = []

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    begin, cpu = time.monotonic(), time.process_time()
    result = yield
    stamps.append((begin, time.monotonic(), time.process_time() - cpu))
    return result

def pytest_sessionfinish():
    if stamps:
        Path(f"stamps-{os.getpid()}.json").write_text(json.dumps(stamps))
"""


class Measured(NamedTuple):
    """A run of the suite: the part of the time in which devices worked, and CPU seconds a test."""

    efficiency: float
    cpu: float


def run_suite(devices: int, tests: int, compiled: Path) -> Measured:
    """Run the suite; compiled modules are kept in the folder ``compiled``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        milliseconds = round(BUSY * 1000)
        (folder / "conftest.py").write_text(CONFTEST)
        (folder / "test_busy.py").write_text(SUITE.format(tests=tests, milliseconds=milliseconds))
        (folder / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider"]
        subprocess.run(
            [*command, "--claw-device", f"sim:{devices}"],
            cwd=folder,
            env={**environment(compiled), "CLAWPERATOR_LEASE_DIR": str(folder / "locks")},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        written = [json.loads(path.read_text()) for path in folder.glob("stamps-*.json")]
    stamps = [stamp for worker in written for stamp in worker]
    assert (len(written), len(stamps)) == (devices, tests)
    took = max(end for _, end, _ in stamps) - min(begin for begin, _, _ in stamps)
    cpu = sum(cpu for *_, cpu in stamps) / tests
    return Measured(tests * BUSY / devices / took, cpu)


def seconds_to_lease(store: LeaseStore) -> float:
    """Return the median seconds of leasing many devices at once."""
    groups = [[f"DEVICE{number:03}"] for number in range(LEASED)]
    took = []
    for _ in range(LEASE_ROUNDS):
        begin = time.perf_counter()
        holds = take_each(store, groups)
        took.append(time.perf_counter() - begin)
        for hold in holds:
            hold.release()
    return statistics.median(took)


@contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    """Start a Redis that stores nothing on disk; yield its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + REDIS_STARTS_WITHIN
        with redis.Redis(port=port) as client:
            while time.monotonic() < deadline:
                with suppress(redis.ConnectionError):
                    client.ping()
                    break
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


def efficiencies() -> None:
    """Print how well each number of devices is used."""
    with tempfile.TemporaryDirectory() as name:
        compiled = Path(name)
        run_suite(2, 2, compiled)  # compiles
        for devices, tests in RUNS:
            measured = [run_suite(devices, tests, compiled) for _ in range(ROUNDS)]
            best = max(one.efficiency for one in measured)
            cpu = min(one.cpu for one in measured)
            asked = f">= {EFFICIENCY[devices]:.0%}" if devices in EFFICIENCY else ""
            title = f"{tests} tests of {BUSY:g} s on {devices} device{'s' * (devices > 1)}"
            show(title, f"{best:.1%}, {cpu * 1000:.1f} ms CPU", asked)


def leases() -> None:
    """Print how long it takes to lease many devices."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        took = seconds_to_lease(FileLeases(run_id="bench", folder=folder / "locks"))
        show(f"leasing {LEASED} devices, files", f"{took * 1000:.1f} ms", f"< {LEASED_WITHIN} s")
        if shutil.which("redis-server") is None:
            show(f"leasing {LEASED} devices, Redis", "no redis-server")
            return
        os.environ["CLAWPERATOR_LEASE_DIR"] = str(folder / "locks")  # for the flight locks
        with own_redis(folder) as url:
            store = RedisLeases(url, run_id="bench", settle=0)
            took = seconds_to_lease(store)
            store.close()
        show(f"leasing {LEASED} devices, Redis", f"{took * 1000:.1f} ms")


def main() -> None:
    """Print one line for each figure."""
    leases()
    efficiencies()


if __name__ == "__main__":
    main()
