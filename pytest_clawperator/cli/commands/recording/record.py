"""``record start``, ``stop``, ``pull`` and ``parse``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.payloads import payload, timed
from pytest_clawperator.cli.commands.executions.running import perform
from pytest_clawperator.cli.commands.recording.steps import describe_step, parse_recording
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.cli.session import open_device
from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.devices.connection import wanted_package
from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    StepFailedError,
    file_problem,
)
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.shell import quote

_SAFE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
# What to do when the Operator refuses.
_NEXT: Mapping[str, str] = {
    ErrorCode.RECORDING_NOT_IN_PROGRESS: "Start one: `clawperator-py record start`.",
    ErrorCode.RECORDING_ALREADY_IN_PROGRESS: "Stop it first: `clawperator-py record stop`.",
    ErrorCode.RECORDING_START_FAILED: "Give another --session-id, or free some space.",
}
_session = click.option("--session-id", metavar="ID", help="The name of the recording.")


@command("record start", examples=["record start", "record start --session-id checkout"])
@_session
def record_start(options: GlobalOptions, session_id: str | None) -> Answer:
    """Start to record what a person does on the device."""
    return _record(options, "start", session_id, timeout_ms=10_000)


@command("record stop", examples=["record stop"])
@_session
def record_stop(options: GlobalOptions, session_id: str | None) -> Answer:
    """Stop the recording; its file stays on the device."""
    return _record(options, "stop", session_id, timeout_ms=15_000)


@command("record pull", examples=["record pull", "record pull --session-id checkout --out tmp"])
@_session
@click.option("--out", default="recordings", metavar="FOLDER", help="Default: recordings.")
def record_pull(options: GlobalOptions, session_id: str | None, out: str) -> Answer:
    """Fetch a recording from the device: the newest, or the one of this name."""
    package = wanted_package(options.operator_package) or OPERATOR_PACKAGE
    folder = f"/sdcard/Android/data/{package}/files/recordings"
    with open_device(options) as transport:
        wanted = _checked(session_id or _latest(transport, folder), transport.serial)
        content = _pull(transport, f"{folder}/{wanted}.ndjson")
    path = Path(out) / f"{wanted}.ndjson"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except UNUSABLE_FILE as error:
        raise _pull_failed(f"{path} cannot be written: {file_problem(error)}") from error
    page: list[Piece] = [
        Line(f"✓ fetched {path}", "green"),
        f"Its steps: clawperator-py record parse {shlex.quote(str(path))}",
    ]
    return Answer({"ok": True, "localPath": str(path), "sessionId": wanted}, page)


@command(
    "record parse",
    examples=["record parse --input recordings/checkout.ndjson", "record parse checkout.ndjson"],
)
@click.argument("words", nargs=-1, metavar="[FILE]")
@click.option("--input", "source", metavar="FILE", help="The same as the argument.")
@click.option("--out", metavar="FILE", help="Where to write the steps; default: beside it.")
def record_parse(
    options: GlobalOptions, words: tuple[str, ...], source: str | None, out: str | None
) -> Answer:
    """Write the steps of a recording into a file: the app that was opened, what was clicked."""
    given = [*words, *([source] if source else [])]
    if len(given) != 1:
        raise Mistake("record parse --input <file> [--out <file>]", exit_code=0)
    path = Path(given[0])
    stem = path.with_suffix("") if path.suffix == ".ndjson" else path
    written = Path(out) if out else Path(f"{stem}.steps.json")
    try:
        log = parse_recording(path.read_text(encoding="utf-8"))
        written.write_text(json.dumps(log, indent=2, ensure_ascii=False), encoding="utf-8")
    except UNUSABLE_FILE as error:
        raise _unusable(error) from error
    steps: list[Any] = log["steps"]
    warnings = log.get("_warnings", [])
    document = {"ok": True, "outputFile": str(written), "stepCount": len(steps)}
    told = [Line(f"! {warning}", "yellow") for warning in warnings]
    page: list[Piece] = [*map(describe_step, steps), *told, Line(f"✓ wrote {written}", "green")]
    return Answer({**document, "warnings": warnings} if warnings else document, page)


def _record(
    options: GlobalOptions, verb: str, session_id: str | None, *, timeout_ms: int
) -> Answer:
    wanted = payload(
        f"{verb}_recording",
        {"sessionId": session_id} if session_id else {},
        step="a1",
        command_id=timed(f"{verb}_recording"),
        task_id=f"cli-record-{verb}",
        timeout_ms=timeout_ms,
    )
    try:
        return perform(options, wanted, page=_page)
    except StepFailedError as error:
        error.hint = _NEXT.get(error.code, error.hint)
        raise


def _page(result: RunResult) -> list[Piece]:
    """Return what happened, and the next command."""
    step = result.steps[0]
    name = step.data.get("sessionId", "")
    if step.action_type == "start_recording":
        return [
            Line(f"✓ recording {name} on {result.serial}", "green"),
            "When all is done: clawperator-py record stop",
        ]
    return [
        Line(f"✓ recorded {step.data.get('eventCount', '?')} events as {name}", "green"),
        "Fetch it: clawperator-py record pull",
    ]


def _latest(transport: AdbTransport, folder: str) -> str:
    """Return the name of the newest recording."""
    told = transport.shell(f"cat {quote(f'{folder}/latest')}")
    name = told.stdout.strip()
    if not told.ok or not name:
        raise _not_found("there is no finished recording on the device", transport.serial)
    return name


def _checked(session_id: str, serial: str) -> str:
    """Return the name of a recording; it becomes a part of paths."""
    if not _SAFE_ID.fullmatch(session_id):
        raise _not_found(f"{session_id!r} is not the name of a recording", serial)
    return session_id


def _pull(transport: AdbTransport, path: str) -> bytes:
    try:
        return transport.pull(path)
    except ClawperatorError as error:
        if error.code in (ErrorCode.DEVICE_OFFLINE, ErrorCode.DEVICE_NOT_FOUND):
            raise
        raise _pull_failed(error.message) from error


def _not_found(problem: str, serial: str) -> ConfigurationError:
    return ConfigurationError(
        problem,
        code=ErrorCode.RECORDING_SESSION_NOT_FOUND,
        serial=serial,
        hint="Record one: `clawperator-py record start`, and `clawperator-py record stop`.",
    )


def _pull_failed(problem: str) -> ConfigurationError:
    return ConfigurationError(
        problem,
        code=ErrorCode.RECORDING_PULL_FAILED,
        hint="Check the name of the recording, and that it was stopped; --out says where to.",
    )


def _unusable(error: OSError | ValueError) -> ConfigurationError:
    reason = "it is not UTF-8" if isinstance(error, UnicodeError) else file_problem(error)
    name = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    return ConfigurationError(
        f"the file cannot be used: {name}{reason}",
        code=ErrorCode.FILE_UNAVAILABLE,
        hint="Correct --input or --out.",
    )
