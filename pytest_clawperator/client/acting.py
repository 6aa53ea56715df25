"""What all action methods share, whether they act at once or are collected in a batch."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.plan.plan import Plan
from pytest_clawperator.client.plan.scroll_outcome import ScrollOutcome
from pytest_clawperator.client.plan.timing import timeout_of
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.tree import Snapshot

# What a method returns for each kind of value: the client the value itself, a batch a step
# that has the value later.
StepT = TypeVar("StepT")
TextT = TypeVar("TextT")
TextsT = TypeVar("TextsT")
SnapshotT = TypeVar("SnapshotT")
ScrollT = TypeVar("ScrollT")


class Acting(Generic[StepT, TextT, TextsT, SnapshotT, ScrollT]):
    """Action methods make plans; a subclass decides what is done with them."""

    device: Device
    _timeout: float

    @property
    def timeout(self) -> float:
        """How many seconds methods look for a node unless told otherwise."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._timeout = timeout_of(seconds, seconds)

    @overload
    def _do(self, plan: Plan[RunStep], timeout: float | None = None) -> StepT: ...

    @overload
    def _do(self, plan: Plan[str], timeout: float | None = None) -> TextT: ...

    @overload
    def _do(self, plan: Plan[list[str]], timeout: float | None = None) -> TextsT: ...

    @overload
    def _do(self, plan: Plan[Snapshot], timeout: float | None = None) -> SnapshotT: ...

    @overload
    def _do(self, plan: Plan[ScrollOutcome], timeout: float | None = None) -> ScrollT: ...

    def _do(self, plan: Plan[Any], timeout: float | None = None) -> Any:
        """Carry the plan out, or note it for later."""
        raise NotImplementedError
