"""``doctor``: what is wrong with this computer and its devices, and what mends it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.numbers import read_number
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.hints import for_command_line
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece, notice
from pytest_clawperator.cli.session import RUN_ID, is_remote
from pytest_clawperator.contracts.device import OPERATOR_PACKAGE
from pytest_clawperator.devices.connection import wanted_package
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.doctor.examine import Examination, visit
from pytest_clawperator.doctor.report import Report, Style, all_as_json, can_show, table, verdict
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.server import locate_server

_COLOURS = {"pass": "green", "warn": "yellow", "fail": "red", None: ""}
# How many seconds a device may take to tell about itself.
_DEFAULT_WITHIN, _LONGEST = 30.0, 600.0


@command(
    "doctor",
    examples=["doctor", "doctor --device emulator-5554 --fix", "doctor --all --json"],
)
@click.option("--all", "every", is_flag=True, help="Examine every connected device, all at once.")
@click.option(
    "--fix", is_flag=True, help="Take the steps that begin with a command, and tell each."
)
@click.option("--full", is_flag=True, help="Also open Settings on the device, and look at it.")
@click.option("--check-only", is_flag=True, help="Exit with 0, whatever is found.")
def doctor(options: GlobalOptions, every: bool, fix: bool, full: bool, check_only: bool) -> Answer:
    """Examine this computer and a device: what is wrong, and what mends it.

    Nothing is changed without --fix. Warnings leave the exit code at 0.
    """
    if is_remote(options):
        raise Mistake(
            "doctor examines devices that adb reaches, and no url",
            hint="Run it on the computer that the device is connected to.",
        )
    store = open_leases(options.lease, run_id=RUN_ID, say=notice)
    how = Examination(
        package=wanted_package(options.operator_package) or OPERATOR_PACKAGE,
        leases=store,
        within=_within(options),
        mends=fix,
        full=full,
        tell=lambda serial, change: notice(f"[{serial}] {change}"),
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
            f"--timeout {options.timeout} is no time to wait for a device",
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
    """Return what to type next."""
    found = [finding for report in reports for finding in report.troubles]
    if any(one.code == ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED for one in found):
        return ["`clawperator-py doctor --all` examines all of them."]
    if any(one.fix and one.fix.is_automatic for one in found):
        return ["With --fix the steps that are commands are taken."]
    return []
