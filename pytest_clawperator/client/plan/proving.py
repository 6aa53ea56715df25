"""An action and its proof in one execution: a look at the very screen that it acts on.

The device waits for the node, the screen is captured, and the action goes to it at once. What
the look shows is judged afterwards: the action cannot be stopped, but the test can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.plan import Aim, Plan, node_matcher
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.client.plan.timing import Wait
from pytest_clawperator.contracts.actions import Click, Retry, SnapshotUi, TypedAction, WaitForNode
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ConfigurationError

Matchers = Literal["strict", "first"]
#: What a matcher that fits several nodes means: an error, or the first of them.
MATCHERS: tuple[Matchers, ...] = ("strict", "first")
# How long a target may be ambiguous before anything is done with it: two screens of an app
# are there at once while one takes the other's place.
GRACE = 1.0

_ONCE = Retry(max_attempts=1)
_AT_ONCE = Wait(0.0)


def matchers_of(given: Any) -> Matchers:
    """Return what ``matchers=`` says, checked."""
    for word in MATCHERS:
        if given == word:
            return word
    raise ConfigurationError(
        f"matchers= is 'strict' or 'first', found {shown(given)}",
        hint="'strict' refuses a matcher that several nodes fit; with 'first' the first wins.",
    )


@dataclass(frozen=True)
class Sending:
    """The actions that are sent for a plan; ``proofs`` are those of them that prove another."""

    actions: Sequence[TypedAction]
    proofs: Mapping[str, str] = field(default_factory=dict)


def bare(plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
    """Return the plan's action alone."""
    return Sending([replace(plan.action(aim, wait), id=id)])


def with_proof(plan: Plan[Any], aim: Aim, wait: Wait, *, id: str) -> Sending:
    """Return the plan's action with what proves it."""
    look = SnapshotUi(retry=_ONCE, id=f"{id}-look")
    actions: list[TypedAction]
    if plan.untapped is not None:
        tap = Click(node_matcher(aim), retry=_ONCE, id=f"{id}-tap")
        actions = [replace(plan.untapped(aim, wait), id=id), look, tap]
    elif plan.is_aimed:
        waiting = WaitForNode(node_matcher(aim), retry=wait.retry, id=f"{id}-wait")
        actions = [waiting, look, replace(plan.action(aim, _AT_ONCE), id=id)]
    else:
        actions = [look, replace(plan.action(aim, wait), id=id)]
    names = [action.id for action in actions]
    return Sending(actions, {name: id for name in names if name is not None and name != id})


def judged_by(plan: Plan[Any], aim: Aim) -> tuple[Target, Use] | None:
    """Return the target that a look at the screen is judged by, and what is done with it.

    None if there is nothing to judge, or a snapshot does not show it.
    """
    target, use = aim.judged or plan.target, plan.use
    if use is None:
        target, use = None if aim.container_seen else plan.container, Use.READ
    is_found_by_device = aim.matcher is not None or aim.container is not None
    if target is None or not is_found_by_device or not target.is_matchable_on_snapshot:
        return None
    return target, use
