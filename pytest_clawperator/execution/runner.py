"""The interface of a runner: what runs an execution on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.execution.observing import Observers
from pytest_clawperator.execution.postprocess import NO_PROOFS, Processor
from pytest_clawperator.execution.result import RunResult


class Runner(Protocol):
    """Runs executions on one device: over adb, or through another host."""

    @property
    def serial(self) -> str:
        """The device's serial."""
        ...

    @property
    def observers(self) -> Observers:
        """Who is told of executions."""
        ...

    def run(
        self,
        execution: Execution,
        *,
        processors: Sequence[Processor] = (),
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run the execution; a failed envelope is returned, not raised.

        ``processors`` are applied after the runner's own, before observers see the result.
        ``proofs`` are actions that prove others, by id with the id of the action that each is
        for; their steps are left out of the result, and their looks kept with the actions'.
        """
        ...

    def close(self) -> None:
        """Release the device."""
        ...
