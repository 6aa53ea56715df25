"""Many executions on many phones: nothing is lost, nothing overlaps, nothing piles up."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from benchmarks.adb_client import Adb, Phone
from pytest_clawperator.simulator import Simulator

EXECUTIONS = 10_000 if os.environ.get("CLAWPERATOR_SOAK") else 300
PHONES = 4


def memory_kib(pid: int) -> int:
    """Ask the system how much memory a process holds."""
    asked = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(asked.stdout)


def test_executions_in_a_row_on_several_phones() -> None:
    """Each execution is answered by its own envelope; the counters agree, and memory is flat."""
    with Simulator(devices=PHONES) as simulator:
        adb = Adb(simulator.adb_host, simulator.adb_port)
        phones = [Phone(adb, serial) for serial in simulator.serials]

        def work(phone: Phone, count: int) -> None:
            for _ in range(count):
                assert b'"status":"success"' in phone.execute()

        with ThreadPoolExecutor(PHONES) as pool:
            list(pool.map(work, phones, [EXECUTIONS // 10] * PHONES))
            early = memory_kib(simulator.pid)
            list(pool.map(work, phones, [EXECUTIONS - EXECUTIONS // 10] * PHONES))
            late = memory_kib(simulator.pid)
        stats = [json.loads(adb.shell(serial, "sim stats")) for serial in simulator.serials]
        for phone in phones:
            phone.close()

    assert [each["executions"] for each in stats] == [EXECUTIONS] * PHONES
    assert [each["overlaps"] for each in stats] == [0] * PHONES
    # The log's ring buffer fills up to its size and no further.
    assert late < early + PHONES * 12 * 1024
