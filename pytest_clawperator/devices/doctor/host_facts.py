"""What this computer has: Python, an adb program, adb servers."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_clawperator.devices.doctor.adb_servers import RunningServer, running_servers
from pytest_clawperator.errors import AdbUnavailableError, ClawperatorError
from pytest_clawperator.transport.adb_program import find_user_adb
from pytest_clawperator.transport.server import ensure_server
from pytest_clawperator.transport.wire import AdbServer

_VERSION_WITHIN = 5.0
_NUMBER = re.compile(r"Android Debug Bridge version 1\.0\.(\d+)")


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """What this computer has; ``..._problem`` says why something is missing.

    ``adb_number`` and ``server_number`` are the versions of the protocol that program and
    server speak. ``server_started`` tells that the server was started for this check.
    """

    python: str
    package_version: str
    server: AdbServer
    adb: Path | None = None
    adb_version: str = ""
    adb_number: int | None = None
    adb_problem: ClawperatorError | None = None
    server_number: int | None = None
    server_problem: ClawperatorError | None = None
    server_started: str = ""
    servers: tuple[RunningServer, ...] = ()


def package_version() -> str:
    """Return the version of this package."""
    try:
        return version("pytest-clawperator")
    except PackageNotFoundError:  # it is used from its sources
        return "0"


def gather_host(
    server: AdbServer, *, list_servers: Callable[[], list[RunningServer]] = running_servers
) -> HostFacts:
    """Find out what this computer has; an adb server is started where none runs, as always."""
    adb, adb_problem = _find_adb()
    said = _ask_version(adb) if adb is not None else ""
    number = _NUMBER.search(said)
    started: list[str] = []
    server_number, server_problem = None, None
    try:
        ensure_server(server, say=started.append)
        server_number = server.version()
    except ClawperatorError as error:
        server_problem = error
    return HostFacts(
        python=platform.python_version(),
        package_version=package_version(),
        server=server,
        adb=adb,
        adb_version=said.partition("\n")[0].strip(),
        adb_number=int(number[1]) if number else None,
        adb_problem=adb_problem,
        server_number=server_number,
        server_problem=server_problem,
        server_started="".join(started),
        servers=tuple(list_servers()),
    )


def _find_adb() -> tuple[Path | None, ClawperatorError | None]:
    try:
        return find_user_adb(), None
    except AdbUnavailableError as error:
        return None, error


def _ask_version(adb: Path) -> str:
    """Return what the program says about itself; nothing if it cannot be run."""
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own adb
            [adb, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode("utf-8", "replace")
