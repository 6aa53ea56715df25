"""How fast the simulated phones are.

A shell command is compared with that of a minimal adbd behind the same adb server, which
answers every ``shell:`` with fixed bytes. Ratios are medians of pairs measured alternately.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import struct
import subprocess
import threading
import time
from multiprocessing.connection import Connection

from benchmarks.adb_client import Adb, Phone
from benchmarks.measuring import median_ratio, seconds, show
from pytest_clawperator.simulator import Simulator

PAIRS = 400
BUSY_SECONDS = 4.0
EXECUTIONS = 10_000


async def minimal_adbd(ready: Connection) -> None:
    """Answer every shell command with the shortest answer that adb accepts."""

    def message(command: bytes, first: int, second: int, payload: bytes = b"") -> bytes:
        number = int.from_bytes(command, "little")
        header = struct.pack(
            "<6I", number, first, second, len(payload), sum(payload), number ^ 0xFFFFFFFF
        )
        return header + payload

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while header := await reader.read(24):
            header += await reader.readexactly(24 - len(header))
            command, first, _, length, _, _ = struct.unpack("<6I", header)
            await reader.readexactly(length)
            name = command.to_bytes(4, "little")
            if name == b"CNXN":
                writer.write(message(b"CNXN", 0x01000001, 1 << 20, b"device::features=cmd"))
            elif name == b"OPEN":
                writer.write(
                    message(b"OKAY", first, first) + message(b"WRTE", first, first, b"hi\n")
                )
            elif name == b"OKAY":
                writer.write(message(b"CLSE", first, first))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    ready.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def run_minimal_adbd(ready: Connection) -> None:
    """Run the minimal adbd, in a process of its own."""
    asyncio.run(minimal_adbd(ready))


def start_up(devices: int) -> float:
    """Return the seconds from the start to the first answered shell command of every phone."""
    begun = time.perf_counter()
    with Simulator(devices=devices) as simulator:
        adb = Adb(simulator.adb_host, simulator.adb_port)
        for serial in simulator.serials:
            adb.shell(serial, "echo hi")
        return time.perf_counter() - begun


def echo_ratio(simulator: Simulator) -> float:
    """Compare ``shell echo`` with the minimal adbd behind the same server."""
    adb = Adb(simulator.adb_host, simulator.adb_port)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=run_minimal_adbd, args=(there,), daemon=True)
    process.start()
    minimal = f"127.0.0.1:{here.recv()}"
    adb.host(f"host:connect:{minimal}")
    serial = simulator.serials[0]
    try:
        return median_ratio(
            lambda: adb.shell(serial, "echo hi"),
            lambda: adb.shell(minimal, "echo hi"),
            pairs=PAIRS,
        )
    finally:
        process.terminate()
        process.join()


def fairness(simulator: Simulator) -> tuple[float, float]:
    """Keep all phones busy; return the slowest rate, as a part of the mean, and the mean rate."""
    adb = Adb(simulator.adb_host, simulator.adb_port)
    phones = [Phone(adb, serial) for serial in simulator.serials]
    end = time.perf_counter() + BUSY_SECONDS

    def work(phone: Phone) -> None:
        while time.perf_counter() < end:
            phone.execute()

    threads = [threading.Thread(target=work, args=(phone,)) for phone in phones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = [phone.count for phone in phones]
    return min(counts) / statistics.mean(counts), statistics.mean(counts) / BUSY_SECONDS


def memory_kib(pid: int) -> int:
    """Return how much memory a process uses."""
    asked = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(asked.stdout)


def memory_growth(simulator: Simulator) -> float:
    """Compare memory after 10,000 executions with memory after a tenth of them."""
    phone = Phone(Adb(simulator.adb_host, simulator.adb_port), simulator.serials[0])
    for _ in range(EXECUTIONS // 10):
        phone.execute()
    early = memory_kib(simulator.pid)
    for _ in range(EXECUTIONS - EXECUTIONS // 10):
        phone.execute()
    return memory_kib(simulator.pid) / early


def screenshot_times(simulator: Simulator) -> tuple[float, float]:
    """Return the milliseconds of a first picture of a screen, and of the same picture again."""
    adb = Adb(simulator.adb_host, simulator.adb_port)
    serial = simulator.serials[0]
    adb.shell(serial, "screencap -p > /dev/null")
    fresh, again = [], []
    for package in ("com.android.settings", "com.example.shop", "com.clawperator.conformance") * 3:
        launch = f"cmd package resolve-activity --brief {package} | grep /"
        adb.shell(serial, f"am force-stop {package}; am start -W -n $({launch})")
        fresh.append(seconds(lambda: adb.shell(serial, "screencap -p > /dev/null")))
        again.append(seconds(lambda: adb.shell(serial, "screencap -p > /dev/null")))
    return statistics.median(fresh) * 1000, statistics.median(again) * 1000


def main() -> None:
    """Print one line for each figure."""
    for devices, limit in ((1, 0.6), (8, 1.0)):
        best = min(start_up(devices) for _ in range(5))
        show(f"start to first answer, {devices} phone(s)", f"{best:.2f} s", f"< {limit} s")
    with Simulator(devices=8, seed=1) as simulator:
        show("shell echo, to that of a minimal adbd", f"{echo_ratio(simulator):.2f} x", "<= 1.5 x")
        fresh, again = screenshot_times(simulator)
        show("screenshot of 1080x2400", f"{fresh:.0f} ms", "< 100 ms")
        show("screenshot of an unchanged screen", f"{again:.1f} ms", "<= 5 ms")
        slowest, rate = fairness(simulator)
        show(
            "slowest of 8 busy phones, to mean", f"{slowest:.2f} x", f">= 0.7 x; {rate:.0f}/s each"
        )
        growth = memory_growth(simulator)
        show("memory, 10,000 to 1,000 executions", f"{growth:.2f} x", "flat")


if __name__ == "__main__":
    main()
