"""What expectations look at: a device's screen, or a snapshot that stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pytest_clawperator.assertions.polling import look_limit
from pytest_clawperator.client.direct_actions import DirectActions
from pytest_clawperator.client.plan import explain
from pytest_clawperator.client.plan.performer import last_step
from pytest_clawperator.client.plan.target import Target, inside
from pytest_clawperator.client.plan.timing import seconds_of
from pytest_clawperator.contracts.actions import Retry, SnapshotUi
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

NO_MATCH = "no match"
OFF_SCREEN = "off-screen"

# Seconds within which any look is over.
_AMPLE = 30.0
_ONE_LOOK = SnapshotUi(retry=Retry(max_attempts=1))


class Screen(Protocol):
    """Where snapshots come from."""

    @property
    def serial(self) -> str | None:
        """What the device is called; None for a snapshot."""
        ...

    @property
    def is_strict(self) -> bool:
        """Whether a matcher that fits several nodes is an error."""
        ...

    def look(self) -> Snapshot:
        """Give what is on the screen now."""
        ...

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Say how long to wait: as told, else the default, else as long as suits."""
        ...


@dataclass(frozen=True)
class LiveScreen:
    """The screen of a device."""

    client: DirectActions

    @property
    def serial(self) -> str | None:
        """What the device is called."""
        return self.client.serial

    @property
    def is_strict(self) -> bool:
        """Whether a matcher that fits several nodes is an error."""
        return self.client.performer.strict

    def look(self) -> Snapshot:
        """Take a snapshot; where time runs out, do not wait for it any longer."""
        limit = look_limit()
        if limit is None or limit > _AMPLE:
            return self.client.snapshot()
        result = self.client.performer.run([_ONE_LOOK], timeout=limit)
        result.raise_for_status()
        return last_step(result).snapshot

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Say how long to wait: as told, else the default, else as long as the client does."""
        return seconds_of(timeout, self.client.timeout if default is None else default)


@dataclass(frozen=True)
class StillScreen:
    """A snapshot: nothing on it changes, so nothing is waited for."""

    snapshot: Snapshot
    serial: str | None = None
    is_strict: bool = False

    def look(self) -> Snapshot:
        """Give the snapshot."""
        return self.snapshot

    def seconds(self, timeout: float | None, default: float | None) -> float:
        """Refuse to wait."""
        if timeout is not None:
            raise ConfigurationError(
                f"timeout={timeout} makes no sense here: a snapshot stays as it is",
                hint="Expect it of claw.node(...) or of the client, and it is waited for.",
            )
        return 0.0


@dataclass(frozen=True)
class View:
    """The nodes that are meant, on one snapshot."""

    snapshot: Snapshot
    target: Target
    screen: Screen

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes on the screen that are meant."""
        found = self.target.resolve(self.snapshot)
        self.target.last.total = len(found)
        return found

    @cached_property
    def anywhere(self) -> list[Node]:
        """All nodes that are meant, also those off the screen."""
        return _anywhere(self.target, self.snapshot)

    @property
    def first(self) -> Node | None:
        """The node that is meant where only one can be."""
        if self.screen.is_strict and len(self.nodes) > 1:
            raise explain.ambiguous(
                "expect", self.target, self.nodes, serial=self.screen.serial or ""
            )
        return self.nodes[0] if self.nodes else None

    @property
    def absence(self) -> str:
        """Say in what way it is not there."""
        if self.anywhere:
            return OFF_SCREEN
        part = self.target.missing_part(self.snapshot)
        return NO_MATCH if part is self.target else f"no {part}"


def _anywhere(target: Target, snapshot: Snapshot) -> list[Node]:
    """Resolve a target whose own nodes may be off the screen; what is around them may not."""
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
