"""``doctor`` and ``version``: what is wrong with this computer and its devices, and the fix."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake, read_number
from pytest_clawperator.cli.output import Answer, Line, Piece, for_command_line, notice
from pytest_clawperator.cli.session import RUN_ID, is_remote, open_device
from pytest_clawperator.client.device_commands import installed_packages
from pytest_clawperator.devices.connection import chosen_package
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.devices.operator import (
    SUPPORTED_VERSION,
    parse_version,
    parse_version_code,
    require_variant,
    version_problem,
)
from pytest_clawperator.doctor.examine import Examination, steps_of, visit
from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.doctor.report import Report, Style, all_as_json, can_show, table, verdict
from pytest_clawperator.errors import ClawperatorError, ErrorCode, ShellError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.server import locate_server

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red", None: ""}

# How many seconds a device may take to answer.
_DEFAULT_WITHIN, _LONGEST = 30.0, 600.0


@command(
    "doctor",
    examples=["doctor", "doctor --device emulator-5554 --fix", "doctor --all --json"],
)
@click.option("--all", "every", is_flag=True, help="Examine every connected device, in parallel.")
@click.option(
    "--fix", is_flag=True, help="Run the steps that begin with a command, and report each."
)
@click.option("--full", is_flag=True, help="Also open Settings on the device, and check it.")
@click.option("--check-only", is_flag=True, help="Exit with 0, whatever is found.")
def doctor(options: GlobalOptions, every: bool, fix: bool, full: bool, check_only: bool) -> Answer:
    """Examine this computer and a device: what is wrong, and how to fix it.

    Nothing is changed without --fix. Warnings leave the exit code at 0.
    """
    if is_remote(options):
        raise Mistake(
            "doctor examines devices that adb reaches, and no url",
            hint="Run it on the computer that the device is connected to.",
        )
    store = open_leases(options.lease, run_id=RUN_ID, notify=notice)
    how = Examination(
        package=chosen_package(options.operator_package),
        leases=store,
        within=_within(options),
        fixes=fix,
        full=full,
        notify=lambda serial, change: notice(f"[{serial}] {change}"),
    )
    try:
        reports = visit(locate_server(options.adb), how, serial=options.device, every=every)
    finally:
        store.close()
    document = (
        all_as_json(reports, for_command_line) if every else reports[0].to_json(for_command_line)
    )
    is_fine = check_only or all(report.ok for report in reports)
    page = [*_page(reports), *([] if fix else _next(reports))]
    return Answer(document, page, exit_code=0 if is_fine else 1)


def _within(options: GlobalOptions) -> float:
    if options.timeout is None:
        return _DEFAULT_WITHIN
    seconds = read_number(options.timeout) / 1000
    if not 0 < seconds <= _LONGEST:
        raise Mistake(
            f"--timeout {options.timeout} is not a valid time to wait for a device",
            hint=f"Give milliseconds, from 1 to {_LONGEST * 1000:.0f}.",
        )
    return seconds


def _page(reports: Sequence[Report]) -> list[Piece]:
    style = Style(
        width=shutil.get_terminal_size().columns,
        is_ascii=not can_show(sys.stdout.encoding),
        wording=for_command_line,
    )
    lines = [Line(line.text, _COLOURS[line.status]) for line in table(reports, style)]
    summary = verdict(reports)
    return [*lines, "", Line(summary.text, _COLOURS[summary.status])]


def _next(reports: Sequence[Report]) -> list[str]:
    """Return the command to run next."""
    found = [finding for report in reports for finding in report.troubles]
    if any(one.code == ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED for one in found):
        return ["`clawperator-py doctor --all` examines all of them."]
    if steps_of(found):
        return ["With --fix the steps that are commands are taken."]
    return []


@command("version", examples=["version", "version --check-compat --device emulator-5554"])
@click.option("--check-compat", is_flag=True, help="Whether the Operator on the device fits.")
def version(options: GlobalOptions, check_compat: bool) -> Answer:
    """Print the version of this program, and the Operator versions that it supports."""
    document: dict[str, Any] = {
        "cliVersion": package_version(),
        "supportedOperator": SUPPORTED_VERSION,
    }
    if not check_compat:
        text = f"clawperator-py {package_version()}, made for Operator {SUPPORTED_VERSION}"
        return Answer(document, [text])
    package = chosen_package(options.operator_package)
    with open_device(options) as transport:
        found = _found(transport, package)
    document |= {"operatorPackage": package, **found}
    if document["compatible"]:
        fits = f"Operator {found['apkVersion']} fits: made for {SUPPORTED_VERSION}."
        return Answer(document, [Line(fits, "green")])
    error = document["error"]
    page = [Line(f"{error['code']}: {error['message']}", "red"), *document["remediation"]]
    return Answer(document, page, exit_code=1)


def _found(transport: AdbTransport, package: str) -> dict[str, Any]:
    """Return the version of the Operator on a device, and whether it is compatible."""
    try:
        base = package.removesuffix(".dev")
        require_variant(installed_packages(transport, base), package, transport.serial)
        dump = transport.shell(f"dumpsys package {package}").stdout
    except ShellError as error:
        error.code = ErrorCode.DEVICE_SHELL_UNAVAILABLE
        return _unfit(error)
    except ClawperatorError as error:
        return _unfit(error)
    version = parse_version(dump)
    problem = version_problem(package, version, serial=transport.serial)
    found = {"apkVersion": version, "apkVersionCode": parse_version_code(dump)}
    known = {key: value for key, value in found.items() if value is not None}
    return {**known, **({"compatible": True} if problem is None else _unfit(problem))}


def _unfit(error: ClawperatorError) -> dict[str, Any]:
    error.wording = for_command_line
    about = {"code": str(error.code), "message": error.message, "hint": error.hint}
    remediation = [error.hint] if error.hint else []
    return {"compatible": False, "error": about, "remediation": remediation}
