"""The error of a failed expectation about a node: the node, the nearest misses, the overlay."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.assertions.checks.check import Check
from pytest_clawperator.assertions.checks.node_view import OFF_SCREEN, NodeView
from pytest_clawperator.assertions.failure import Failure, overlay_hint, overlay_lines
from pytest_clawperator.assertions.wait_loop import Outcome
from pytest_clawperator.client import judge as explain
from pytest_clawperator.client.judge import Crowd, telling_apart
from pytest_clawperator.client.target import Target, Use, inside
from pytest_clawperator.errors import ErrorCode, ExpectationError
from pytest_clawperator.remedies import Hint
from pytest_clawperator.snapshot.near_miss import describe, nearest
from pytest_clawperator.snapshot.tree import Node

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
    misses = [] if view.nodes else list(_misses(view))
    checked = [] if check.about_all else view.nodes[:1]
    return failure.error(
        check,
        outcome,
        evidence=[
            *(f"node: {describe(node)}" for node in checked),
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
    """Build the error for several nodes where one is meant, with which are as expected."""
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
        details={"nodes": [describe(node) for node in crowd.nodes], "matcher": str(crowd.part)},
        code=ErrorCode.NODE_AMBIGUOUS,
    )


def _another_hint(check: Check[NodeView], view: NodeView) -> str | None:
    """Return a hint about another matching node that is as expected."""
    if check.about_all or check.judge_one is None:
        return None
    for place, node in enumerate(view.nodes[1:], 1):
        if check.judge_one(node).holds:
            return (
                f"Another node that matches is as expected, {describe(node)}: say so with"
                f" .nth({place}), another keyword, within= or has=."
            )
    return None


def _misses(view: NodeView) -> Iterator[str]:
    """Yield the nearest nodes, each with the reason why it does not match."""
    part = view.target.missing_part(view.snapshot)
    if part.query is None:
        return
    matching = view.snapshot.find_all(part.query)
    if not matching:
        yield from map(str, nearest(view.snapshot, part.query))
    for node in matching[:_SHOWN_MISSES]:
        yield f"{describe(node)}: {_why_not(part, node, len(matching))}"


def _why_not(target: Target, node: Node, total: int) -> str:
    """Return why a node that fits the matcher is not the target's."""
    around = target.within
    if around is not None:
        containers = around.resolve(node.snapshot)[:1]
        if not any(above in containers for above in (node, *node.ancestors)):
            return f"not inside {around}"
    if target.has is not None and not inside(Target(node=node), target.has).resolve(node.snapshot):
        return f"has no {target.has}"
    return f"one of {total}, wanted index {target.index}"


def _matches_elsewhere(view: NodeView) -> bool:
    query = view.target.query
    return query is not None and bool(view.snapshot.find(query))


def _absence_hint(view: NodeView) -> Hint | None:
    if over := overlay_hint(view.snapshot):
        return over
    if view.absence == OFF_SCREEN:
        return "It is in the tree, and off the screen: scroll_into_view() brings it there."
    around = view.target.within
    if around is not None and around.resolve(view.snapshot) and _matches_elsewhere(view):
        return f"Such a node is on the screen, but not inside {around}."
    missing = explain.not_found(
        "expect", view.target, snapshot=view.snapshot, serial=view.serial or ""
    )
    return missing.advice
