"""Steps that scroll: once, until something shows, and then a click."""

from __future__ import annotations

from struct import pack, unpack
from typing import Literal, NamedTuple

from pytest_clawperator.simulator.operator import steps
from pytest_clawperator.simulator.operator.command import NO_RETRY, UI_READINESS, Action, Retry
from pytest_clawperator.simulator.operator.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.operator_log import ENGINE, UI_SCOPE, Source
from pytest_clawperator.simulator.operator.read_steps import has_node
from pytest_clawperator.simulator.operator.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps import find, look_or_fail, run_stage
from pytest_clawperator.simulator.operator.touch_steps import click_node
from pytest_clawperator.simulator.screen import accessibility
from pytest_clawperator.simulator.screen.accessibility import UiNode

Outcome = Literal["moved", "edge_reached", "gesture_failed", "container_lost"]
_LEADING = 3


class ScrolledList:
    """The list that an action scrolls: found again for each swipe, unless a fault loses it."""

    def __init__(self, run: Run, action: Action, *, is_lost_late: bool = False) -> None:
        self._run = run
        self._action = action
        self._is_lost_late = is_lost_late
        self._is_gone = self._is_gone_next = False
        self.lost = ""
        """What was gone after the last swipe, in the words of the app."""

    def resolve(self, root: UiNode) -> UiNode:
        """Return the node to scroll."""
        self._is_gone |= self._is_gone_next
        return self._find(root)

    def resolve_again(self, root: UiNode) -> UiNode | None:
        """Return the node after a swipe; None if it is gone."""
        try:
            return self._find(root)
        except StepFailure as problem:
            is_named = problem.message.startswith("Container")
            self.lost = "container" if is_named else "scrollable container"
            return None

    async def swipe(self, node: UiNode) -> bool:
        """Swipe once; False if the device refuses."""
        done = await steps.swipe(self._run, node, self._action)
        if done and self._run.faults.take("container_lost"):
            self._is_gone_next = True
            self._is_gone = not self._is_lost_late
        return done

    def position(self, node: UiNode) -> str | None:
        """Return where the first children of the list stand, as text; None without children."""
        children = accessibility.children_on_screen(node, self._run.ui.display.size)[:_LEADING]
        is_vertical = self._action.is_vertical
        places = (
            f"{child.resource_id or steps.node_id(child)}@"
            + (f"y={child.bounds.top}" if is_vertical else f"x={child.bounds.left}")
            for child in children
        )
        return "|".join(places) or None

    def _find(self, root: UiNode) -> UiNode:
        run, wanted = self._run, self._action.container
        if not wanted:
            node = None if self._is_gone else steps.first_scrollable(run, root)
            if node is None:
                raise StepFailure("No scrollable container visible", code="CONTAINER_NOT_FOUND")
            return node
        node = None if self._is_gone else find(run, root, wanted)
        if node is None:
            raise StepFailure(f"Container not found for {wanted}", code="CONTAINER_NOT_FOUND")
        if node.scrollable:
            return node
        is_deep = self._action.find_first_scrollable_child
        inner = steps.first_scrollable(run, node) if is_deep else None
        if inner is None:
            text = f"Scrollable container not found for {wanted}"
            raise StepFailure(text, code="CONTAINER_NOT_SCROLLABLE")
        return inner


class Scrolled(NamedTuple):
    """What one swipe did, and the id of the list."""

    outcome: Outcome
    container_id: str | None


async def scroll_once(run: Run, action: Action, retry: Retry, target: ScrolledList) -> Scrolled:
    """Swipe once, and return whether the list moved."""

    async def attempt() -> Scrolled:
        node = target.resolve(look_or_fail(run))
        container_id = node.resource_id or None
        before = target.position(node)
        if not await target.swipe(node):
            run.log_ui("scrollOnce: gesture rejected by OS")
            return Scrolled("gesture_failed", container_id)
        await run.time.pause(action.settle_delay_ms)
        node_after = target.resolve_again(look_or_fail(run))
        if node_after is None:
            run.log_ui("scrollOnce: container lost after gesture; treating as edge_reached")
            return Scrolled("container_lost", container_id)
        after = target.position(node_after)
        if before is None or after is None or before == after:
            run.log_ui("scrollOnce: signature unchanged - edge_reached")
            return Scrolled("edge_reached", container_id)
        run.log_ui("scrollOnce: signature changed - moved")
        return Scrolled("moved", container_id)

    return await run_stage(
        run,
        f"scrollOnce(dir={action.direction})",
        attempt,
        retry=retry,
        success=lambda done: {
            "direction": action.direction,
            "outcome": _reported(done.outcome).replace("_", ""),
        },
        failure=lambda message: {
            "direction": action.direction,
            "failure_point": _once_failure_point(message),
        },
    )


def _reported(outcome: Outcome) -> str:
    # A list that went away after the swipe cannot be compared, and counts as having ended.
    return "edge_reached" if outcome == "container_lost" else outcome


def _once_failure_point(message: str) -> str:
    if "No scrollable container" in message or "Container not found" in message:
        return "container_not_found"
    return "container_not_scrollable" if "Scrollable container not found" in message else "unknown"


async def scroll(run: Run, action: Action) -> StepResult:
    """Swipe once and return whether anything moved."""
    direction, settle = action.direction.lower(), str(action.settle_delay_ms)
    target = ScrolledList(run, action)
    try:
        done = await run.on_screen(scroll_once(run, action, action.retry, target))
    except StepFailure as problem:
        is_unscrollable = problem.code == "CONTAINER_NOT_SCROLLABLE"
        code = problem.code if is_unscrollable else "CONTAINER_NOT_FOUND"
        run.log.warn(Source.ENGINE, f"{ENGINE} executeScroll: {code} - {problem.message}")
        return failed(action, error=code, direction=direction, settle_delay_ms=settle)
    is_refused = done.outcome == "gesture_failed"
    return (failed if is_refused else succeeded)(
        action,
        scroll_outcome=_reported(done.outcome),
        direction=direction,
        distance_ratio=float_text(action.distance_ratio),
        settle_delay_ms=settle,
        resolved_container=done.container_id,
        error="GESTURE_FAILED" if is_refused else None,
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


async def scroll_until(run: Run, action: Action) -> StepResult:
    """Swipe until a node shows up, the list ends, or a limit is reached."""
    reason, scrolls, container_id = await run.on_screen(_scroll_loop(run, action))
    if action.matcher and reason in _LOOK_AGAIN:
        # The specification has it look once more, the published app waits for the node.
        retry = NO_RETRY if run.documented else UI_READINESS
        if await has_node(run, action.matcher, retry, on_screen=True):
            reason = "TARGET_FOUND"
    error = _loop_error(run, action, reason)
    if action.click_after and action.matcher and reason == "TARGET_FOUND":
        await run.on_screen(click_node(run, action.matcher, action.click_type, UI_READINESS))
    return (succeeded if error is None else failed)(
        action,
        termination_reason=reason,
        scrolls_executed=str(scrolls),
        direction=action.direction.lower(),
        click_after=str(action.click_after).lower(),
        click_types=action.click_type,
        resolved_container=container_id,
        error=error,
    )


def _loop_error(run: Run, action: Action, reason: str) -> str | None:
    if reason in _CONTAINER_ERRORS:
        return reason
    is_missed = action.matcher and reason != "TARGET_FOUND"
    # To the specification an ended list is a success, whatever was looked for.
    return "TARGET_NOT_FOUND" if is_missed and not run.documented else None


async def _scroll_loop(run: Run, action: Action) -> tuple[str, int, str | None]:
    """Return why it ended, the number of swipes, and the id of the list."""
    run.log_ui(
        f"scrollLoop: dir={action.direction} maxScrolls={action.max_scrolls} "
        f"maxDuration={_duration_text(action.max_duration_ms)}"
    )
    root = look_or_fail(run)
    if action.matcher and find(run, root, action.matcher) is not None:
        run.log_ui("scrollLoop: TARGET_FOUND before scrolling")
        return "TARGET_FOUND", 0, None
    target = ScrolledList(run, action, is_lost_late=not run.documented)
    try:
        container_id = target.resolve(root).resource_id or None
    except StepFailure as problem:
        name = problem.code.title().replace("_", "")  # as the app calls it
        run.log.warn(Source.UI_SCOPE, f"{UI_SCOPE} scrollLoop: {name} - {problem.message}")
        return problem.code, 0, None
    reason, scrolls = await _scroll_to_the_end(run, action, target)
    return reason, scrolls, container_id


async def _scroll_to_the_end(run: Run, action: Action, target: ScrolledList) -> tuple[str, int]:
    """Swipe until there is a reason to end; return it, and how many swipes there were."""
    began = run.time.now()
    scrolls = refusals = 0
    while True:
        if run.time.now() - began >= action.max_duration_ms:
            return _ends(run, "MAX_DURATION_REACHED", scrolls)
        if scrolls >= action.max_scrolls:
            return _ends(run, "MAX_SCROLLS_REACHED", scrolls, said=f"({action.max_scrolls})")
        try:
            done = await scroll_once(run, action, NO_RETRY, target)
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
            if action.matcher and await _shows_up(run, action):
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


async def _shows_up(run: Run, action: Action) -> bool:
    """Look for the node now and a few times more, since rows may still be drawn."""
    for _ in range(_GRACE_LOOKS):
        if find(run, look_or_fail(run), action.matcher) is not None:
            return True
        await run.time.pause(min(max(action.settle_delay_ms / 2, 100), 500))
    return find(run, look_or_fail(run), action.matcher) is not None


_STUCK_LIMIT = 2


async def scroll_and_click(run: Run, action: Action) -> StepResult:
    """Swipe until a node shows up, then click it."""
    await run.on_screen(_bring_up_and_click(run, action))
    return succeeded(
        action,
        max_swipes=str(action.max_scrolls),
        direction=action.direction.lower() if run.documented else action.direction,
        click_types=action.click_type,
        click_after=str(action.click_after).lower(),
    )


async def _bring_up_and_click(run: Run, action: Action) -> None:
    said = {
        "target_matcher": action.matcher,
        "container_matcher": str(action.container) if action.container else "auto",
    }
    exact = {"container_resolution": "exact"}
    is_found = await run_stage(
        run,
        f"scrollUntil(target={action.matcher})",
        lambda: _bring_up(run, action),
        retry=action.retry,
        success=lambda found: {
            **said,
            "swipes_used": 0 if found else action.max_scrolls,
            "direction": action.direction,
            "axis": "vertical" if action.is_vertical else "horizontal",
            **exact,
        },
        failure=lambda message: {
            **said,
            "failure_point": _scroll_failure_point(message),
            **exact,
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


async def _bring_up(run: Run, action: Action) -> bool:
    matcher, most = action.matcher, action.max_scrolls
    run.log_ui(f"Starting scrollUntil: target={matcher}, dir={action.direction}, max={most}")
    target = ScrolledList(run, action)
    stuck = 0
    for swipes in range(most + 1):
        root = look_or_fail(run)
        node = target.resolve(root)
        run.log_ui(f"scrollUntil searching for target at swipe={swipes}")
        found = find(run, root, matcher)
        if found is not None:
            run.log_ui(f"scrollUntil ✅ found at swipe={swipes}: {steps.describe(found)}")
            return True
        if swipes == most:
            break
        before = target.position(node)
        done = await target.swipe(node)
        if not done:
            run.log_ui("scrollUntil gesture failed; backing off and continuing")
        await run.time.pause(action.settle_delay_ms)
        if not done:
            continue
        node_after = target.resolve_again(look_or_fail(run))
        if node_after is None:
            run.log_ui(f"scrollUntil ❌ {target.lost} lost after swipe")
            return False
        is_stuck = before is not None and target.position(node_after) == before
        stuck = stuck + 1 if is_stuck else 0
        if is_stuck:
            run.log_ui(f"scrollUntil ⚠️ no movement (stuck={stuck})")
        if stuck >= _STUCK_LIMIT:
            run.log_ui("scrollUntil 🛑 exhausted scrolling (no further movement)")
            return False
    run.log_ui(f"scrollUntil ❌ not found after {most} swipes")
    return False
