"""Which errors are about a device and not about the test, and how a report says so."""

from __future__ import annotations

from typing import TypeGuard

import pytest

from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceError,
    DispatchError,
    ErrorCode,
    PayloadRefusedError,
    ShellError,
    TransportError,
)
from pytest_clawperator.text import visible

#: What the messages of such reports begin with.
PREFIX = "infrastructure: "


def is_infrastructure(error: BaseException | None) -> TypeGuard[ClawperatorError]:
    """Whether an error says that the device, or the way to it, does not work."""
    if not isinstance(error, (DeviceError, TransportError, DispatchError)):
        return False
    # Here the device answered, and said no.
    is_refusal = isinstance(error, (ShellError, PayloadRefusedError))
    return not is_refusal and error.code != ErrorCode.FILE_UNAVAILABLE


def is_put_aside(error: BaseException | None) -> bool:
    """Whether an error only says that the device was given up before."""
    details = getattr(error, "details", None)
    return isinstance(details, dict) and bool(details.get("put_aside"))


def begin_message(report: pytest.TestReport, text: str) -> None:
    """Put what became of the device at the beginning of the message of a report."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:  # what the summary of the run and JUnit show
        crash.message = visible(f"{PREFIX}{text}")
