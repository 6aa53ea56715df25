"""What steps share: stages with retries, finding nodes, gestures."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from pytest_clawperator.simulator.operator.command import Action, NodeMatcher, Retry
from pytest_clawperator.simulator.operator.operator_log import (
    TREE_MANAGER,
    UI_SCOPE,
    JavaError,
    Source,
    map_text,
)
from pytest_clawperator.simulator.operator.run import Details, Run, StepFailure, T
from pytest_clawperator.simulator.screen import accessibility
from pytest_clawperator.simulator.screen.accessibility import UiNode, role_of


def no_details(_: object) -> Details:
    """Add no details to a stage's log line."""
    return {}


async def run_stage(
    run: Run,
    stage: str,
    attempt: Callable[[], Awaitable[T]],
    *,
    retry: Retry,
    label: str | None = None,
    on_screen: bool = True,
    success: Callable[[T], Details] = no_details,
    failure: Callable[[str], Details] | None = no_details,
) -> T:
    """Try something as often as the retry allows, and log each try.

    ``success`` and ``failure`` add details to the log; without ``failure`` the context line of a
    failed stage is left out.
    """
    run.status("stage-start", f"id={stage} label={label or stage}")
    began = run.time.now()
    delay = retry.initial_delay
    tries = 0
    while True:
        tries += 1
        try:
            result = await attempt()
        except StepFailure as problem:
            if tries >= retry.max_attempts:
                _log_failure(run, stage, problem, tries, on_screen, failure)
                raise
            pause = _jittered(delay, retry.jitter, run.rng)
            _log_retry(run, stage, problem, f"{tries}/{retry.max_attempts}", pause, on_screen)
            await run.time.pause(pause)
            delay = min(delay * retry.multiplier, max(retry.max_delay, retry.initial_delay))
        else:
            details = {**success(result), "elapsed_ms": run.time.elapsed(began), "attempt": tries}
            run.status("stage-success", f"id={stage} data={map_text(_texts(details))}")
            return result


def _jittered(delay: float, ratio: float, rng: random.Random) -> int:
    if ratio <= 0:
        return int(delay)
    return rng.randint(max(0, int(delay - delay * ratio)), int(delay + delay * ratio))


def _log_retry(
    run: Run, stage: str, problem: StepFailure, attempt: str, pause: int, on_screen: bool
) -> None:
    run.status("stage-retry", f"id={stage} attempt={attempt} delayMs={pause}")
    number = attempt.partition("/")[0]
    line = f"attempt {number} failed: {problem.message}; retrying in {pause}ms"
    if on_screen:
        run.log_ui(f"{stage} {line}")
    else:
        run.log_task(line)


def _log_failure(
    run: Run,
    stage: str,
    problem: StepFailure,
    tries: int,
    on_screen: bool,
    failure: Callable[[str], Details] | None,
) -> None:
    if on_screen:
        # The app passes its tag where the message belongs, so nothing else is logged.
        run.log.error(Source.UI_SCOPE, UI_SCOPE)
    details = {} if failure is None else failure(problem.message)
    code = details.get("reason_code")
    reason = problem.message if code is None else f"{code}: {problem.message}"
    run.status_failure(f"id={stage} reason={reason}", JavaError(problem.message))
    if failure is not None:
        shown = _texts({**details, "attempt": tries})
        context = ", ".join(f"{key}={value}" for key, value in shown.items())
        run.status("stage-log", f"message=StageFailure context: {context}")


def _texts(details: Details) -> dict[str, str]:
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in details.items()
        if value is not None
    }


_ANCESTORS = 7


def look(run: Run) -> UiNode | None:
    """Return the root of the active window; None where the service gets none."""
    if not run.is_connected():
        run.log.debug(
            Source.INSPECTOR, "[Operator-UxInspector] Accessibility service is not available"
        )
        return None
    root = None if run.faults.take("no_ui_tree") else run.ui.view.active_root()
    if root is None:
        run.log.debug(Source.INSPECTOR, "[Operator-UxInspector] Root node is null")
    return root


def look_or_fail(run: Run) -> UiNode:
    """Return the root of the active window."""
    root = look(run)
    if root is None:
        raise StepFailure("UI tree not available", code="UI_TREE_UNAVAILABLE")
    return root


def find(run: Run, root: UiNode, matcher: NodeMatcher) -> UiNode | None:
    """Return the first node on the screen that fits."""
    return accessibility.find(root, matcher.fields, run.ui.display.size)


def find_or_fail(run: Run, matcher: NodeMatcher) -> UiNode:
    """Look at the screen and return the first node that fits."""
    node = find(run, look_or_fail(run), matcher)
    if node is None:
        raise StepFailure(f"No UI node found matching criteria: {matcher}", code="NODE_NOT_FOUND")
    return node


def first_scrollable(run: Run, root: UiNode) -> UiNode | None:
    """Return the first node on the screen that scrolls."""
    nodes = accessibility.on_screen(root, run.ui.display.size)
    return next((node for node in nodes if node.scrollable), None)


def window_data(run: Run) -> dict[str, str | None]:
    """Describe the windows as a snapshot does; hardly at all if the active one gives no tree."""
    refused = not run.is_connected() or run.faults.take("no_ui_tree")
    root = None if refused else run.ui.view.active_root()
    if root is None:
        return {"has_overlay": "false"}
    foreground = root.package if root.package.strip() else None
    windows = run.ui.view.windows()
    overlay = None
    for window in reversed(windows):  # the service lists the topmost first
        is_bar = window.type == "system" and window.package == "com.android.systemui"
        if is_bar and not window.active:
            continue
        package = window.package if window.package.strip() else None
        differs = foreground is not None and package is not None and package != foreground
        if differs or window.type != "application":
            overlay = package or foreground
            break
    return {
        "foreground_package": foreground,
        "has_overlay": str(overlay is not None).lower(),
        "overlay_package": overlay,
        "window_count": str(len(windows)),
    }


def nearest(
    node: UiNode, fits: Callable[[UiNode], bool], levels: int = _ANCESTORS
) -> UiNode | None:
    """Return the node itself or the closest ancestor that fits, so many levels up."""
    current: UiNode | None = node
    for _ in range(levels + 1):
        if current is None or fits(current):
            return current
        current = current.parent
    return None


def nearest_clickable(node: UiNode) -> UiNode | None:
    """Return the node that an accessibility click on this one goes to."""
    return nearest(node, lambda candidate: candidate.clickable)


_EFFECTIVE_ANCESTORS = 3
_WINDOW_ID = 41  # the window's number in the system; matchers never see it


def node_id(node: UiNode) -> str:
    """Return a node's id, made from its place in the tree."""
    return f"{_WINDOW_ID}:{accessibility.node_path(node)}"


def describe(node: UiNode) -> str:
    """Return a node as the app's tasks print it."""
    left, top, right, bottom = (float(edge) for edge in node.bounds)
    clickable = nearest(node, lambda other: other.clickable, _EFFECTIVE_ANCESTORS) is not None
    return (
        f"TaskUiNode(resourceId={node.resource_id or 'null'}, label='{node.label}', "
        f"clickable={str(clickable).lower()}, role={role_of(node)}, "
        f"bounds=left={left}, top={top}, right={right}, bottom={bottom})"
    )


def describe_raw(node: UiNode) -> str:
    """Return a node as the app's service prints it."""
    left, top, right, bottom = node.bounds
    return (
        f'class={node.cls} text="{node.text or node.content_desc}" '
        f"bounds=Rect({left}, {top} - {right}, {bottom}) clickable={str(node.clickable).lower()}"
    )


TAP_MS = 120
LONG_PRESS_MS = 650
SWIPE_MS = 250


async def tap(run: Run, x: int, y: int) -> bool:
    """Tap a point; False if the device refuses."""
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


async def swipe(run: Run, node: UiNode, action: Action) -> bool:
    """Swipe along the middle of a node; the direction is that of what is to be revealed."""
    bounds, distance = node.bounds, action.distance_ratio
    if not bounds.width or not bounds.height or run.faults.take("gesture_refused"):
        return False
    if action.direction in ("Down", "Right"):
        begin, end = 0.8 - 0.4 * distance, 0.8 - 0.8 * distance
    else:
        begin, end = 0.2 + 0.4 * distance, 0.2 + 0.8 * distance
    x, y = bounds.centre
    await run.time.pause(SWIPE_MS)
    if action.is_vertical:
        top, height = bounds.top, bounds.height
        return run.ui.touch.swipe((x, round(top + begin * height)), (x, round(top + end * height)))
    left, width = bounds.left, bounds.width
    return run.ui.touch.swipe((round(left + begin * width), y), (round(left + end * width), y))


def log_touch(run: Run, text: str) -> None:
    """Log a line about a touch."""
    run.log.debug(Source.TREE_MANAGER, f"{TREE_MANAGER} {text}")
