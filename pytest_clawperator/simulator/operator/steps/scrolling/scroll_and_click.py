"""The step scroll_and_click: swipes until a node shows up, then clicks it."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, succeeded
from pytest_clawperator.simulator.operator.payload.command import (
    ScrollAndClick,
)
from pytest_clawperator.simulator.operator.steps.looking import find, look_or_fail
from pytest_clawperator.simulator.operator.steps.node_text import describe
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.scrolling.one_swipe import (
    ScrolledList,
    position_signature,
)
from pytest_clawperator.simulator.operator.steps.stage import run_stage
from pytest_clawperator.simulator.operator.steps.touch import click_node

_STUCK_LIMIT = 2


async def scroll_and_click(run: Run, action: ScrollAndClick) -> StepResult:
    """Swipe until a node shows up, then click it."""
    await run.on_screen(_bring_up_and_click(run, action))
    direction = action.style.direction
    return succeeded(
        action,
        max_swipes=str(action.max_swipes),
        direction=direction.lower() if run.documented else direction,
        click_types=action.click_type,
        click_after=str(action.click_after).lower(),
    )


async def _bring_up_and_click(run: Run, action: ScrollAndClick) -> None:
    target = f"scrollUntil(target={action.matcher})"
    container = "auto" if action.style.container is None else str(action.style.container)
    axis = "vertical" if action.style.direction in ("Down", "Up") else "horizontal"
    is_found = await run_stage(
        run,
        target,
        lambda: _bring_up(run, action),
        retry=action.scroll_retry,
        success=lambda found: {
            "target_matcher": action.matcher,
            "container_matcher": container,
            "swipes_used": 0 if found else action.max_swipes,
            "direction": action.style.direction,
            "axis": axis,
            "container_resolution": "exact",
        },
        failure=lambda message: {
            "target_matcher": action.matcher,
            "container_matcher": container,
            "failure_point": _scroll_failure_point(message),
            "container_resolution": "exact",
        },
    )
    if not is_found:
        text = f"Target node not found after scrolling: {action.matcher}"
        raise StepFailure(text, code="NODE_NOT_FOUND")
    if action.click_after:
        await click_node(run, action.matcher, action.click_type, action.click_retry)


def _scroll_failure_point(message: str) -> str:
    if "container not found" in message:
        return "container_not_found"
    return "target_not_found" if "not found" in message else "max_swipes_exceeded"


async def _bring_up(run: Run, action: ScrollAndClick) -> bool:
    style, matcher = action.style, action.matcher
    run.log_ui(
        f"Starting scrollUntil: target={matcher}, dir={style.direction}, max={action.max_swipes}"
    )
    target = ScrolledList(run, style)
    stuck = 0
    for swipes in range(action.max_swipes + 1):
        root = look_or_fail(run)
        node = target.resolve(root)
        run.log_ui(f"scrollUntil searching for target at swipe={swipes}")
        found = find(run, root, matcher)
        if found is not None:
            run.log_ui(f"scrollUntil ✅ found at swipe={swipes}: {describe(found)}")
            return True
        if swipes == action.max_swipes:
            break
        before = position_signature(run, node, style)
        done = await target.swipe(node)
        if not done:
            run.log_ui("scrollUntil gesture failed; backing off and continuing")
        await run.time.pause(style.settle_delay_ms)
        if not done:
            continue
        node_after = target.resolve_again(look_or_fail(run))
        if node_after is None:
            run.log_ui(f"scrollUntil ❌ {target.lost} lost after swipe")
            return False
        is_stuck = before is not None and position_signature(run, node_after, style) == before
        stuck = stuck + 1 if is_stuck else 0
        if is_stuck:
            run.log_ui(f"scrollUntil ⚠️ no movement (stuck={stuck})")
        if stuck >= _STUCK_LIMIT:
            run.log_ui("scrollUntil 🛑 exhausted scrolling (no further movement)")
            return False
    run.log_ui(f"scrollUntil ❌ not found after {action.max_swipes} swipes")
    return False
