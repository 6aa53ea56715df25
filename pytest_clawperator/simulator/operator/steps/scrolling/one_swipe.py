"""One swipe in a list, and whether it moved anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_clawperator.simulator.operator.payload.command import (
    Retry,
    ScrollStyle,
)
from pytest_clawperator.simulator.operator.steps.gestures import swipe
from pytest_clawperator.simulator.operator.steps.looking import find, first_scrollable, look_or_fail
from pytest_clawperator.simulator.operator.steps.node_text import node_id
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.stage import run_stage
from pytest_clawperator.simulator.screen.accessibility import node_search
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

Outcome = Literal["moved", "edge_reached", "gesture_failed", "container_lost"]

_LEADING = 3


class ScrolledList:
    """The list that an action scrolls: found again at each look, unless a fault loses it."""

    def __init__(self, run: Run, style: ScrollStyle, *, is_lost_late: bool = False) -> None:
        self._run = run
        self._style = style
        self._is_lost_late = is_lost_late
        self._is_gone = self._is_gone_next = False
        self.lost = ""
        """What was gone at the last look after a swipe, in the words of the app."""

    def resolve(self, root: UiNode) -> UiNode:
        """Return the node to scroll."""
        self._is_gone |= self._is_gone_next
        return self._find(root)

    def resolve_again(self, root: UiNode) -> UiNode | None:
        """Return the node after a swipe; None where it is gone."""
        try:
            return self._find(root)
        except StepFailure as problem:
            is_named = problem.message.startswith("Container")
            self.lost = "container" if is_named else "scrollable container"
            return None

    async def swipe(self, node: UiNode) -> bool:
        """Swipe once; False where the device refuses."""
        done = await swipe(self._run, node, self._style.direction, self._style.distance_ratio)
        if done and self._run.faults.take("container_lost"):
            self._is_gone_next = True
            self._is_gone = not self._is_lost_late
        return done

    def _find(self, root: UiNode) -> UiNode:
        wanted = self._style.container
        if wanted is None:
            node = None if self._is_gone else first_scrollable(self._run, root)
            if node is None:
                raise StepFailure("No scrollable container visible", code="CONTAINER_NOT_FOUND")
            return node
        node = None if self._is_gone else find(self._run, root, wanted)
        if node is None:
            raise StepFailure(f"Container not found for {wanted}", code="CONTAINER_NOT_FOUND")
        if node.scrollable:
            return node
        is_deep = self._style.find_first_scrollable_child
        inner = first_scrollable(self._run, node) if is_deep else None
        if inner is None:
            text = f"Scrollable container not found for {wanted}"
            raise StepFailure(text, code="CONTAINER_NOT_SCROLLABLE")
        return inner


def position_signature(run: Run, container: UiNode, style: ScrollStyle) -> str | None:
    """Return where the first children stand, as text; None without children."""
    children = node_search.children_on_screen(container, run.ui.display.size)[:_LEADING]
    if not children:
        return None
    is_vertical = style.direction in ("Down", "Up")
    return "|".join(
        f"{child.resource_id or node_id(child)}@"
        + (f"y={child.bounds.top}" if is_vertical else f"x={child.bounds.left}")
        for child in children
    )


@dataclass(frozen=True)
class Scrolled:
    """What one swipe did, and the id of the list."""

    outcome: Outcome
    container_id: str | None


async def scroll_once(run: Run, style: ScrollStyle, retry: Retry, target: ScrolledList) -> Scrolled:
    """Swipe once, and return whether the list moved."""

    async def attempt() -> Scrolled:
        node = target.resolve(look_or_fail(run))
        container_id = node.resource_id or None
        before = position_signature(run, node, style)
        if not await target.swipe(node):
            run.log_ui("scrollOnce: gesture rejected by OS")
            return Scrolled("gesture_failed", container_id)
        await run.time.pause(style.settle_delay_ms)
        node_after = target.resolve_again(look_or_fail(run))
        if node_after is None:
            run.log_ui("scrollOnce: container lost after gesture; treating as edge_reached")
            return Scrolled("container_lost", container_id)
        after = position_signature(run, node_after, style)
        if before is None or after is None or before == after:
            run.log_ui("scrollOnce: signature unchanged - edge_reached")
            return Scrolled("edge_reached", container_id)
        run.log_ui("scrollOnce: signature changed - moved")
        return Scrolled("moved", container_id)

    return await run_stage(
        run,
        f"scrollOnce(dir={style.direction})",
        attempt,
        retry=retry,
        success=lambda done: {"direction": style.direction, "outcome": _enum_name(done.outcome)},
        failure=lambda message: {
            "direction": style.direction,
            "failure_point": _once_failure_point(message),
        },
    )


def _enum_name(outcome: Outcome) -> str:
    shown = "edge_reached" if outcome == "container_lost" else outcome
    return shown.replace("_", "")


def _once_failure_point(message: str) -> str:
    if "No scrollable container" in message or "Container not found" in message:
        return "container_not_found"
    return "container_not_scrollable" if "Scrollable container not found" in message else "unknown"
