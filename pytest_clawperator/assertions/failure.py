"""The error of a failed check: what was expected and found, the evidence, and the place."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from pytest_clawperator.assertions.checks import Check, NodeView
from pytest_clawperator.assertions.wait import Outcome, format_duration
from pytest_clawperator.client import judge as explain
from pytest_clawperator.client.judge import Crowd, telling_apart
from pytest_clawperator.client.target import Target, Use
from pytest_clawperator.errors import ErrorCode, ExpectationError
from pytest_clawperator.remedies import Hint
from pytest_clawperator.snapshot import near_miss
from pytest_clawperator.snapshot.tree import Node, Snapshot, is_inside
from pytest_clawperator.text import shown_path

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
        found = outcome.doubt.found if outcome.doubt else outcome.verdict.found
        about = f"{self.message}: " if self.message else ""
        first = near_miss.crash_prefix(snapshot)
        lines = [
            f"{first}{about}expected {self.subject} {check.wanted}, found {found}",
            *_waited(check, outcome),
            *(outcome.doubt.lines if outcome.doubt else ()),
            *evidence,
        ]
        screen = _screen(snapshot)
        return ExpectationError(
            "\n".join([*_indented(lines), *([screen] if screen else [])]),
            code=outcome.doubt.code if outcome.doubt else code,
            serial=self.serial,
            hint=(outcome.doubt.hint if outcome.doubt else None)
            or near_miss.crash_hint(snapshot)
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
    lines = near_miss.outline(snapshot, limit=_SHOWN_NODES).split("\n")
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


# Checks of a node

_SHOWN_MISSES = 3


def node_failure(
    failure: Failure, check: Check[NodeView], outcome: Outcome[NodeView]
) -> ExpectationError:
    """Build the error for a check of a node."""
    view = outcome.seen
    if view is None:
        return failure.error(check, outcome)
    if view.crowd is not None and not check.about_all and check.judge_one is not None:
        return _ambiguous(failure, check, outcome, view.crowd)
    misses = [] if view.nodes or outcome.doubt else list(_misses(view))
    checked = [] if check.about_all else view.nodes[:1]
    return failure.error(
        check,
        outcome,
        evidence=[
            *(f"node: {near_miss.describe(node)}" for node in checked),
            *(f"nearest: {miss}" for miss in misses),
            *overlay_lines(view.snapshot),
        ],
        snapshot=view.snapshot,
        hint=_another_hint(check, view) if view.nodes else _absence_hint(view),
        details={"nearest": misses, "matcher": str(view.target)},
    )


def _ambiguous(
    failure: Failure, check: Check[NodeView], outcome: Outcome[NodeView], crowd: Crowd
) -> ExpectationError:
    """Build the error for several nodes if one is meant, marking those that are as expected."""
    judge = check.judge_one

    def remark(node: Node) -> str:
        verdict = None if judge is None else judge(node)
        return ": as expected" if verdict is not None and verdict.holds else ""

    return failure.error(
        check,
        outcome,
        evidence=crowd.lines(remark),
        snapshot=crowd.nodes[0].snapshot,
        hint=telling_apart(crowd, Use.READ),
        details={
            "nodes": [near_miss.describe(node) for node in crowd.nodes],
            "matcher": str(crowd.target),
        },
        code=ErrorCode.NODE_AMBIGUOUS,
    )


def _another_hint(check: Check[NodeView], view: NodeView) -> str | None:
    """Return a hint about another matching node that is as expected."""
    if check.about_all or check.judge_one is None:
        return None
    for place, node in enumerate(view.nodes[1:], 1):
        if check.judge_one(node).holds:
            return (
                f"Another node that matches is as expected, {near_miss.describe(node)}: choose it"
                f" with .nth({place}), another keyword, within= or has=."
            )
    return None


def _misses(view: NodeView) -> Iterator[str]:
    """Yield the nearest nodes, each with the reason why it does not match."""
    part = view.target.missing_part(view.snapshot)
    if part.query is None:
        return
    matching = view.snapshot.find_all(part.query)
    if not matching:
        yield from map(str, near_miss.nearest(view.snapshot, part.query))
    for node in matching[:_SHOWN_MISSES]:
        yield f"{near_miss.describe(node)}: {_why_not(part, node)}"


def _why_not(target: Target, node: Node) -> str:
    """Return why a node that matches is not the target."""
    around = target.within
    if around is not None and not is_inside(node, around.resolve(node.snapshot)):
        return f"not inside {around}"
    for part in target.has:
        if not part.resolve(node):
            return f"has no {part}"
    total = len(replace(target, index=None).resolve(node.snapshot))
    return f"one of {total}, wanted index {target.index}"


def _absence_hint(view: NodeView) -> Hint | None:
    if over := overlay_hint(view.snapshot):
        return over
    missing = explain.not_found(
        "expect", view.target, snapshot=view.snapshot, serial=view.serial or ""
    )
    return missing.advice


# The line of the user's code that called into this package

_PACKAGE = __name__.partition(".")[0]
_RUNNERS = ("_pytest", "pluggy")


def calling_frame() -> FrameType:
    """Return the frame of the code that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def described(frame: FrameType) -> str:
    """Return file, line and source of a frame, as in ``test_a.py:3: expect(...)``."""
    path, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(path, line, frame.f_globals).strip()
    return f"{shown_path(Path(path))}:{line}: {source}".removesuffix(": ")


def traceback_to(frame: FrameType | None) -> TracebackType | None:
    """Build the traceback that an error would have if it were raised at a frame."""
    traceback = None
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith(_RUNNERS):
        traceback = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return traceback


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE
