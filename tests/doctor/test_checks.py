"""The checks of the computer: on values, and on real adb programs and servers."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_clawperator.doctor.examine import judge_host
from pytest_clawperator.doctor.facts import HostFacts, RunningServer, gather_host, running_servers
from pytest_clawperator.doctor.report import Finding
from pytest_clawperator.errors import AdbUnavailableError
from pytest_clawperator.transport.adb_program import find_adb
from pytest_clawperator.transport.wire import AdbServer

GOOD = HostFacts(
    python="3.12.1",
    package_version="1.0",
    server=AdbServer(port=5037),
    adb=Path("/usr/bin/adb"),
    adb_version="Android Debug Bridge version 1.0.41",
    adb_number=41,
    server_number=41,
    servers=(RunningServer(1, 5037, takes_usb=True),),
)

NO_ADB = replace(
    GOOD, adb=None, adb_version="", adb_number=None, adb_problem=AdbUnavailableError("none")
)

NO_SERVER = AdbUnavailableError("no adb server answers", code="ADB_SERVER_FAILED", hint="Start it.")


def as_rows(findings: tuple[Finding, ...]) -> list[tuple[str, str, str | None]]:
    """Return id, status and code of findings that are not fine."""
    return [(one.id, one.status, one.code and str(one.code)) for one in findings]


def test_a_computer_with_all_passes() -> None:
    """All checks are there in their order."""
    assert as_rows(judge_host(GOOD)) == [
        ("host.python.version", "pass", None),
        ("host.adb.presence", "pass", None),
        ("host.adb.server", "pass", None),
        ("host.adb.version", "pass", None),
        ("host.adb.servers", "pass", None),
    ]


USB = RunningServer(2, 6000, takes_usb=True)


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        (
            replace(NO_ADB, server_number=None, server_problem=NO_SERVER),
            ("host.adb.presence", "fail", "ADB_NOT_FOUND"),
        ),
        (
            replace(GOOD, server_number=None, server_problem=NO_SERVER),
            ("host.adb.server", "fail", "ADB_SERVER_FAILED"),
        ),
        (replace(GOOD, adb_version=""), ("host.adb.presence", "fail", "ADB_NOT_FOUND")),
        (NO_ADB, ("host.adb.presence", "warn", "ADB_NOT_FOUND")),
        (replace(GOOD, server_number=40), ("host.adb.version", "warn", "ADB_VERSION_MISMATCH")),
        (
            replace(GOOD, servers=(*GOOD.servers, USB)),
            ("host.adb.servers", "warn", "ADB_SEVERAL_SERVERS"),
        ),
        # A server without USB devices does not count, nor do others if ours takes none.
        (
            replace(GOOD, servers=(*GOOD.servers, replace(USB, port=None, takes_usb=False))),
            ("host.adb.servers", "pass", None),
        ),
        (replace(GOOD, servers=(USB, replace(USB, pid=3))), ("host.adb.servers", "pass", None)),
    ],
)
def test_each_problem_of_the_computer_is_found(
    facts: HostFacts, row: tuple[str, str, str | None]
) -> None:
    """A failure is the last finding: without adb there is nothing more to find out."""
    rows = as_rows(judge_host(facts))

    assert row in rows
    assert row[1] != "fail" or rows[-1] == row


@contextmanager
def adb_server(folder: Path) -> Iterator[tuple[AdbServer, int]]:
    """Start a real adb server that would take USB devices; it is up when the program ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / ".android").mkdir(exist_ok=True)
    (folder / ".android" / "adbkey").touch()  # else it makes one, which takes long
    quiet = {"ADB_LIBUSB": "0", "ADB_MDNS": "0", "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554"}
    environment = {**os.environ, **quiet, "HOME": str(folder)}
    adb = [str(find_adb()), "-P", str(port)]
    subprocess.run([*adb, "start-server"], env=environment, check=True, capture_output=True)
    pid = next(server.pid for server in running_servers() if server.port == port)
    try:
        yield AdbServer(port=port), pid
    finally:
        os.kill(pid, signal.SIGKILL)


def test_another_server_that_runs_is_found(tmp_path: Path) -> None:
    """A second real server is named by its process; once it has ended it is not found."""
    with adb_server(tmp_path) as (used, _):
        with adb_server(tmp_path) as (_, other):
            both = judge_host(gather_host(used))
        alone = judge_host(gather_host(used))

    assert other in found_pids(both)
    assert other not in found_pids(alone)
    assert ("host.adb.version", "pass", None) in as_rows(both)


def found_pids(findings: tuple[Finding, ...]) -> list[int]:
    """Return the processes of other servers that were found."""
    finding = next(one for one in findings if one.id == "host.adb.servers")
    return list(finding.evidence.get("pids", []))


def test_versions_and_addresses_are_those_of_real_programs(
    server: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adb of ADB_PATH must have the server's version; a missing server has its address."""
    other = tmp_path / "adb"
    other.write_text("#!/bin/sh\necho Android Debug Bridge version 1.0.32\n", encoding="utf-8")
    other.chmod(other.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ADB_PATH", str(other))
    mismatch = as_rows(judge_host(gather_host(server)))
    monkeypatch.setenv("ADB_PATH", str(find_adb()))
    with socket.create_server(("127.0.0.1", 0)) as free:
        absent = AdbServer(port=free.getsockname()[1])

    findings = judge_host(gather_host(absent))

    assert ("host.adb.version", "warn", "ADB_VERSION_MISMATCH") in mismatch
    assert as_rows(findings)[-1] == ("host.adb.server", "fail", "ADB_SERVER_FAILED")
    assert str(absent) in findings[-1].summary
