"""What a run of actions uses: the phone around it, its time, its recorder."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_clawperator.simulator.android.log_buffer import LogBuffer
from pytest_clawperator.simulator.android.packages import OPERATOR_PACKAGES
from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem, FileSystemError
from pytest_clawperator.simulator.operator.command import Command, Profile
from pytest_clawperator.simulator.operator.operator_log import (
    COMMAND,
    SCOPE,
    UI_SCOPE,
    JavaError,
    OperatorLog,
    Source,
)
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent, hierarchy_xml
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.stats import Stats

SCHEMA_VERSION = 1
_SAFE_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
T = TypeVar("T")
Details = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The parts of the phone."""

    ui: PhoneUi
    log: LogBuffer
    faults: Faults
    files: FileSystem
    settings: SettingsStore
    stats: Stats
    clock: PhoneClock


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the steps of one command share."""

    command: Command
    ui: PhoneUi
    log: OperatorLog
    time: RunTime
    faults: Faults
    settings: SettingsStore
    recorder: Recorder
    rng: random.Random
    profile: Profile
    is_connected: Callable[[], bool]

    @property
    def documented(self) -> bool:
        """Whether steps behave as specified, not as the published app does."""
        return self.profile == "documented"

    def status(self, what: str, text: str) -> None:
        """Log the progress of a stage."""
        self.log.debug(Source.STATUS_SINK, f"{COMMAND} {what} {self.command.ids} {text}")

    def status_failure(self, text: str, cause: JavaError) -> None:
        """Log that a stage failed for good."""
        self.log.error(
            Source.STATUS_SINK, f"{COMMAND} stage-failure {self.command.ids} {text}", cause
        )

    def log_task(self, text: str) -> None:
        """Log a line of the task."""
        self.log.debug(Source.TASK_SCOPE, f"{SCOPE} {text}")

    def log_ui(self, text: str) -> None:
        """Log a line of an operation on the screen."""
        self.log.debug(Source.UI_SCOPE, f"{UI_SCOPE} {text}")

    async def on_screen(self, operation: Awaitable[T]) -> T:
        """Log that operations on the screen begin and that they are done."""
        self.log_task("Executing UI operations")
        result = await operation
        self.log_task("UI operations completed")
        return result


class StepFailure(Exception):
    """A step failed; ``code`` is the specification's code for it."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


# -- Pauses and limits ---------------------------------------------------------------------------


class TimeLimitReached(Exception):
    """A time limit was reached in the middle of a pause."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__("a time limit was reached")
        self.limit = limit


class TimeLimit:
    """A moment after which what is going on shall end."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline


class RunTime:
    """Pauses and limits of one command."""

    def __init__(self, clock: PhoneClock) -> None:
        self._clock = clock
        self._limits: list[TimeLimit] = []

    def now(self) -> float:
        """Return the time in milliseconds."""
        return self._clock.now()

    def elapsed(self, since: float) -> int:
        """Return the whole milliseconds since a moment."""
        return round(self.now() - since)

    async def pause(self, duration_ms: float) -> None:
        """Wait; TimeLimitReached as soon as a limit falls into the wait."""
        first = min(self._limits, key=lambda limit: limit.deadline, default=None)
        left = None if first is None else first.deadline - self.now()
        if first is None or left is None or left > duration_ms:
            await self._clock.sleep(duration_ms)
            return
        await self._clock.sleep(left)
        raise TimeLimitReached(first)

    @contextmanager
    def limit(self, duration_ms: float) -> Iterator[TimeLimit]:
        """Limit the pauses within the block to so many milliseconds altogether."""
        limit = TimeLimit(self.now() + duration_ms)
        self._limits.append(limit)
        try:
            yield limit
        finally:
            self._limits.remove(limit)


# -- Recordings ----------------------------------------------------------------------------------


@dataclass
class _Session:
    id: str
    path: str
    events: int = 0
    lost: str | None = None

    @property
    def data(self) -> dict[str, str]:
        """The entries of a step result about it."""
        return {"sessionId": self.id, "filePath": self.path}


class Recorder:
    """Writes recordings into the Operator's own folder on the shared storage.

    ``start`` and ``stop`` return the data of their steps; one that failed has an ``error``.
    """

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

    def start(self, session_id: str | None) -> dict[str, str]:
        """Start a recording."""
        self._ui.catch_up()  # what is due before is not part of it
        if self._session is not None:
            text = "Recording is already in progress"
            return {**_error("RECORDING_ALREADY_IN_PROGRESS", text), **self._session.data}
        try:
            self._files.mkdir(self._folder, parents=True)
        except FileSystemError:
            text = f"Failed to create recordings directory: {self._folder}"
            return _error("RECORDING_STORAGE_UNAVAILABLE", text)
        session_id = session_id or self._new_id()
        if not _SAFE_ID.fullmatch(session_id):
            text = "sessionId must use only letters, numbers, hyphens, or underscores"
            return _error("RECORDING_START_FAILED", text)
        session = _Session(session_id, f"{self._folder}/{session_id}.ndjson")
        try:
            self._files.write(session.path, _line(self._header(session)))
        except FileSystemError as problem:
            return _error("RECORDING_START_FAILED", _java_text(problem))
        self._session = session
        text = f"SESSION_STARTED sessionId={session.id} file={session.path}"
        self._log.info(Source.RECORDING, text)
        return session.data

    def stop(self, session_id: str | None) -> dict[str, str]:
        """End the recording; a wrong id is only logged."""
        self._ui.catch_up()
        session, self._session = self._session, None
        if session is None:
            return _error("RECORDING_NOT_IN_PROGRESS", "Recording is not in progress")
        if session_id is not None and session_id != session.id:
            ids = f"stopRequestedSessionId={session_id} activeSessionId={session.id}"
            self._log.warn(Source.RECORDING, f"SESSION_ID_MISMATCH {ids}")
        data = {**session.data, "eventCount": str(session.events)}
        try:
            if session.lost is not None:
                raise FileSystemError(session.path, reason=session.lost)
            self._files.write(f"{self._folder}/latest", session.id.encode())
        except FileSystemError as problem:
            return {**_error("RECORDING_STOP_FAILED", _java_text(problem)), **data}
        text = f"sessionId={session.id} file={session.path} eventCount={session.events}"
        self._log.info(Source.RECORDING, f"SESSION_STOPPED {text}")
        return data

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
            self._log.error(Source.RECORDING, f"QUEUE_DRAIN_FAILED sessionId={session.id}")
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


def _error(code: str, message: str) -> dict[str, str]:
    return {"error": code, "message": message}


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
