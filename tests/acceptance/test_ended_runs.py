"""Runs that are ended by SIGTERM or SIGHUP leave nothing behind, and report what they did."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.runs import Lab, Run, wait_for

# The last test goes on until a file is there, with no command on the device: the record of one
# that may not have ended would stay.
NAPS = """
import pytest
import time
from pathlib import Path

@pytest.mark.parametrize("number", range(3))
def test_quick(clawperator, number):
    clawperator.execute([{"type": "sleep", "params": {"durationMs": 10}}]).raise_for_status()

def test_long(clawperator):
    clawperator.execute([{"type": "sleep", "params": {"durationMs": 10}}]).raise_for_status()
    Path("begun").touch()
    while not Path("go").exists():
        time.sleep(0.01)
"""
PLAIN, CONTROLLER = ("-n", "0"), ("-n", "1")


def begun(lab: Lab, *options: str) -> Run:
    """Start a run and wait until it is in the middle of its last test."""
    run = lab.start(NAPS, *options, "--claw-device", lab.phones[0].serial)
    wait_for((run.folder / "begun").exists, about=run)
    return run


@pytest.mark.parametrize(
    ("options", "number"),
    [(PLAIN, signal.SIGHUP), (CONTROLLER, signal.SIGTERM)],
    ids=["plain", "controller"],
)
def test_a_run_that_is_ended(
    lab: Lab, locks: Path, options: tuple[str, ...], number: signal.Signals
) -> None:
    """Its summary counts the tests that had ended; no lock file and no process is left."""
    run = begun(lab, *options)
    used = {path.suffix for path in locks.iterdir()}

    run.process.send_signal(number)
    (run.folder / "go").touch()  # workers end when their test does
    code = run.wait()
    wait_for(lambda: not run.group)

    assert used == {".lease", ".holder", ".flight"}
    assert code == pytest.ExitCode.INTERRUPTED, run.output
    assert f"ended by {number.name}" in run.output
    assert "3 passed" in run.output
    assert list(locks.iterdir()) == []


def test_a_worker_that_is_ended(lab: Lab, locks: Path) -> None:
    """It counts as crashed, as before, and its flight file is gone; the run goes on to its end."""
    run = begun(lab, *CONTROLLER)
    (worker,) = run.workers

    os.kill(worker, signal.SIGTERM)
    wait_for(lambda: worker not in run.group, about=run)
    left = {path.suffix for path in locks.iterdir()}
    (run.folder / "go").touch()
    code = run.wait()

    assert ".flight" not in left
    assert code == pytest.ExitCode.TESTS_FAILED, run.output
    assert "crashed while running" in run.output
    assert "3 passed" in run.output
    assert list(locks.iterdir()) == []
