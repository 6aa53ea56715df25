"""The text of a failed expectation: enough of it that nobody has to run the test again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.assertions.expectation import Check
from pytest_clawperator.assertions.polling import Outcome, spoken
from pytest_clawperator.assertions.view import OFF_SCREEN, View
from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.target import Target, inside
from pytest_clawperator.errors import ExpectationError
from pytest_clawperator.remedies import Hint
from pytest_clawperator.snapshot.near_miss import covering, describe, nearest, outline
from pytest_clawperator.snapshot.tree import Node, Snapshot

_SHOWN_NODES = 16
_SHOWN_MISSES = 3
_KEYBOARD = "inputmethod"


@dataclass(frozen=True)
class Failure:
    """What a failure says, whatever it is about."""

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
    ) -> ExpectationError:
        """Put it all together: expected, found, log, evidence, screen, and what to try."""
        found = outcome.verdict.found
        about = f"{self.message}: " if self.message else ""
        lines = [
            f"{about}expected {self.subject} {check.wanted}, found {found}",
            *_waited(check, outcome),
            *evidence,
        ]
        screen = _screen(snapshot)
        return ExpectationError(
            "\n".join([*(indented(lines)), *([screen] if screen else [])]),
            serial=self.serial,
            hint=_late_hint(outcome) or hint or outcome.verdict.hint or _wait_hint(outcome),
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


def indented(lines: Sequence[str]) -> list[str]:
    """Set all lines but the first off from the margin."""
    text = "\n".join(lines).split("\n")
    return [text[0], *(f"  {line}" for line in text[1:])]


def _waited(check: Check[Any], outcome: Outcome[Any]) -> list[str]:
    lines = outcome.log_lines
    if len(outcome.log) < 2:
        waited = []
    elif len(lines) == 1:
        waited = [f"waited: {lines[0]}"]
    else:
        waited = [f"waited {spoken(outcome.seconds)}:", *(f"  {line}" for line in lines)]
    if outcome.late is not None:
        waited.append(f"{check.came} {spoken(outcome.late)} after the deadline")
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
    return f"It was too late: give it a longer timeout= than {needed:.1f} s."


def _wait_hint(outcome: Outcome[Any]) -> str | None:
    if len(outcome.log) < 2:
        return None
    return f"If it may take longer than {spoken(outcome.seconds)}, give it a longer timeout=."


def overlay_lines(snapshot: Snapshot) -> list[str]:
    """Say which window lies over the app, if one does."""
    cover = covering(snapshot)
    return [f"overlay: a window of {cover} lies over the app"] if cover else []


def overlay_hint(snapshot: Snapshot) -> str | None:
    """Say what to do about a window over the app."""
    cover = covering(snapshot)
    if cover is None or _KEYBOARD in cover:  # a keyboard moves the app out of its way
        return None
    return f"Answer or close the window of {cover} first."


def node_failure(failure: Failure, check: Check[View], outcome: Outcome[View]) -> ExpectationError:
    """Explain what was expected of a node."""
    view = outcome.seen
    if view is None:
        return failure.error(check, outcome)
    misses = [] if view.nodes else list(_misses(view))
    meant = [] if check.about_all else view.nodes[:1]
    return failure.error(
        check,
        outcome,
        evidence=[
            *(f"node: {describe(node)}" for node in meant),
            *(f"nearest: {miss}" for miss in misses),
            *overlay_lines(view.snapshot),
        ],
        snapshot=view.snapshot,
        hint=None if view.nodes else _absence_hint(view),
        details={"nearest": misses, "matcher": str(view.target)},
    )


def _misses(view: View) -> Iterator[str]:
    """Say which nodes come nearest, and why each is not the one."""
    part = view.target.missing_part(view.snapshot)
    if part.query is None:
        return
    fitting = view.snapshot.find_all(part.query)
    if not fitting:
        yield from map(str, nearest(view.snapshot, part.query))
    for node in fitting[:_SHOWN_MISSES]:
        yield f"{describe(node)}: {_why_not(part, node, len(fitting))}"


def _why_not(target: Target, node: Node, total: int) -> str:
    """Say why a node that fits the matcher is not meant."""
    around = target.within
    if around is not None:
        containers = around.resolve(node.snapshot)[:1]
        if not any(above in containers for above in (node, *node.ancestors)):
            return f"not inside {around}"
    if target.has is not None and not inside(Target(node=node), target.has).resolve(node.snapshot):
        return f"has no {target.has}"
    return f"one of {total}, wanted index {target.index}"


def _fits_elsewhere(view: View) -> bool:
    query = view.target.query
    return query is not None and bool(view.snapshot.find(query))


def _absence_hint(view: View) -> str | None:
    if over := overlay_hint(view.snapshot):
        return over
    if view.absence == OFF_SCREEN:
        return "It is in the tree, and off the screen: scroll_into_view() brings it there."
    around = view.target.within
    if around is not None and around.resolve(view.snapshot) and _fits_elsewhere(view):
        return f"Such a node is on the screen, but not inside {around}."
    missing = explain.not_found(
        "expect", view.target, snapshot=view.snapshot, serial=view.screen.serial or ""
    )
    return missing.hint
