"""What the steps of a run showed of the screen."""

from __future__ import annotations

from pytest_clawperator.errors import EnvelopeMalformedError
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Snapshot


def last_step(result: RunResult) -> RunStep:
    """Return the result of the last action of a run that succeeded."""
    if not result.steps:
        raise EnvelopeMalformedError(
            "the envelope says success and has no step results",
            serial=result.serial,
            hint="Check that the Operator app and this package are of the same major.minor "
            "version.",
        )
    return result.steps[-1]


def look_of(result: RunResult) -> RunStep | None:
    """Return the look that proves the last action of a run, or the one that failed."""
    failed = next(iter(result.failed_steps), None)
    return result.last_look if failed is None else failed.look


def partial_snapshot(step: RunStep) -> Snapshot:
    """Return what can be read of a screen; a damaged one may lack nodes that are there."""
    text = step.data.get("text")
    return step.snapshot if text is None else Snapshot.from_step(text, step.data, partial=True)
