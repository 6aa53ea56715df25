"""What a method of the client asks of the device: an action, and how to read its answer.

A plan knows nothing of when and how often it is sent: the client sends it at once, a batch
together with others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.client.plan.timing import SEGMENT, Wait
from pytest_clawperator.contracts.actions import TypedAction
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Node

T = TypeVar("T")

# Failures that mean "not yet": what they miss may come up while there is time.
NOT_THERE = frozenset(
    {
        ErrorCode.NODE_NOT_FOUND,
        ErrorCode.NODE_HAS_NO_TEXT,
        ErrorCode.VALUE_NODE_NOT_FOUND,
        ErrorCode.CONTAINER_NOT_FOUND,
        ErrorCode.VALIDATOR_MISMATCH,
        ErrorCode.UI_TREE_UNAVAILABLE,
    }
)


@dataclass(frozen=True)
class Aim:
    """Where an action goes: a matcher that the device finds the node by, or else a point.

    One that was ``seen`` holds for the screen as it is now: waiting would not make it truer.
    """

    matcher: NodeMatcher | None = None
    point: tuple[int, int] | None = None
    container: NodeMatcher | None = None
    seen: bool = False


def the_step(step: RunStep, result: RunResult) -> RunStep:
    """Give the step itself, for actions that have nothing better to give."""
    return step


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[T]):
    """One action to come, and what people get for it.

    ``target`` is the node it is about. Where ``is_aimed``, that node must be on the screen
    before the action can go to it; a scroll's target need not. ``container`` is what is
    scrolled. ``from_nodes`` answers from a snapshot what need not be asked of the device,
    or gives None while the snapshot has no answer. ``takes_several`` is about all nodes
    that fit, so that there is nothing to choose. ``wanted`` is the form that a text must have.
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
    from_nodes: Callable[[Sequence[Node], RunStep], T | None] | None = None
    worth_waiting: frozenset[ErrorCode] = NOT_THERE
    longest_wait: float = SEGMENT
    wanted: str = ""

    @property
    def is_sendable(self) -> bool:
        """Whether the device can be told of the target, with the container it is in."""
        target = self.target
        if target is None or not target.is_matcher or target.is_fragile:
            return False
        return target.within is None or (self.takes_container and target.within.is_sendable)

    def __str__(self) -> str:
        return f"{self.verb} {self.target}" if self.target is not None else self.verb
