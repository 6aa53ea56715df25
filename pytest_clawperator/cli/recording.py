"""``record``: what a person does on a device, recorded, fetched and written as steps."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.executions import payload, perform, timed
from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.cli.session import open_device
from pytest_clawperator.contracts.ecmascript import parse_json, trim
from pytest_clawperator.devices.connection import chosen_package
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
    """Start recording what a person does on the device."""
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
    package = chosen_package(options.operator_package)
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
    doubts = [Line(f"! {warning}", "yellow") for warning in warnings]
    page: list[Piece] = [*map(describe_step, steps), *doubts, Line(f"✓ wrote {written}", "green")]
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
    read = transport.shell(f"cat {quote(f'{folder}/latest')}")
    name = read.stdout.strip()
    if not read.ok or not name:
        raise _not_found("there is no finished recording on the device", transport.serial)
    return name


def _checked(session_id: str, serial: str) -> str:
    """Return the name of a recording, checked because it becomes part of paths."""
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


SCHEMA_VERSION = 1

Event = dict[str, Any]

_Check = Callable[[Any], bool]


def parse_recording(text: str) -> dict[str, Any]:
    """Return the steps of a recording, in the form of the published program.

    The error for an unreadable line has its number.
    """
    lines = [trim(line) for line in text.split("\n")]
    numbered = [(number, line) for number, line in enumerate(filter(None, lines), 1)]
    if not numbered:
        raise _unreadable("the recording is empty")
    header = _header(numbered[0][1])
    events = [_event(number, line) for number, line in numbered[1:]]
    warnings = [
        f"seq {event['seq']}: snapshot missing on {event['type']} event (uiStateBefore null)"
        for event in events
        if event["type"] in ("click", "window_change") and event.get("snapshot") is None
    ]
    events.sort(key=lambda event: event["seq"])
    warnings += [
        f"seq {event['seq']}: {event['type']} event dropped (not extracted in v1)"
        for event in events
        if event["type"] in ("scroll", "text_change", "press_key")
    ]
    found = {
        "sessionId": header["sessionId"],
        "schemaVersion": header["schemaVersion"],
        "steps": _steps(events),
    }
    return {**found, "_warnings": warnings} if warnings else found


def describe_step(step: Mapping[str, Any]) -> str:
    """Return a step in one line, for people."""
    if step["type"] == "open_app":
        return f"[{step['seq']}] open_app   {step['packageName']}"
    named = {"text": step["text"], "id": step["resourceId"], "desc": step["contentDesc"]}
    found = " ".join(f"{name}={value!r}" for name, value in named.items() if value)
    return f"[{step['seq']}] click      {found or '(nothing to find it by)'}"


def _header(line: str) -> Event:
    try:
        header = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise _unreadable("the recording has no header on its first line") from error
    if not _fits(header, _HEADER) or header["type"] != "recording_header":
        raise _unreadable("the recording has no header on its first line")
    if header["schemaVersion"] != SCHEMA_VERSION:
        raise ConfigurationError(
            f"the recording is of schema version {header['schemaVersion']}, and only"
            f" {SCHEMA_VERSION} is understood",
            code=ErrorCode.RECORDING_SCHEMA_VERSION_UNSUPPORTED,
            hint="Update this package, or record with an Operator of the same major.minor version.",
        )
    found: Event = header
    return found


def _event(number: int, line: str) -> Event:
    try:
        event = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise _unreadable(f"line {number} is not valid JSON") from error
    if not _fits(event, _EVENT):
        raise _unreadable(f"line {number} lacks one of {', '.join(_EVENT)}")
    fields = _FIELDS.get(event["type"])
    if fields is None:
        raise _unreadable(f"line {number} is an event of unknown type {event['type']!r}")
    if not _fits(event, fields):
        raise _unreadable(f"line {number}, a {event['type']}, lacks one of {', '.join(fields)}")
    found: Event = event
    return found


def _steps(events: list[Event]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    has_app = False
    for event in events:
        before = {"uiStateBefore": event.get("snapshot")}
        if event["type"] == "window_change" and not has_app:
            has_app = True
            steps.append({**_part(event, "packageName", as_type="open_app"), **before})
        elif event["type"] == "click":
            names = ("packageName", "resourceId", "text", "contentDesc", "bounds")
            steps.append({**_part(event, *names, as_type="click"), **before})
    return steps


def _part(event: Event, *names: str, as_type: str) -> dict[str, Any]:
    return {"seq": event["seq"], "type": as_type, **{name: event[name] for name in names}}


def _unreadable(problem: str) -> ConfigurationError:
    return ConfigurationError(
        problem,
        code=ErrorCode.RECORDING_PARSE_FAILED,
        hint="Fetch it again with `clawperator-py record pull`, and stop the recording before.",
    )


def _fits(found: Any, fields: Mapping[str, _Check]) -> bool:
    return isinstance(found, dict) and all(
        name in found and check(found[name]) for name, check in fields.items()
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_box(value: Any) -> bool:
    return _fits(value, dict.fromkeys(("left", "top", "right", "bottom"), _is_number))


_HEADER: Mapping[str, _Check] = {
    "type": _is_text,
    "sessionId": _is_text,
    "startedAt": _is_number,
    "operatorPackage": _is_text,
    "schemaVersion": _is_number,
}

_EVENT: Mapping[str, _Check] = {"ts": _is_number, "seq": _is_number, "type": _is_text}

_FIELDS: Mapping[str, Mapping[str, _Check]] = {
    "window_change": {"packageName": _is_text},
    "click": {
        "packageName": _is_text,
        "resourceId": _is_text_or_null,
        "text": _is_text_or_null,
        "contentDesc": _is_text_or_null,
        "bounds": _is_box,
    },
    "scroll": {
        "packageName": _is_text,
        "resourceId": _is_text_or_null,
        **dict.fromkeys(("scrollX", "scrollY", "maxScrollX", "maxScrollY"), _is_number),
    },
    "press_key": {"key": lambda value: value == "back"},
    "text_change": {
        "packageName": _is_text,
        "resourceId": _is_text_or_null,
        "text": _is_text,
    },
}
