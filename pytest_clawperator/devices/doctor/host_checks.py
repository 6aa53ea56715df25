"""The checks of this computer: Python, the adb program, the adb server, other servers."""

from __future__ import annotations

from collections.abc import Callable

from pytest_clawperator.devices.doctor.host_facts import HostFacts
from pytest_clawperator.devices.doctor.report import (
    ByHand,
    Finding,
    Fix,
    failed,
    passed,
    warned,
)
from pytest_clawperator.errors import ErrorCode

HostCheck = Callable[[HostFacts], Finding | None]

_INSTALL_ADB = Fix(
    "Install Android's platform tools",
    (
        ByHand("macOS: brew install --cask android-platform-tools"),
        ByHand("Linux: sudo apt-get install adb"),
        ByHand("Or set ADB_PATH to an adb program."),
    ),
)


def check_python(facts: HostFacts) -> Finding:
    """Name the versions of Python and of this package; older Pythons cannot import it."""
    return passed(
        "host.python.version",
        f"Python {facts.python}, pytest-clawperator {facts.package_version}.",
        python=facts.python,
        package=facts.package_version,
    )


def check_adb_presence(facts: HostFacts) -> Finding:
    """Check that there is an adb program that runs."""
    check = "host.adb.presence"
    if facts.adb is None:
        detail = facts.adb_problem.message if facts.adb_problem else ""
        tell = failed if facts.server_number is None else warned
        return tell(
            check,
            ErrorCode.ADB_NOT_FOUND,
            "No adb program was found.",
            detail=detail,
            fix=_INSTALL_ADB,
        )
    if not facts.adb_version:
        return failed(
            check,
            ErrorCode.ADB_NOT_FOUND,
            f"{facts.adb} cannot be run as adb.",
            fix=_INSTALL_ADB,
            path=str(facts.adb),
        )
    return passed(check, "adb is installed.", version=facts.adb_version, path=str(facts.adb))


def check_adb_server(facts: HostFacts) -> Finding:
    """Check that the adb server answers."""
    check = "host.adb.server"
    problem = facts.server_problem
    if problem is not None:
        return failed(
            check,
            problem.code,
            f"No adb server can be used at {facts.server}.",
            detail=problem.message,
            fix=Fix("Restart the adb server", (ByHand(problem.advice or ""),)),
        )
    started = " It was started for this check." if facts.server_started else ""
    return passed(check, f"The adb server at {facts.server} answers.{started}")


def check_adb_version(facts: HostFacts) -> Finding | None:
    """Check that program and server are of one version: else one ends the other."""
    check = "host.adb.version"
    if facts.adb_number is None or facts.server_number is None:
        return None
    if facts.adb_number != facts.server_number:
        return warned(
            check,
            ErrorCode.ADB_VERSION_MISMATCH,
            f"The adb program is of version 1.0.{facts.adb_number}, the server of version"
            f" 1.0.{facts.server_number}.",
            detail=f"The next command of {facts.adb} ends the server, and with it what runs on it.",
            fix=Fix(
                "Use one adb",
                (
                    ByHand("Have PATH or ADB_PATH name the adb that all your tools use."),
                    ByHand("Then run `adb kill-server` and `adb start-server`."),
                ),
            ),
            program=facts.adb_number,
            server=facts.server_number,
        )
    return passed(check, f"Program and server are of version 1.0.{facts.adb_number}.")


def check_adb_servers(facts: HostFacts) -> Finding | None:
    """Check that no other adb server takes the USB devices of the one in use."""
    check = "host.adb.servers"
    takers = [server for server in facts.servers if server.takes_usb]
    used = [server for server in takers if server.port == facts.server.port]
    others = [server for server in takers if server.port != facts.server.port]
    if not used or not others:
        return passed(check, "No other adb server takes its devices.") if facts.servers else None
    told = ", ".join(f"process {one.pid} (port {one.port or 'unknown'})" for one in others)
    return warned(
        check,
        ErrorCode.ADB_SEVERAL_SERVERS,
        f"{len(takers)} adb servers run; USB devices belong to whichever takes them first.",
        detail=f"Beside the one at {facts.server}: {told}.",
        fix=Fix(
            "End the other servers",
            tuple(
                ByHand(f"adb -P {one.port} kill-server" if one.port else f"kill {one.pid}")
                for one in others
            ),
        ),
        pids=[one.pid for one in others],
    )


HOST_CHECKS: tuple[HostCheck, ...] = (
    check_python,
    check_adb_presence,
    check_adb_server,
    check_adb_version,
    check_adb_servers,
)
