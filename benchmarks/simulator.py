"""How fast the simulated phones are.

Ratios are medians of pairs measured alternately in one run. The counterpart for a shell
command is the least adbd there can be, behind the same adb server, which answers every
``shell:`` with fixed bytes.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from benchmarks.adb_client import Adb, Phone
from pytest_clawperator.simulator import Simulator

PAIRS = 400
BUSY_SECONDS = 4.0
EXECUTIONS = 10_000


async def least_adbd(ready: Connection) -> None:
    """Serve the shortest answer that adb accepts to any shell command."""

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


def stub(ready: Connection) -> None:
    """Run the least adbd in a process of its own."""
    asyncio.run(least_adbd(ready))


def seconds(run: Callable[[], object]) -> float:
    """Time one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def start_up(devices: int) -> float:
    """Time from starting the process to the first answered shell command of every phone."""
    begun = time.perf_counter()
    with Simulator(devices=devices) as simulator:
        adb = Adb(simulator.adb_host, simulator.adb_port)
        for serial in simulator.serials:
            adb.shell(serial, "echo hi")
        return time.perf_counter() - begun


def echo_ratio(simulator: Simulator) -> float:
    """Compare ``shell echo`` with the least adbd behind the same server."""
    adb = Adb(simulator.adb_host, simulator.adb_port)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=stub, args=(there,), daemon=True)
    process.start()
    least = f"127.0.0.1:{here.recv()}"
    adb.host(f"host:connect:{least}")
    serial = simulator.serials[0]
    pairs = [
        (
            seconds(lambda: adb.shell(serial, "echo hi")),
            seconds(lambda: adb.shell(least, "echo hi")),
        )
        for _ in range(PAIRS)
    ]
    process.terminate()
    process.join()
    return statistics.median(ours / theirs for ours, theirs in pairs)


def fairness(simulator: Simulator) -> tuple[float, float]:
    """Keep every phone busy at once; give the slowest's share of the mean, and the mean."""
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
    """Ask the system how much memory a process holds."""
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
    """Time a first picture of a screen, and the same picture again, in milliseconds."""
    adb = Adb(simulator.adb_host, simulator.adb_port)
    serial = simulator.serials[0]
    adb.shell(serial, "screencap -p | wc -c")
    fresh, again = [], []
    for package in ("com.android.settings", "com.example.shop", "com.clawperator.conformance") * 3:
        launch = f"cmd package resolve-activity --brief {package} | tail -1"
        adb.shell(serial, f"am force-stop {package}; am start -W -n $({launch})")
        fresh.append(seconds(lambda: adb.shell(serial, "screencap -p | wc -c")))
        again.append(seconds(lambda: adb.shell(serial, "screencap -p | wc -c")))
    return statistics.median(fresh) * 1000, statistics.median(again) * 1000


def show(name: str, figure: str, wanted: str) -> None:
    """Print one figure beside what it should be."""
    print(f"{name:36} {figure:>10}   (wanted: {wanted})", flush=True)


def main() -> None:
    """Print one line for each figure."""
    for devices, limit in ((1, 0.6), (8, 1.0)):
        best = min(start_up(devices) for _ in range(5))
        show(f"start to first answer, {devices} phone(s)", f"{best:.2f} s", f"< {limit} s")
    with Simulator(devices=8, seed=1) as simulator:
        show("shell echo, to the least adbd's", f"{echo_ratio(simulator):.2f} x", "<= 1.5 x")
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
