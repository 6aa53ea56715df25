"""Runs as a file tells of them, made for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_clawperator.report.index import DeviceSeen, ErrorSummary, RunBegan, RunLog, TestEnded
from pytest_clawperator.report.trace import DeviceUsed, TraceBegan, TraceEnded, TraceWriter

START = 1_700_000_000.0


def ended(name: str, **about: Any) -> TestEnded:
    """Return the record of a test, which passed unless said otherwise."""
    start = about.pop("start", START)
    stop = about.pop("stop", start + 2)
    told = {"nodeid": f"test_shop.py::{name}", "outcome": "passed", **about}
    return TestEnded(at=stop, start=start, stop=stop, **told)


def error(message: str, code: str | None = "NODE_NOT_FOUND") -> ErrorSummary:
    """Return why a test failed."""
    return ErrorSummary(message=message, code=code, phase="call")


def write_run(folder: Path, *tests: TestEnded, name: str = "20260305-101500-3fa2") -> Path:
    """Write the file of a run with these tests; return its folder."""
    log = RunLog(folder)
    log.open()
    log.add(RunBegan(at=START - 1, run=name, environment={"pytest": "9.0"}))
    for serial in dict.fromkeys(serial for test in tests for serial in test.devices):
        log.add(DeviceSeen(at=START, serial=serial, about={"model": "Pixel 9"}))
    for test in tests:
        log.add(test)
    log.close()
    return folder


def write_trace(
    folder: Path, name: str, *, start: float = START, outcome: str | None = "failed", **about: Any
) -> Path:
    """Write a short trace of a test; one without an outcome was broken off."""
    writer = TraceWriter(folder)
    writer.write(TraceBegan(at=start, nodeid=f"test_shop.py::{name}", **about))
    writer.write(DeviceUsed(at=start, serial="emulator-5554", about={"model": "Pixel 9"}))
    if outcome is not None:
        told: Any = outcome
        writer.write(TraceEnded(at=start + 2, outcome=told, seconds=2, reason="it broke"))
    writer.close()
    return folder
