"""What an index tells of a test: each class is a kind of line in ``run.jsonl``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pytest_clawperator.report.trace.events import TraceEvent

#: Counted up whenever a reader of the former one would misunderstand a file.
VERSION = 1

TestOutcome = Literal[
    "passed", "failed", "error", "skipped", "xfailed", "xpassed", "rerun", "broken off"
]
OUTCOMES: tuple[TestOutcome, ...] = (
    "failed",
    "error",
    "broken off",
    "rerun",
    "xpassed",
    "xfailed",
    "skipped",
    "passed",
)


@dataclass(frozen=True, kw_only=True)
class RunBegan(TraceEvent):
    """The first line: which run it is, and what made it."""

    kind: ClassVar[str] = "run"
    version: int = VERSION
    run: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeviceSeen(TraceEvent):
    """A device of the run, when its first test ended."""

    kind: ClassVar[str] = "device"
    serial: str
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ErrorSummary:
    """Why a test failed, in a line, and in which phase of it."""

    message: str
    code: str | None = None
    phase: str = ""


@dataclass(frozen=True, kw_only=True)
class TestEnded(TraceEvent):
    """An attempt at a test ended.

    ``seconds`` are those of its phases. ``folder`` is that of its evidence and ``page`` shows
    its trace; both are relative to the folder of the run.
    """

    __test__: ClassVar[bool] = False  # no test, whatever pytest takes it for

    kind: ClassVar[str] = "test"
    nodeid: str
    outcome: TestOutcome
    attempt: int = 1
    worker: str = ""
    devices: Sequence[str] = ()
    start: float
    stop: float
    seconds: Mapping[str, float] = field(default_factory=dict)
    error: ErrorSummary | None = None
    is_infrastructure: bool = False
    folder: str = ""
    page: str = ""
    markers: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class RunEnded(TraceEvent):
    """The last line; a run that was killed has none."""

    kind: ClassVar[str] = "end"
    exit: int


def test_of(data: Mapping[str, Any]) -> TestEnded | None:
    """Return a line as a test; None if it does not tell of one."""
    nodeid, outcome = data.get("nodeid"), data.get("outcome")
    start, stop = _number(data.get("start")), _number(data.get("stop"))
    if not isinstance(nodeid, str) or outcome not in OUTCOMES or start is None or stop is None:
        return None
    return TestEnded(
        at=_number(data.get("at")) or stop,
        nodeid=nodeid,
        outcome=outcome,
        attempt=attempt if isinstance(attempt := data.get("attempt"), int) else 1,
        worker=_text(data.get("worker")),
        devices=_texts(data.get("devices")),
        start=start,
        stop=max(start, stop),
        seconds=_seconds(data.get("seconds")),
        error=_error(data.get("error")),
        is_infrastructure=data.get("is_infrastructure") is True,
        folder=_text(data.get("folder")),
        page=_text(data.get("page")),
        markers=_texts(data.get("markers")),
    )


def _error(data: object) -> ErrorSummary | None:
    if not isinstance(data, dict):
        return None
    code = data.get("code")
    return ErrorSummary(
        message=_text(data.get("message")),
        code=code if isinstance(code, str) else None,
        phase=_text(data.get("phase")),
    )


def _seconds(data: object) -> dict[str, float]:
    pairs = data.items() if isinstance(data, dict) else ()
    return {str(name): found for name, one in pairs if (found := _number(one)) is not None}


def _number(value: object) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]  # a number, as was asked


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else ()
