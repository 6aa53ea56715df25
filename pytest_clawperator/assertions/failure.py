"""The error of a failed expectation: what was expected, what was found, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.assertions.checks.check import Check
from pytest_clawperator.assertions.wait_loop import Outcome, format_duration
from pytest_clawperator.errors import ErrorCode, ExpectationError
from pytest_clawperator.remedies import Hint
from pytest_clawperator.snapshot.near_miss import crash_hint, outline, told_first
from pytest_clawperator.snapshot.tree import Snapshot

_SHOWN_NODES = 16
_KEYBOARD = "inputmethod"


@dataclass(frozen=True)
class Failure:
    """What every failure of one expectation names: its subject, message and device."""

    subject: str
    message: str | None = None
    serial: str | None = None

    def error(
        self,
        check: Check[Any],
        outcome: Outcome[Any],
        *,
        evidence: Sequence[str] = (),
        snapshot: Snapshot | None = None,
        hint: Hint | None = None,
        details: Mapping[str, Any] | None = None,
        code: ErrorCode | None = None,
    ) -> ExpectationError:
        """Build the error: expected, found, log, evidence, screen, and what to try."""
        found = outcome.verdict.found
        about = f"{self.message}: " if self.message else ""
        lines = [
            f"{told_first(snapshot)}{about}expected {self.subject} {check.wanted}, found {found}",
            *_waited(check, outcome),
            *evidence,
        ]
        screen = _screen(snapshot)
        return ExpectationError(
            "\n".join([*_indented(lines), *([screen] if screen else [])]),
            code=code,
            serial=self.serial,
            hint=crash_hint(snapshot)
            or _late_hint(outcome)
            or hint
            or outcome.verdict.hint
            or _wait_hint(outcome),
            details={
                "expected": f"{self.subject} {check.wanted}",
                "found": found,
                "log": outcome.log_lines,
                "late": outcome.late,
                "screen": screen,
                "xml": None if snapshot is None else snapshot.xml,
                **(details or {}),
            },
        )


def overlay_lines(snapshot: Snapshot) -> list[str]:
    """Return a line that names the window over the app, if there is one."""
    cover = snapshot.covering_package
    return [f"overlay: a window of {cover} lies over the app"] if cover else []


def overlay_hint(snapshot: Snapshot) -> str | None:
    """Return what to do about a window over the app, if there is one."""
    cover = snapshot.covering_package
    if cover is None or _KEYBOARD in cover:  # a keyboard moves the app out of its way
        return None
    return f"Answer or close the window of {cover} first."


def _indented(lines: Sequence[str]) -> list[str]:
    """Indent all lines but the first."""
    text = "\n".join(lines).split("\n")
    return [text[0], *(f"  {line}" for line in text[1:])]


def _waited(check: Check[Any], outcome: Outcome[Any]) -> list[str]:
    lines = outcome.log_lines
    if len(outcome.log) < 2:
        waited = []
    elif len(lines) == 1:
        waited = [f"waited: {lines[0]}"]
    else:
        waited = [f"waited {format_duration(outcome.seconds)}:", *(f"  {line}" for line in lines)]
    if outcome.late is not None:
        waited.append(f"{check.came} {format_duration(outcome.late)} after the deadline")
    return waited


def _screen(snapshot: Snapshot | None) -> str:
    if snapshot is None:
        return ""
    lines = outline(snapshot, limit=_SHOWN_NODES).split("\n")
    return "\n".join(["  on the screen:", *(f"    {line}" for line in lines)])


def _late_hint(outcome: Outcome[Any]) -> str | None:
    if outcome.late is None:
        return None
    needed = outcome.seconds + outcome.late
    return f"It was too late: set timeout= to more than {needed:.1f} s."


def _wait_hint(outcome: Outcome[Any]) -> str | None:
    if len(outcome.log) < 2:
        return None
    duration = format_duration(outcome.seconds)
    return f"If it may take longer than {duration}, set a longer timeout=."
