"""Payloads that a suite declares: read, and validated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_clawperator.contracts.payload import Execution, complete_execution
from pytest_clawperator.errors import UNUSABLE_FILE, ErrorCode, PayloadError, file_problem


def load_payload(declared: Path | Any) -> Execution:
    """Return the execution of a payload file or value, as ``clawperator.execute`` would run it."""
    __tracebackhide__ = True
    if not isinstance(declared, Path):
        return complete_execution(declared)
    try:
        text = declared.read_bytes()
    except UNUSABLE_FILE as exc:
        raise PayloadError(
            f"the payload file {declared} cannot be read: {file_problem(exc)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="The path of a claw_payload marker starts from the folder of the test file.",
        ) from exc
    return complete_execution(text)
