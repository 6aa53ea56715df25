"""Many executions, in a row and in parallel: nothing is lost, mixed up or left behind."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.simulator import Simulator
from tests.acceptance.lab import nap, open_sockets

IS_SOAK = bool(os.environ.get("CLAWPERATOR_SOAK"))
IN_A_ROW = 10_000 if IS_SOAK else 200
ON_EACH_PHONE = 1_000 if IS_SOAK else 20
PHONES = 8 if IS_SOAK else 4
THREADS = 4

FIELD = {"resourceId": "com.example.shop:id/email"}
MIB = 1024


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Start the phones, whose Operators do not pause."""
    with Simulator(devices=PHONES, seed=1, time_scale=0) as simulator:
        yield simulator


@pytest.fixture
def nothing_left(simulator: Simulator) -> Iterator[None]:
    """Check that a test ends with the threads and sockets that it began with."""
    threads, sockets = set(threading.enumerate()), open_sockets()
    yield
    assert set(threading.enumerate()) <= threads
    assert open_sockets() == sockets


def opened(simulator: Simulator, phone: int) -> Clawperator:
    """Connect to a phone that shows a text field, and reset its counters."""
    adb = f"{simulator.adb_host}:{simulator.adb_port}"
    claw = connect(simulator.serials[phone], adb=adb)
    claw.device.shell("sim reset")
    claw.open_app("com.example.shop")
    claw.wait_for_node(id=FIELD["resourceId"])
    claw.device.shell("sim stats reset")
    return claw


def echo(claw: Clawperator, word: str) -> None:
    """Enter a unique word, read it back, and check that the answer belongs to this execution."""
    write = {"id": f"write {word}", "type": "enter_text"}
    read = {"id": f"read {word}", "type": "read_text", "params": {"matcher": FIELD}}
    actions = [{**write, "params": {"matcher": FIELD, "text": word}}, read]

    result = claw.execute({"commandId": f"cmd-{word}", "actions": actions}).raise_for_status()

    assert (result.command_id, result.serial) == (f"cmd-{word}", claw.serial)
    assert [step.id for step in result.steps] == [f"write {word}", f"read {word}"]
    assert result.steps[1].data["text"] == word


def counters(claw: Clawperator) -> dict[str, Any]:
    """Return how many executions a phone had, and how many overlapped."""
    stats = json.loads(claw.device.shell("sim stats").stdout)
    return {key: stats[key] for key in ("executions", "overlaps", "broadcasts")}


def footprint() -> tuple[int, int]:
    """Count the objects that are alive, and the memory that the process holds, in KiB."""
    gc.collect()
    asked = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, check=True
    )
    return len(gc.get_objects()), int(asked.stdout)


@pytest.mark.usefixtures("nothing_left")
def test_in_a_row(simulator: Simulator) -> None:
    """Each execution gets its own answer, and what is kept of them does not pile up."""
    with opened(simulator, 0) as claw:
        for number in range(IN_A_ROW // 10):
            echo(claw, f"word-{number}")
        early, early_memory = footprint()

        for number in range(IN_A_ROW // 10, IN_A_ROW):
            echo(claw, f"word-{number}")
        late, late_memory = footprint()
        counted = counters(claw)

    assert counted == {"executions": IN_A_ROW, "overlaps": 0, "broadcasts": IN_A_ROW}
    assert late < early * 1.02
    # The log that is kept fills up to its 16 MiB, and no further.
    assert late_memory < early_memory + 32 * MIB


@pytest.mark.usefixtures("nothing_left")
def test_side_by_side(simulator: Simulator) -> None:
    """Each phone gets its own executions, and no others."""

    def work(phone: int) -> dict[str, Any]:
        with opened(simulator, phone) as claw:
            for number in range(ON_EACH_PHONE):
                echo(claw, f"phone-{phone}-word-{number}")
            return counters(claw)

    with ThreadPoolExecutor(PHONES) as pool:
        counted = list(pool.map(work, range(PHONES)))

    each = {"executions": ON_EACH_PHONE, "overlaps": 0, "broadcasts": ON_EACH_PHONE}
    assert counted == [each] * PHONES


@pytest.mark.usefixtures("nothing_left")
def test_threads_take_turns(simulator: Simulator) -> None:
    """Several threads share one client: each waits for its turn and gets its own answer."""
    rounds = ON_EACH_PHONE // 2

    with opened(simulator, 0) as claw:

        def work(thread: int) -> list[str]:
            results = (claw.execute(nap(number, id=f"thread-{thread}")) for number in range(rounds))
            return [r.step(f"thread-{thread}").data["duration_ms"] for r in results]

        with ThreadPoolExecutor(THREADS) as pool:
            naps = list(pool.map(work, range(THREADS)))
        counted = counters(claw)

    total = THREADS * rounds
    assert naps == [[str(number) for number in range(rounds)]] * THREADS
    assert counted == {"executions": total, "overlaps": 0, "broadcasts": total}


@pytest.mark.usefixtures("nothing_left")
def test_connecting_again_and_again(simulator: Simulator) -> None:
    """After a client is closed, the next one gets the device and its own answers."""
    opened(simulator, 0).close()
    adb = f"{simulator.adb_host}:{simulator.adb_port}"

    for number in range(ON_EACH_PHONE // 4):
        with connect(simulator.serials[0], adb=adb) as claw:
            echo(claw, f"client-{number}")
            stats = counters(claw)

    assert stats["executions"] == ON_EACH_PHONE // 4
