"""The nodes that a locator means on one snapshot, or in what way they are absent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.target import Target, inside
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

NO_MATCH = "no match"
OFF_SCREEN = "off-screen"


@dataclass(frozen=True)
class NodeView:
    """The nodes that a target means, on one snapshot.

    With ``is_strict`` a target that matches several nodes is an error where one is meant.
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

    @property
    def first(self) -> Node | None:
        """The first matching node on the screen; if matchers are strict, the only one."""
        if self.is_strict and len(self.nodes) > 1:
            raise explain.ambiguous("expect", self.target, self.nodes, serial=self.serial or "")
        return self.nodes[0] if self.nodes else None

    @property
    def absence(self) -> str:
        """Why no node is on the screen: off the screen, or which part does not match."""
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
