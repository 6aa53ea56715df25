"""The trace of a test: its events, written while they happen, and read back afterwards.

Each event class is a kind of line, each field a key of it. Times are seconds: ``at`` since the
epoch, ``seconds`` a duration. Pictures, hierarchies and long texts are blobs, referred to by their
file names. ``docs/trace.md`` describes the format.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.redaction import SECRETS, hide_in, hide_in_document
from pytest_clawperator.text import visible, visible_in_xml

#: Counted up whenever a reader of the former one would misunderstand a trace.
VERSION = 1

Outcome = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A place in the code of the test, and the text of that line."""

    file: str
    line: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Lines up to a place in the code; ``first`` is the number of the first line."""

    source: Source
    first: int
    lines: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error as it is reported: its class, its code, and what to do about it."""

    type: str
    message: str
    code: str | None = None
    hint: str | None = None


@dataclass(frozen=True, kw_only=True)
class TraceEvent:
    """A line of a trace."""

    kind: ClassVar[str]
    at: float

    def to_json(self) -> dict[str, Any]:
        """Return the line as data; unknown values are left out."""
        return {"kind": self.kind, **_known(self)}


@dataclass(frozen=True, kw_only=True)
class TraceBegan(TraceEvent):
    """The first line: which test this is, and what wrote it."""

    kind: ClassVar[str] = "trace"
    version: int = VERSION
    nodeid: str
    attempt: int = 1
    run: str = ""
    worker: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeviceUsed(TraceEvent):
    """A device of the test. ``about`` is what else is known: model, API level, locale ..."""

    kind: ClassVar[str] = "device"
    serial: str
    size: tuple[int, int] | None = None
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PhaseBegan(TraceEvent):
    """Setup, call or teardown begins."""

    kind: ClassVar[str] = "phase"
    name: Literal["setup", "call", "teardown"]


@dataclass(frozen=True, kw_only=True)
class FixtureEnded(TraceEvent):
    """A fixture was set up or torn down."""

    kind: ClassVar[str] = "fixture"
    name: str
    scope: str
    stage: Literal["setup", "teardown"]
    seconds: float
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class StepBegan(TraceEvent):
    """A ``with claw.step("...")`` block begins; ``parent`` is the block around it."""

    kind: ClassVar[str] = "step"
    id: int
    parent: int | None = None
    title: str
    source: Source | None = None


@dataclass(frozen=True, kw_only=True)
class StepEnded(TraceEvent):
    """The block with this id ended."""

    kind: ClassVar[str] = "step-end"
    id: int
    seconds: float
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class ExecutionBegan(TraceEvent):
    """An execution is sent. ``title`` describes it in the words of the test."""

    kind: ClassVar[str] = "execution"
    id: int
    parent: int | None = None
    serial: str
    title: str
    source: Source | None = None
    payload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ExecutionEnded(TraceEvent):
    """The execution with this id ended.

    ``before`` and ``after`` are the hierarchies of the screen before and after it, where known.
    A failed envelope also has a ``failure``.
    """

    kind: ClassVar[str] = "execution-end"
    id: int
    seconds: float
    envelope: Mapping[str, Any] | None = None
    failure: Failure | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, kw_only=True)
class PictureTaken(TraceEvent):
    """A picture of a device, taken after the execution with this id, if there is one.

    ``scale`` is its size relative to the screen: 0.5 is half as wide.
    """

    kind: ClassVar[str] = "picture"
    serial: str
    blob: str
    size: tuple[int, int]
    scale: float = 1.0
    execution: int | None = None


@dataclass(frozen=True, kw_only=True)
class Poll:
    """One check of an expectation, and what was found instead."""

    at: float
    found: str = ""
    tree: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExpectationEnded(TraceEvent):
    """An expectation passed or failed; ``at`` is its end, ``polls`` are its checks."""

    kind: ClassVar[str] = "expectation"
    id: int
    parent: int | None = None
    serial: str | None = None
    title: str
    source: Source | None = None
    seconds: float
    polls: Sequence[Poll] = ()
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class LogWritten(TraceEvent):
    """Lines of a device's log, during the execution with this id or between executions."""

    kind: ClassVar[str] = "log"
    serial: str
    lines: Sequence[str]
    execution: int | None = None


@dataclass(frozen=True, kw_only=True)
class Noted(TraceEvent):
    """A remark: a retry, a reconnection, a lost log line."""

    kind: ClassVar[str] = "note"
    message: str
    execution: int | None = None


@dataclass(frozen=True, kw_only=True)
class ArtefactKept(TraceEvent):
    """A file that was kept for the test; ``path`` is relative to the folder of the trace."""

    kind: ClassVar[str] = "artefact"
    name: str
    path: str
    mime: str


@dataclass(frozen=True, kw_only=True)
class ErrorRaised(TraceEvent):
    """A phase of the test failed: why, where, and the traceback as pytest shows it."""

    kind: ClassVar[str] = "error"
    phase: str
    failure: Failure
    excerpt: Excerpt | None = None
    traceback: str = ""


@dataclass(frozen=True, kw_only=True)
class TraceEnded(TraceEvent):
    """The last line: how the test ended."""

    kind: ClassVar[str] = "outcome"
    outcome: Outcome
    seconds: float
    reason: str = ""
    is_infrastructure: bool = False


# Each execution of a test waits for this, so it must be quick: abstract classes are slow.
_AS_THEY_ARE = (str, int, float, dict)


def _known(value: Any) -> dict[str, Any]:
    pairs = ((name, getattr(value, name)) for name in _names(value.__class__))
    return {name: _plain(found) for name, found in pairs if not _is_lacking(found)}


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def _is_lacking(value: Any) -> bool:
    return not value and not isinstance(value, (int, float))


def _plain(value: Any) -> Any:
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if is_dataclass(value):
        return _known(value)
    return dict(value) if isinstance(value, Mapping) else value


# Tests replace time.time and time.monotonic; nothing replaces what is beneath them.
_HAS_CLOCKS = hasattr(time, "clock_gettime")


def now() -> float:
    """Return the seconds since the epoch."""
    return time.clock_gettime(time.CLOCK_REALTIME) if _HAS_CLOCKS else time.time()


def ticks() -> float:
    """Return a monotonic time in seconds, for durations."""
    return time.clock_gettime(time.CLOCK_MONOTONIC) if _HAS_CLOCKS else time.monotonic()


EVENTS_FILE = "trace.jsonl"

BLOBS_FOLDER = "blobs"

# Enough digits of the checksum that two blobs never share a name by chance.
_DIGITS = 32

# Blobs that are text, and may contain a secret.
_TEXTS = (".xml", ".txt", ".json")

_PRINTED = bytes([*range(0x20, 0x7F), 0x09, 0x0A])

_TRIES = 10

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


class TraceWriter:
    """Append events to the trace of one attempt at a test, in a new folder.

    A line is written by one system call: a process that is killed loses at most the event that
    it was writing. A blob is written before the line that names it. Secrets are hidden; those
    that become known later are hidden at the end.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._blobs = folder / BLOBS_FOLDER
        _make_folder(self._blobs)
        self._file: int | None = os.open(folder / EVENTS_FILE, _NEW | os.O_APPEND, 0o644)
        self._kept: set[str] = set()
        self._lock = threading.Lock()
        self._secrets = SECRETS.secrets

    def write(self, event: TraceEvent) -> None:
        """Append an event without secrets; ignore it after the trace was closed."""
        line = to_line(hide_in(event.to_json()))
        with self._lock:
            if self._file is not None:
                write_all(self._file, line)

    def keep(self, content: bytes, suffix: str) -> str:
        """Store a blob, once for equal contents, and return the name of its file."""
        if suffix in _TEXTS:
            content = _harmless(hide_in_document(content, name=suffix), suffix)
        name = f"{sha256(content).hexdigest()[:_DIGITS]}{suffix}"
        with self._lock:
            if name not in self._kept and self._file is not None:
                self._kept.add(name)
                file = os.open(self._blobs / name, _NEW, 0o644)
                try:
                    write_all(file, content)
                finally:
                    os.close(file)
        return name

    def close(self) -> None:
        """Close the trace; later events are ignored."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
                if SECRETS.secrets != self._secrets:
                    self._hide_later_secrets()

    def _hide_later_secrets(self) -> None:
        hide_in_lines(self.folder / EVENTS_FILE)
        for name in self._kept:
            if name.endswith(_TEXTS):
                path = self._blobs / name
                path.write_bytes(hide_in_document(path.read_bytes(), name=name))


def hide_in_lines(path: Path) -> None:
    """Hide secrets in a file of JSON lines, each of which is a separate document."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(hide_in_document(line, name=".json") for line in lines))


def _make_folder(folder: Path) -> None:
    """Make a folder, even while others remove its empty parents."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            folder.mkdir(parents=True)
            return
    folder.mkdir(parents=True)


def _harmless(content: bytes, suffix: str) -> bytes:
    """Return a text with its control characters made visible, so that it is safe to print."""
    if content.isascii() and not content.translate(None, _PRINTED):
        return content
    show = visible_in_xml if suffix == ".xml" else visible
    return show(content.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")


def to_line(data: Any) -> bytes:
    """Return data as one line; lone surrogates, NaN and Infinity survive the round trip."""
    try:
        text = _encode(data)
    except (TypeError, ValueError):
        text = _encode(_finite(data))
    # The encoder escapes everything beyond ASCII, and all control characters but this one.
    return text.replace("\x7f", "\\u007f").encode("ascii") + b"\n"


def _finite(value: Any) -> Any:
    """Return data with NaN and Infinity as texts."""
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value


def write_all(file: int, content: bytes) -> None:
    """Write all bytes to a file descriptor."""
    while content:
        content = content[os.write(file, content) :]


_BLOB = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")


@dataclass(frozen=True)
class Trace:
    """A trace that was read: its lines as data, and its folder.

    ``skipped`` is the number of unreadable lines.
    """

    folder: Path
    events: tuple[dict[str, Any], ...]
    skipped: int = 0

    @property
    def head(self) -> dict[str, Any]:
        """The first line: which test it is."""
        return self.events[0]

    @property
    def end(self) -> dict[str, Any] | None:
        """The last line; None if the test was broken off."""
        last = self.events[-1]
        return last if last["kind"] == TraceEnded.kind else None

    def of_kind(self, kind: str) -> Iterator[dict[str, Any]]:
        """Yield the events of one kind."""
        return (event for event in self.events if event["kind"] == kind)

    def blob(self, name: object) -> bytes | None:
        """Return a blob; None if it is missing, or if the name is not valid."""
        if not isinstance(name, str) or not _BLOB.fullmatch(name):
            return None
        try:
            return (self.folder / BLOBS_FOLDER / name).read_bytes()
        except OSError:
            return None


def read_trace(folder: Path) -> Trace:
    """Read the trace in a folder; raise ``ConfigurationError`` if it cannot be read.

    A last line that was cut off, and lines that are not events, are left out.
    """
    path = folder / EVENTS_FILE
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be read: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint=f"Name a folder that has a {EVENTS_FILE}, as the folder of a test that failed has "
            "in its folder `trace`.",
        ) from exc
    events = tuple(events_of(content))
    _check_head(path, events)
    return Trace(folder, events, skipped=content.count(b"\n") - len(events))


def events_of(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the whole lines that are events."""
    for line in content.split(b"\n")[:-1]:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        is_event = isinstance(data, dict) and isinstance(data.get("kind"), str)
        if is_event and number_of(data.get("at")) is not None:
            yield data


def number_of(value: object) -> float | None:
    """Return a number of a line; None if it is something else."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def words_of(data: object) -> dict[str, str]:
    """Return an object of a line with texts only."""
    return {str(name): str(one) for name, one in data.items()} if isinstance(data, dict) else {}


def _check_head(path: Path, events: tuple[dict[str, Any], ...]) -> None:
    head = events[0] if events else {}
    if head.get("kind") != TraceBegan.kind or not isinstance(head.get("nodeid"), str):
        raise ConfigurationError(
            f"{path} is not a trace: it does not begin with the line of a test",
            hint="The test may have been killed before it began; run it again.",
        )
    version = head.get("version")
    if version != VERSION:
        raise ConfigurationError(
            f"{path} has version {version!r} of the format, and this package reads {VERSION}",
            hint="Read it with the version of pytest-clawperator that wrote it.",
        )


# The devices of a test are among its first lines, its outcome is the last one.
_BEGIN, _END = 65_536, 65_536

# How many earlier runs are searched for a test.
_RUNS = 50


@dataclass(frozen=True, kw_only=True)
class Glance:
    """What the first and last lines of a trace contain; ``outcome`` is None if it has no end."""

    folder: Path
    nodeid: str
    attempt: int
    worker: str
    start: float
    stop: float
    devices: dict[str, dict[str, str]] = field(default_factory=dict)
    outcome: str | None = None
    reason: str = ""
    is_infrastructure: bool = False


def traces_in(folder: Path) -> Iterator[Glance]:
    """Yield a glance at each readable trace below a folder."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != BLOBS_FOLDER)
        if EVENTS_FILE in files and (found := glance(Path(place))) is not None:
            yield found


def glance(folder: Path) -> Glance | None:
    """Read the first and last lines of the trace in a folder; None if it cannot be read."""
    try:
        with (folder / EVENTS_FILE).open("rb") as file:
            first = list(events_of(file.read(_BEGIN)))
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
            last = list(events_of(file.read()))
    except OSError:
        return None
    head = first[0] if first else {}
    is_ours = head.get("kind") == TraceBegan.kind and head.get("version") == VERSION
    if not is_ours or not isinstance(head.get("nodeid"), str):
        return None
    end = last[-1] if last and last[-1]["kind"] == TraceEnded.kind else {}
    return Glance(
        folder=folder,
        nodeid=head["nodeid"],
        attempt=attempt if isinstance(attempt := head.get("attempt"), int) else 1,
        worker=str(head.get("worker", "")),
        start=head["at"],
        stop=max(head["at"], (last or first)[-1]["at"]),
        devices=devices_of(first),
        outcome=str(end["outcome"]) if "outcome" in end else None,
        reason=str(end.get("reason", "")),
        is_infrastructure=end.get("is_infrastructure") is True,
    )


def last_passed(trace: Trace, *, run: str) -> Trace | None:
    """Return the trace of the last run in which a test passed, to compare a failure with it.

    Other runs have it in a folder of the same name as that of ``trace`` in this ``run``.
    """
    here = next((one for one in trace.folder.parents if one.name == run), None)
    if here is None or (trace.end or {}).get("outcome") == "passed":
        return None
    test = trace.folder.relative_to(here).parts[0]
    for other in sorted(here.parent.iterdir(), reverse=True)[:_RUNS]:
        if other == here or not (other / test).is_dir():
            continue
        for found in traces_in(other / test):
            if (found.nodeid, found.outcome) == (trace.head["nodeid"], "passed"):
                return read_trace(found.folder)
    return None


def devices_of(events: Iterable[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return what is known about each device, by its serial."""
    used = (event for event in events if event["kind"] == DeviceUsed.kind)
    return {
        event["serial"]: words_of(event.get("about"))
        for event in used
        if isinstance(event.get("serial"), str)
    }
