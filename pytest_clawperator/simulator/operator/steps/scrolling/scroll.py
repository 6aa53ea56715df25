"""The step scroll: swipes once."""

from __future__ import annotations

from struct import pack, unpack

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.answer.operator_log import ENGINE, Source
from pytest_clawperator.simulator.operator.payload.command import (
    Scroll,
)
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.scrolling.one_swipe import (
    ScrolledList,
    scroll_once,
)


async def scroll(run: Run, action: Scroll) -> StepResult:
    """Swipe once and return whether anything moved."""
    style = action.style
    direction, settle = style.direction.lower(), str(style.settle_delay_ms)
    try:
        done = await run.on_screen(scroll_once(run, style, action.retry, ScrolledList(run, style)))
    except StepFailure as problem:
        is_unscrollable = problem.code == "CONTAINER_NOT_SCROLLABLE"
        code = problem.code if is_unscrollable else "CONTAINER_NOT_FOUND"
        run.log.warn(Source.ENGINE, f"{ENGINE} executeScroll: {code} - {problem.message}")
        return failed(action, error=code, direction=direction, settle_delay_ms=settle)
    # A list that went away after the swipe cannot be compared, and counts as having ended.
    outcome = "edge_reached" if done.outcome == "container_lost" else done.outcome
    make, error = succeeded, None
    if outcome == "gesture_failed":
        make, error = failed, "GESTURE_FAILED"
    return make(
        action,
        scroll_outcome=outcome,
        direction=direction,
        distance_ratio=float_text(style.distance_ratio),
        settle_delay_ms=settle,
        resolved_container=done.container_id,
        error=error,
    )


def float_text(value: float) -> str:
    """Return a number as Java prints a float."""
    single = unpack("<f", pack("<f", value))[0]
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if unpack("<f", pack("<f", float(text)))[0] == single:
            break
    if single == 0 or abs(single) >= 1e-3:
        return str(float(text))
    mantissa, _, exponent = f"{float(text):e}".partition("e")
    return f"{float(mantissa)}E{int(exponent)}"
