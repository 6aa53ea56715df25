"""Steps that scroll: once, until something shows, and then a click."""

from __future__ import annotations

from dataclasses import dataclass, replace
from struct import pack, unpack
from typing import Literal

from pytest_clawperator.simulator.operator.command import (
    NO_RETRY,
    UI_READINESS,
    NodeMatcher,
    Retry,
    Scroll,
    ScrollAndClick,
    ScrollStyle,
    ScrollUntil,
)
from pytest_clawperator.simulator.operator.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.operator_log import ENGINE, UI_SCOPE, Source
from pytest_clawperator.simulator.operator.read_steps import find_in_stage
from pytest_clawperator.simulator.operator.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps import (
    describe,
    find,
    first_scrollable,
    look_or_fail,
    node_id,
    run_stage,
    swipe,
)
from pytest_clawperator.simulator.operator.touch_steps import click_node
from pytest_clawperator.simulator.screen import accessibility
from pytest_clawperator.simulator.screen.accessibility import UiNode

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
    children = accessibility.children_on_screen(container, run.ui.display.size)[:_LEADING]
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
