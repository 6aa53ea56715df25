"""What a device costs that freezes in the middle of a run: connected, and answering nothing.

A simulated phone is stopped (SIGSTOP) by a test that runs on it: between two tests, before an
execution, or in the middle of one that may take 35 s. Measured is the whole time from then to
the end of the run: the test, its evidence, the check before the next test, the wait for the
phone's return, closing, and with two devices the tests that the other one runs meanwhile and
afterwards. Nothing is subtracted, so this is more than the frozen device alone costs. The ratio
is to the time after which a silent device is given up; less than 1 would be a mistake.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.measuring import show
from benchmarks.startup import environment
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.wire import ANSWER_WITHIN, QUIET

LIMIT = 15.0
MOMENTS = ("between tests", "before an execution", "in an execution")
# The test that stops the phone writes down when.
SUITE = """
import os
import signal
import threading
import time
from pathlib import Path

import pytest

SERIAL, PID, MOMENT = os.environ["FROZEN"].split(",")
STOPPED = Path("stopped")

def stop(claw, moment):
    if moment == MOMENT and claw.serial == SERIAL and not STOPPED.exists():
        STOPPED.write_text(str(time.monotonic()))
        os.kill(int(PID), signal.SIGSTOP)

@pytest.fixture
def claw(clawperator, number):
    yield clawperator
    if number >= 3:
        stop(clawperator, "between tests")

@pytest.mark.parametrize("number", range(12))
def test_it(claw, number):
    sleep = {"type": "sleep", "params": {"durationMs": 200}}
    if number >= 3:
        stop(claw, "before an execution")
        threading.Timer(0.1, stop, [claw, "in an execution"]).start()
    claw.execute([sleep]).raise_for_status()
"""


def main() -> None:
    """Print what a frozen device costs, alone and beside another one."""
    with tempfile.TemporaryDirectory() as compiled:
        _seconds(MOMENTS[0], 2, Path(compiled))  # compiles the modules, as installing does
        for devices in (1, 2):
            for moment in MOMENTS:
                cost = _seconds(moment, devices, Path(compiled))
                ratio = cost / (QUIET + ANSWER_WITHIN)
                name = f"frozen {moment}, {devices} device{'s' if devices > 1 else ''}"
                show(name, f"{cost:.1f} s, {ratio:.1f} x", f"at most {LIMIT:g} s")


def _seconds(moment: str, devices: int, compiled: Path) -> float:
    """Return how long a run lasts from the moment at which its phone is stopped."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        phones = [opened.enter_context(_phone(number)) for number in range(devices)]
        (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        pid = phones[0].pid
        adb = [f"--claw-adb={phone.adb_host}:{phone.adb_port}" for phone in phones]
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", str(devices), "--claw-device=auto", *adb],
            cwd=folder,
            env={**environment(compiled), "FROZEN": f"{phones[0].serials[0]},{pid},{moment}"},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        ended = time.monotonic()
        return ended - float((folder / "stopped").read_text(encoding="utf-8"))


@contextmanager
def _phone(seed: int) -> Iterator[Simulator]:
    """Start a phone; one that is stopped goes on before it ends."""
    with Simulator(devices=1, seed=seed) as phone:
        try:
            yield phone
        finally:
            os.kill(phone.pid, signal.SIGCONT)


if __name__ == "__main__":
    main()
