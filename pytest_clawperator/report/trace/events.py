"""What a trace tells: each class is a kind of line, each field a key of it.

Times are seconds: ``at`` since the epoch, ``seconds`` how long something took. Pictures,
hierarchies and long texts are blobs, and are named by the name of their file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, Literal

#: Counted up whenever a reader of the former one would misunderstand a trace.
VERSION = 1

Outcome = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A place in the code of the test, and the line that stands there."""

    file: str
    line: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Lines up to a place in the code; ``first`` is the number of the first one."""

    source: Source
    first: int
    lines: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error, as it is told: its class, its code, and what to do about it."""

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
        """Return the line as data; what is not known is left out."""
        return {"kind": self.kind, **_known(self)}


@dataclass(frozen=True, kw_only=True)
class TraceBegan(TraceEvent):
    """The first line: whose trace this is, and what made it."""

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
    """An execution is sent. ``title`` says what it does, as the test put it."""

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

    ``before`` and ``after`` are hierarchies: of the screen that it acted on, and of the one
    that it left, where they are known. A failed envelope has a ``failure``, too.
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
    """A picture of a device; after the execution with this id, if it has one.

    ``scale`` is how much smaller it is than the screen: 0.5 is half as wide.
    """

    kind: ClassVar[str] = "picture"
    serial: str
    blob: str
    size: tuple[int, int]
    scale: float = 1.0
    execution: int | None = None


@dataclass(frozen=True, kw_only=True)
class Poll:
    """One look at the screen of an expectation, and what was there instead."""

    at: float
    found: str = ""
    tree: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExpectationEnded(TraceEvent):
    """An expectation came true or did not; ``at`` is its end, ``polls`` are its looks."""

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
    """A remark: a retry, a reconnection, a log line that was lost."""

    kind: ClassVar[str] = "note"
    message: str
    execution: int | None = None


@dataclass(frozen=True, kw_only=True)
class ArtefactKept(TraceEvent):
    """A file that was kept of the test; ``path`` is relative to the folder of the trace."""

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


# Each execution of a test waits for this, so it asks little: abstract classes are slow to ask.
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
