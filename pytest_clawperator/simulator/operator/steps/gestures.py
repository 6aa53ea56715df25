"""How the Operator touches the screen: tap, long press and swipe."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.operator_log import TREE_MANAGER, Source
from pytest_clawperator.simulator.operator.payload.command import Direction
from pytest_clawperator.simulator.operator.steps.run import Run
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

TAP_MS = 120

LONG_PRESS_MS = 650

SWIPE_MS = 250


async def tap(run: Run, x: int, y: int) -> bool:
    """Tap a point; False where the device refuses."""
    if run.faults.take("gesture_refused"):
        return False
    await run.time.pause(TAP_MS)
    return run.ui.touch.tap(x, y)


async def long_press(run: Run, x: int, y: int) -> bool:
    """Press a point for long; False where the device refuses."""
    if run.faults.take("gesture_refused"):
        return False
    await run.time.pause(LONG_PRESS_MS)
    return run.ui.touch.long_press(x, y)


async def swipe(run: Run, node: UiNode, direction: Direction, distance: float) -> bool:
    """Swipe along the middle of a node; the direction is that of what is to be revealed."""
    bounds = node.bounds
    if not bounds.width or not bounds.height or run.faults.take("gesture_refused"):
        return False
    if direction in ("Down", "Right"):
        begin, end = 0.8 - 0.4 * distance, 0.8 - 0.8 * distance
    else:
        begin, end = 0.2 + 0.4 * distance, 0.2 + 0.8 * distance
    x, y = bounds.centre
    await run.time.pause(SWIPE_MS)
    if direction in ("Down", "Up"):
        top, height = bounds.top, bounds.height
        return run.ui.touch.swipe((x, round(top + begin * height)), (x, round(top + end * height)))
    left, width = bounds.left, bounds.width
    return run.ui.touch.swipe((round(left + begin * width), y), (round(left + end * width), y))


def log_touch(run: Run, text: str) -> None:
    """Log a line about a touch."""
    run.log.debug(Source.TREE_MANAGER, f"{TREE_MANAGER} {text}")
