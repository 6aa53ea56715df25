"""Events of a run, sent to observers: reports are built from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.payload import Execution


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened on a device. ``at`` is seconds since the epoch."""

    serial: str
    at: float


@dataclass(frozen=True, kw_only=True)
class ExecutionStarted(Event):
    """An execution is about to be sent; ``log_position`` is where its log begins.

    ``proofs`` are actions that prove others, such as the wait and the snapshot before a click:
    the id of each, and the id of the action it is for. Results leave them out.
    """

    execution: Execution
    log_position: int | None = None
    proofs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExecutionFinished(Event):
    """An execution ended: with a result, a failed one too, or with an error.

    The device is free again. A ``result`` is a ``RunResult``. ``proofs`` are as at its start.
    """

    execution: Execution
    elapsed: float
    result: ResultEnvelope | None = None
    error: BaseException | None = None
    log_position: int | None = None
    proofs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ArtifactMade(Event):
    """A snapshot or a screenshot came out of an execution: its bytes, or the file they are in.

    ``path`` is the file that the execution asked for, if it did.
    """

    command_id: str
    step_id: str
    kind: str
    data: bytes | None = None
    path: Path | None = None


@dataclass(frozen=True, kw_only=True)
class StepStarted(Event):
    """A part of a test that has a name begins; its end has the same ``id``."""

    id: str
    title: str


@dataclass(frozen=True, kw_only=True)
class StepFinished(Event):
    """A part of a test ended, with an error if it failed."""

    id: str
    elapsed: float
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class SkillStarted(Event):
    """The script of a skill is about to run on the device."""

    skill_id: str


@dataclass(frozen=True, kw_only=True)
class SkillFinished(Event):
    """The script of a skill ended, whether or not it failed, and had printed this."""

    skill_id: str
    elapsed: float
    output: str = ""
    complaints: str = ""


@dataclass(frozen=True, kw_only=True)
class Notice(Event):
    """A remark that fails nothing: lost log lines, a late envelope, a new server."""

    message: str


class Observer(Protocol):
    """A function that is called with each event."""

    def __call__(self, event: Event, /) -> None:
        """Handle an event."""
        ...


@dataclass(frozen=True, kw_only=True)
class SkillRun:
    """A script that ran to its end: what it printed, and how many seconds it took."""

    skill_id: str
    output: str
    complaints: str = ""
    elapsed: float = 0.0
    exit_code: int = 0
