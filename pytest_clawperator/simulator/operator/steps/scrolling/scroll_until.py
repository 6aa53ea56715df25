"""The step scroll_until: swipes until a node shows up, the list ends, or a limit is reached."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.answer.operator_log import UI_SCOPE, Source
from pytest_clawperator.simulator.operator.payload.command import (
    NO_RETRY,
    UI_READINESS,
    NodeMatcher,
    Retry,
    ScrollStyle,
    ScrollUntil,
)
from pytest_clawperator.simulator.operator.steps.looking import find, look_or_fail
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.scrolling.one_swipe import (
    ScrolledList,
    scroll_once,
)
from pytest_clawperator.simulator.operator.steps.touch import click_node
from pytest_clawperator.simulator.operator.steps.wait import find_in_stage

_GRACE_LOOKS = 3

_CONTAINER_ERRORS = frozenset({"CONTAINER_NOT_FOUND", "CONTAINER_NOT_SCROLLABLE", "CONTAINER_LOST"})

_LOOK_AGAIN = frozenset(
    {"EDGE_REACHED", "MAX_SCROLLS_REACHED", "MAX_DURATION_REACHED", "NO_POSITION_CHANGE"}
)


@dataclass(frozen=True)
class _Ended:
    reason: str
    scrolls: int = 0
    container_id: str | None = None


async def scroll_until(run: Run, action: ScrollUntil) -> StepResult:
    """Swipe until a node shows up, the list ends, or a limit is reached."""
    ended = await run.on_screen(_scroll_loop(run, action))
    if action.matcher is not None and ended.reason in _LOOK_AGAIN:
        # The specification has it look once more, the published app waits for the node.
        retry = NO_RETRY if run.documented else UI_READINESS
        if await _is_there(run, action.matcher, retry):
            ended = replace(ended, reason="TARGET_FOUND")
    error = _loop_error(run, action, ended.reason)
    if action.click_after and ended.reason == "TARGET_FOUND" and action.matcher is not None:
        await run.on_screen(click_node(run, action.matcher, action.click_type, UI_READINESS))
    make = succeeded if error is None else failed
    return make(
        action,
        termination_reason=ended.reason,
        scrolls_executed=str(ended.scrolls),
        direction=action.style.direction.lower(),
        click_after=str(action.click_after).lower(),
        click_types=action.click_type,
        resolved_container=ended.container_id,
        error=error,
    )


async def _is_there(run: Run, matcher: NodeMatcher, retry: Retry) -> bool:
    try:
        await run.on_screen(find_in_stage(run, matcher, retry))
    except StepFailure:
        return False
    return True


def _loop_error(run: Run, action: ScrollUntil, reason: str) -> str | None:
    if reason in _CONTAINER_ERRORS:
        return reason
    is_missed = action.matcher is not None and reason != "TARGET_FOUND"
    # To the specification an ended list is a success, whatever was looked for.
    return "TARGET_NOT_FOUND" if is_missed and not run.documented else None


async def _scroll_loop(run: Run, action: ScrollUntil) -> _Ended:
    style, matcher = action.style, action.matcher
    run.log_ui(
        f"scrollLoop: dir={style.direction} maxScrolls={action.max_scrolls} "
        f"maxDuration={_duration_text(action.max_duration_ms)}"
    )
    root = look_or_fail(run)
    if matcher is not None and find(run, root, matcher) is not None:
        run.log_ui("scrollLoop: TARGET_FOUND before scrolling")
        return _Ended("TARGET_FOUND")
    target = ScrolledList(run, style, is_lost_late=not run.documented)
    try:
        container_id = target.resolve(root).resource_id or None
    except StepFailure as problem:
        reason = problem.code.title().replace("_", "")  # as the app calls it
        run.log.warn(Source.UI_SCOPE, f"{UI_SCOPE} scrollLoop: {reason} - {problem.message}")
        return _Ended(problem.code)
    reason, scrolls = await _scroll_to_the_end(run, action, target)
    return _Ended(reason, scrolls, container_id)


async def _scroll_to_the_end(
    run: Run, action: ScrollUntil, target: ScrolledList
) -> tuple[str, int]:
    """Swipe until there is a reason to end; return it, and how many swipes there were."""
    began = run.time.now()
    scrolls = refusals = 0
    while True:
        if run.time.now() - began >= action.max_duration_ms:
            return _ends(run, "MAX_DURATION_REACHED", scrolls)
        if scrolls >= action.max_scrolls:
            return _ends(run, "MAX_SCROLLS_REACHED", scrolls, said=f"({action.max_scrolls})")
        try:
            done = await scroll_once(run, action.style, NO_RETRY, target)
        except StepFailure:
            return _is_lost(run, scrolls)
        scrolls += 1
        if done.outcome == "container_lost" and run.documented:
            return _is_lost(run, scrolls)
        if done.outcome == "gesture_failed":
            refusals += 1
            run.log_ui(f"scrollLoop: gesture_failed (noMovement={refusals})")
        else:
            refusals = 0
            at_edge = done.outcome != "moved"
            if action.matcher is not None and await _shows_up(run, action.matcher, action.style):
                place = "at edge after" if at_edge else "after"
                return _ends(run, "TARGET_FOUND", scrolls, said=f"{place} {scrolls} scrolls")
            if at_edge:
                return _ends(run, "EDGE_REACHED", scrolls)
        threshold = action.no_position_change_threshold
        if refusals >= threshold:
            said = f"after {scrolls} scrolls (threshold={threshold})"
            return _ends(run, "NO_POSITION_CHANGE", scrolls, said=said)


def _ends(run: Run, reason: str, scrolls: int, *, said: str = "") -> tuple[str, int]:
    run.log_ui(f"scrollLoop: {reason} {said or f'after {scrolls} scrolls'}")
    return reason, scrolls


def _is_lost(run: Run, scrolls: int) -> tuple[str, int]:
    run.log_ui("scrollLoop: container lost mid-loop, returning ContainerLost")
    return "CONTAINER_LOST", scrolls


def _duration_text(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g}s" if milliseconds >= 1000 else f"{milliseconds}ms"


async def _shows_up(run: Run, matcher: NodeMatcher, style: ScrollStyle) -> bool:
    """Look for a node now and a few times more, since rows may still be drawn."""
    for _ in range(_GRACE_LOOKS):
        if find(run, look_or_fail(run), matcher) is not None:
            return True
        await run.time.pause(min(max(style.settle_delay_ms / 2, 100), 500))
    return find(run, look_or_fail(run), matcher) is not None
