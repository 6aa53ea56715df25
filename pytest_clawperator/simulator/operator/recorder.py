"""The Operator's recordings: what happens on the screen, one line of JSON for each event."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.simulator.android.state.operator_packages import OPERATOR_PACKAGES
from pytest_clawperator.simulator.files import FileSystemError
from pytest_clawperator.simulator.operator.answer.operator_log import OperatorLog, Source
from pytest_clawperator.simulator.operator.surroundings import Surroundings
from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent
from pytest_clawperator.simulator.screen.accessibility.hierarchy import hierarchy_xml

SCHEMA_VERSION = 1
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of starting or stopping a recording; ``error`` is a code."""

    error: str | None = None
    message: str | None = None
    session_id: str | None = None
    file_path: str | None = None
    event_count: int | None = None


@dataclass
class _Session:
    id: str
    path: str
    events: int = 0
    lost: str | None = None


class Recorder:
    """Writes recordings into the Operator's own folder on the shared storage."""

    def __init__(
        self, surroundings: Surroundings, *, package: str, rng: random.Random, log: OperatorLog
    ) -> None:
        self._folder = f"/storage/emulated/0/Android/data/{package}/files/recordings"
        self._files = surroundings.files
        self._ui = surroundings.ui
        self._clock = surroundings.clock
        self._package = package
        self._rng = rng
        self._log = log
        self._session: _Session | None = None

    def start(self, session_id: str | None) -> Outcome:
        """Start a recording."""
        self._ui.catch_up()  # what is due before is no part of it
        if self._session is not None:
            return Outcome(
                error="RECORDING_ALREADY_IN_PROGRESS",
                message="Recording is already in progress",
                session_id=self._session.id,
                file_path=self._session.path,
            )
        try:
            self._files.mkdir(self._folder, parents=True)
        except FileSystemError:
            return Outcome(
                error="RECORDING_STORAGE_UNAVAILABLE",
                message=f"Failed to create recordings directory: {self._folder}",
            )
        session_id = session_id or self._new_id()
        if not _SAFE_ID.fullmatch(session_id):
            text = "sessionId must use only letters, numbers, hyphens, or underscores"
            return Outcome(error="RECORDING_START_FAILED", message=text)
        session = _Session(session_id, f"{self._folder}/{session_id}.ndjson")
        try:
            self._files.write(session.path, _line(self._header(session)))
        except FileSystemError as problem:
            return Outcome(error="RECORDING_START_FAILED", message=_java_text(problem))
        self._session = session
        self._write_log("I", f"SESSION_STARTED sessionId={session.id} file={session.path}")
        return Outcome(session_id=session.id, file_path=session.path)

    def stop(self, session_id: str | None) -> Outcome:
        """End the recording; a wrong id is only logged."""
        self._ui.catch_up()
        session, self._session = self._session, None
        if session is None:
            text = "Recording is not in progress"
            return Outcome(error="RECORDING_NOT_IN_PROGRESS", message=text)
        if session_id is not None and session_id != session.id:
            self._write_log(
                "W",
                f"SESSION_ID_MISMATCH stopRequestedSessionId={session_id} "
                f"activeSessionId={session.id}",
            )
        try:
            if session.lost is not None:
                raise FileSystemError(session.path, reason=session.lost)
            self._files.write(f"{self._folder}/latest", session.id.encode())
        except FileSystemError as problem:
            return Outcome(
                error="RECORDING_STOP_FAILED",
                message=_java_text(problem),
                session_id=session.id,
                file_path=session.path,
                event_count=session.events,
            )
        self._write_log(
            "I",
            f"SESSION_STOPPED sessionId={session.id} file={session.path} "
            f"eventCount={session.events}",
        )
        return Outcome(session_id=session.id, file_path=session.path, event_count=session.events)

    def abandon(self) -> None:
        """Leave the recording unfinished, because the process ends."""
        self._session = None

    def on_back_key(self) -> None:
        """Record the back key."""
        if self._session is not None:
            now = self._clock.seconds()
            self._record(now, snapshot=self._snapshot(), key="back", type="press_key")

    def on_event(self, event: AccessibilityEvent) -> None:
        """Record an event on the screen, if it is of a kind that is recorded."""
        describe = _DESCRIBED.get(event.type)
        if self._session is None or describe is None or event.package in OPERATOR_PACKAGES:
            return
        has_snapshot = event.type in _WITH_SNAPSHOT
        self._record(
            event.time,
            snapshot=self._snapshot() if has_snapshot else None,
            packageName=event.package,
            **describe(event),
        )

    def _snapshot(self) -> str | None:
        roots = self._ui.view.roots()
        return hierarchy_xml(roots, self._ui.display.rotation) if roots else None

    def _record(self, time: float, **values: Any) -> None:
        session = self._session
        if session is None:
            return
        event = {"ts": int(time * 1000), "seq": session.events, **values}
        try:
            self._files.append(session.path, _line(event))
        except FileSystemError as problem:
            session.lost = problem.reason
            self._write_log("E", f"QUEUE_DRAIN_FAILED sessionId={session.id}")
        else:
            session.events += 1

    def _header(self, session: _Session) -> dict[str, Any]:
        return {
            "type": "recording_header",
            "schemaVersion": SCHEMA_VERSION,
            "sessionId": session.id,
            "startedAt": int(self._clock.now()),
            "operatorPackage": self._package,
        }

    def _new_id(self) -> str:
        return f"record-{int(self._clock.now())}-{self._rng.getrandbits(32):08x}"

    def _write_log(self, priority: str, text: str) -> None:
        {"I": self._log.info, "W": self._log.warn, "E": self._log.error}[priority](
            Source.RECORDING, text
        )


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode("utf-8", "replace")


def _java_text(problem: FileSystemError) -> str:
    code = {"No space left on device": "ENOSPC", "Permission denied": "EACCES"}
    return f"{problem.path}: open failed: {code.get(problem.reason, 'EIO')} ({problem.reason})"


def _first(*texts: str) -> str | None:
    return next((text.strip() for text in texts if text.strip()), None)


def _click(event: AccessibilityEvent) -> dict[str, Any]:
    node = event.source
    left, top, right, bottom = (0, 0, 0, 0) if node is None else node.bounds
    return {
        "resourceId": None if node is None else node.resource_id or None,
        "text": _first(*(() if node is None else (node.text,)), *event.texts[:1]),
        "contentDesc": _first(*(() if node is None else (node.content_desc,)), event.content_desc),
        "bounds": {"left": left, "top": top, "right": right, "bottom": bottom},
        "type": "click",
    }


def _window_change(event: AccessibilityEvent) -> dict[str, Any]:
    return {
        "className": event.class_name or None,
        "title": _first(event.content_desc, *event.texts[:1]),
        "type": "window_change",
    }


def _scroll(event: AccessibilityEvent) -> dict[str, Any]:
    names = ("scrollX", "scrollY", "maxScrollX", "maxScrollY")
    return {"resourceId": None, **dict(zip(names, event.scroll, strict=True)), "type": "scroll"}


def _text_change(event: AccessibilityEvent) -> dict[str, Any]:
    text = "".join(event.texts)
    return {"resourceId": None, "text": text if text.strip() else "", "type": "text_change"}


_DESCRIBED: Mapping[str, Callable[[AccessibilityEvent], dict[str, Any]]] = {
    "TYPE_VIEW_CLICKED": _click,
    "TYPE_WINDOW_STATE_CHANGED": _window_change,
    "TYPE_VIEW_SCROLLED": _scroll,
    "TYPE_VIEW_TEXT_CHANGED": _text_change,
}
_WITH_SNAPSHOT = frozenset({"TYPE_VIEW_CLICKED", "TYPE_WINDOW_STATE_CHANGED"})
