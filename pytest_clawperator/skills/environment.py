"""The environment of a script: which host program, which Operator, which adb server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

PROGRAM_VARIABLE = "CLAWPERATOR_BIN"
PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"
SERVER_VARIABLE = "ADB_SERVER_SOCKET"


def script_environment(
    base: Mapping[str, str] = os.environ,
    *,
    operator_package: str,
    adb: str | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the environment of a script that runs executions on a device.

    ``adb`` is the server that has the device, if it is another than that of ``base``.
    """
    found = {**base, PACKAGE_VARIABLE: operator_package, **more}
    found[PROGRAM_VARIABLE] = base.get(PROGRAM_VARIABLE) or host_program()
    if adb is not None:
        found[SERVER_VARIABLE] = adb_socket(adb)
    return found


def host_program() -> str:
    """Return the command that is this program, in quotes where it has blanks."""
    beside = Path(sys.executable).with_name("clawperator-py")
    words = [str(beside)] if beside.is_file() else [sys.executable, "-m", "pytest_clawperator"]
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def adb_socket(server: str) -> str:
    """Return the address of an adb server as adb itself reads it."""
    if server.startswith(("tcp:", "localfilesystem:")):
        return server
    if server.startswith("/"):
        return f"localfilesystem:{server}"
    return f"tcp:{server}" if ":" in server else f"tcp:127.0.0.1:{server}"
