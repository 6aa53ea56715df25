"""What a method of the client asks of the device: an action, and how to read its result.

A plan knows nothing of when and how often it is sent: the client sends it at once, a batch
together with others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.target import Route, Target
from pytest_clawperator.client.plan.timing import SEGMENT, Wait
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Node

T = TypeVar("T")
#: The keywords of a method that name its node.
Keywords = Mapping[str, object]

#: Failures that mean "not yet": what is missing may come up while there is time.
NOT_YET_THERE = frozenset(
    {
        ErrorCode.NODE_NOT_FOUND,
        ErrorCode.NODE_HAS_NO_TEXT,
        ErrorCode.VALUE_NODE_NOT_FOUND,
        ErrorCode.CONTAINER_NOT_FOUND,
        ErrorCode.VALIDATOR_MISMATCH,
        ErrorCode.UI_TREE_UNAVAILABLE,
        ErrorCode.NODE_NOT_CLICKABLE,
    }
)


@dataclass(frozen=True)
class Aim:
    """Where an action goes: a matcher that the device finds the node by, or else a point.

    An aim that was ``seen`` holds for the screen as it is now, so the device need not wait.
    So does one whose container was. ``judged`` is what a look at the screen is judged by, where
    that is not the plan's target.
    """

    matcher: NodeMatcher | None = None
    point: tuple[int, int] | None = None
    container: NodeMatcher | None = None
    seen: bool = False
    container_seen: bool = False
    judged: Target | None = None


def node_matcher(aim: Aim) -> NodeMatcher:
    """Return the matcher of an aim for an action that cannot go to a point."""
    assert aim.matcher is not None, "only a tap goes to a point"
    return aim.matcher


def the_step(step: RunStep, result: RunResult) -> RunStep:
    """Return the step itself, for actions that have no other value."""
    return step


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[T]):
    """One action to come, and the value that its method returns.

    ``target`` is the node it is about. Where ``is_aimed``, that node must be on the screen
    before the action can go to it; a scroll's target need not. ``container`` is what is
    scrolled. ``from_nodes`` reads the value from a snapshot instead of asking the device; it
    returns None while the snapshot has no value. ``takes_several`` is about all nodes that
    fit. ``use`` is what is done with the one node that it is about; without it, any that fits
    will do. ``untapped`` is a scroll's action without the tap at its end, which is then sent
    apart. ``wanted`` is the form that a text must have, for messages.
    """

    verb: str
    action: Callable[[Aim, Wait], TypedAction]
    value: Callable[[RunStep, RunResult], T]
    target: Target | None = None
    container: Target | None = None
    is_aimed: bool = True
    takes_point: bool = False
    takes_container: bool = False
    takes_retry: bool = True
    takes_several: bool = False
    use: Use | None = None
    untapped: Callable[[Aim, Wait], TypedAction] | None = None
    from_nodes: Callable[[Sequence[Node], RunStep], T | None] | None = None
    worth_waiting: frozenset[ErrorCode] = NOT_YET_THERE
    longest_wait: float = SEGMENT
    wanted: str = ""

    def route(self, *, strict: bool) -> Route:
        """Decide how the action gets to its node, or a scroll to its list.

        Where ``strict``, an action on one node must be proved.
        """
        sought = self.target if self.is_aimed else self.container
        if sought is None:
            return Route.SENT
        route = sought.route(
            takes_container=self.takes_container and self.is_aimed,
            is_proved=strict and self.use is not None and self.is_aimed,
        )
        # Several nodes may share a short id and have different whole ones.
        is_ambiguous = route is Route.COMPLETED and self.takes_several
        return Route.LOOKED_UP if is_ambiguous else route

    def __str__(self) -> str:
        return f"{self.verb} {self.target}" if self.target is not None else self.verb
