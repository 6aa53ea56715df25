"""The outcome of a scroll, read from a step's data."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.execution.postprocess import TARGET_FOUND
from pytest_clawperator.execution.result import RunStep

EDGE = "EDGE_REACHED"


@dataclass(frozen=True, kw_only=True)
class ScrollOutcome:
    """The outcome of a scroll; true if it found its node, or moved where none was wanted.

    ``moved`` is None where the device does not tell, ``found`` where nothing was looked for.
    ``termination_reason`` is the device's word for why it stopped.
    """

    direction: str
    moved: bool | None = None
    edge_reached: bool = False
    found: bool | None = None
    scrolls_executed: int | None = None
    termination_reason: str | None = None
    step: RunStep | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return bool(self.moved) if self.found is None else self.found


def outcome_of_scroll(step: RunStep) -> ScrollOutcome:
    """Return the outcome of one gesture."""
    said = step.data.get("scroll_outcome", "")
    return ScrollOutcome(
        direction=step.data.get("direction", "down").lower(),
        moved=said == "moved",
        edge_reached=said == "edge_reached",
        scrolls_executed=1,
        step=step,
    )


def outcome_of_scroll_until(step: RunStep, *, has_target: bool) -> ScrollOutcome:
    """Return the outcome of a loop of gestures."""
    reason = step.data.get("termination_reason", "")
    printed = step.data.get("scrolls_executed", "")
    scrolls = int(printed) if printed.isdecimal() and len(printed) < 10 else 0
    is_edge = reason == EDGE
    return ScrollOutcome(
        direction=step.data.get("direction", "down").lower(),
        # The gesture that meets the edge is counted too, and moves nothing.
        moved=scrolls > (1 if is_edge else 0),
        edge_reached=is_edge,
        found=reason == TARGET_FOUND if has_target else None,
        scrolls_executed=scrolls,
        termination_reason=reason or None,
        step=step,
    )


def outcome_of_scroll_and_click(step: RunStep) -> ScrollOutcome:
    """Return the outcome of a search that ended with a tap."""
    direction = step.data.get("direction", "down").lower()
    return ScrollOutcome(
        direction=direction, found=True, termination_reason=TARGET_FOUND, step=step
    )
