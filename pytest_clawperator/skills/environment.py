"""The environment of a script: which host program, which Operator, which adb server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

PROGRAM_VARIABLE = "CLAWPERATOR_BIN"
PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"
#: The right of a script to use a device that the process which started it has leased.
TICKET_VARIABLE = "CLAWPERATOR_LEASE_TICKET"


def script_environment(
    base: Mapping[str, str] = os.environ,
    *,
    operator_package: str | None = None,
    adb: str | None = None,
    ticket: str | None = None,
) -> dict[str, str]:
    """Return the environment of a script that runs executions on a device.

    ``adb`` is the server that has the device, ``ticket`` lends the device to the script: its
    host program then takes no lease of its own.
    """
    found = dict(base)
    found[PROGRAM_VARIABLE] = base.get(PROGRAM_VARIABLE) or host_program()
    for name, value in {
        PACKAGE_VARIABLE: operator_package,
        "ADB_SERVER_SOCKET": adb,
        TICKET_VARIABLE: ticket,
    }.items():
        if value:
            found[name] = value
    return found


def host_program() -> str:
    """Return the command that is this program, in quotes where it has blanks."""
    beside = Path(sys.executable).with_name("clawperator-py")
    words = [str(beside)] if beside.is_file() else [sys.executable, "-m", "pytest_clawperator"]
    return " ".join(f'"{word}"' if " " in word else word for word in words)
