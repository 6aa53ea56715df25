"""One file of evidence, and what a collector raises that has none."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.report.crashes import Crash


@dataclass(frozen=True)
class Piece:
    """One file of evidence: its kind, its name, what is in it, and what to know about it."""

    kind: str
    name: str
    content: bytes
    remark: str = ""


@dataclass
class Evidence:
    """What was collected; ``missing`` says what could not be, and why."""

    pieces: list[Piece] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)


class Unavailable(Exception):
    """Says why there is no evidence of some kind."""


def why(error: Exception) -> str:
    """Return the reason that an error gives, in one line."""
    text = error.message if isinstance(error, ClawperatorError) else str(error)
    return text.partition("\n")[0]
