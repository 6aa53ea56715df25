"""The steps in a recording: which app was opened, and what was clicked.

A recording is a line of JSON for each event, after a header. What is clicked becomes a step; the
first window becomes the app that is opened. Other events are checked, and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_clawperator.contracts.ecmascript import parse_json, trim
from pytest_clawperator.errors import ConfigurationError, ErrorCode

SCHEMA_VERSION = 1

Event = dict[str, Any]
_Check = Callable[[Any], bool]


def parse_recording(text: str) -> dict[str, Any]:
    """Return the steps of a recording, in the form of the published program.

    Raise with the number of the line what cannot be understood.
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
    told = " ".join(f"{name}={value!r}" for name, value in named.items() if value)
    return f"[{step['seq']}] click      {told or '(nothing to find it by)'}"


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
