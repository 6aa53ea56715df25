"""The nodes that a locator means on one snapshot, or in what way they are absent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pytest_clawperator.client.judge import Crowd, find_crowd
from pytest_clawperator.client.target import Target, Use, inside
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

NO_MATCH = "no match"
OFF_SCREEN = "off-screen"


@dataclass(frozen=True)
class NodeView:
    """The nodes that a target means, on one snapshot.

    With ``is_strict`` several matching nodes are as bad as none where one is meant.
    """

    snapshot: Snapshot
    target: Target
    is_strict: bool = False
    serial: str | None = None

    @cached_property
    def nodes(self) -> list[Node]:
        """All matching nodes on the screen."""
        found = self.target.resolve(self.snapshot)
        self.target.last.total = len(found)
        return found

    @cached_property
    def anywhere(self) -> list[Node]:
        """All matching nodes, also those off the screen."""
        return _anywhere(self.target, self.snapshot)

    @cached_property
    def crowd(self) -> Crowd | None:
        """What is ambiguous, if matchers are strict."""
        return find_crowd(self.target, self.snapshot, Use.READ) if self.is_strict else None

    @property
    def first(self) -> Node | None:
        """The first matching node on the screen; if matchers are strict, the only one."""
        return self.nodes[0] if self.nodes and self.crowd is None else None

    @property
    def absence(self) -> str:
        """Why there is no node: several, off the screen, or which part does not match."""
        if self.crowd is not None:
            which = "" if self.crowd.part is self.target else f" {self.crowd.part}"
            return f"{len(self.crowd.nodes)} nodes that match{which}"
        if self.anywhere:
            return OFF_SCREEN
        part = self.target.missing_part(self.snapshot)
        return NO_MATCH if part is self.target else f"no {part}"


def _anywhere(target: Target, snapshot: Snapshot) -> list[Node]:
    """Resolve a target whose nodes may be off the screen; its container must be on it."""
    if target.query is None:
        return target.resolve(snapshot)
    scope: Snapshot | Node = snapshot
    if target.within is not None:
        containers = target.within.resolve(snapshot)
        if not containers:
            return []
        scope = containers[0]
    found = scope.find_all(target.query, on_screen=False)
    if target.has is not None:
        has = target.has
        found = [
            node
            for node in found
            if any(n is not node for n in inside(Target(node=node), has).resolve(snapshot))
        ]
    if target.index is None:
        return found
    return [found[target.index]] if -len(found) <= target.index < len(found) else []
