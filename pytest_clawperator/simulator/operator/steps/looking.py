"""How the Operator looks at the screen and touches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.operator.answer.operator_log import TREE_MANAGER, Source
from pytest_clawperator.simulator.operator.payload.command import Direction, NodeMatcher
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.screen import hierarchy
from pytest_clawperator.simulator.screen.nodes import UiNode

TAP_MS = 120
LONG_PRESS_MS = 650
SWIPE_MS = 250
_ANCESTORS = 7
_EFFECTIVE_ANCESTORS = 3
_WINDOW_ID = 41  # the window's number in the system; matchers never see it


def look(run: Run) -> UiNode | None:
    """Give the root of the active window; None where the service gets none."""
    if not run.is_connected():
        run.log.debug(
            Source.INSPECTOR, "[Operator-UxInspector] Accessibility service is not available"
        )
        return None
    root = None if run.faults.take("no_ui_tree") else run.ui.active_root()
    if root is None:
        run.log.debug(Source.INSPECTOR, "[Operator-UxInspector] Root node is null")
    return root


def look_or_fail(run: Run) -> UiNode:
    """Give the root of the active window."""
    root = look(run)
    if root is None:
        raise StepFailure("UI tree not available", code="UI_TREE_UNAVAILABLE")
    return root


def find(run: Run, root: UiNode, matcher: NodeMatcher) -> UiNode | None:
    """Give the first node on the screen that fits."""
    return hierarchy.find(root, matcher.to_wire(), run.ui.size)


def find_or_fail(run: Run, matcher: NodeMatcher) -> UiNode:
    """Look at the screen and give the first node that fits."""
    node = find(run, look_or_fail(run), matcher)
    if node is None:
        raise StepFailure(f"No UI node found matching criteria: {matcher}", code="NODE_NOT_FOUND")
    return node


def first_scrollable(run: Run, root: UiNode) -> UiNode | None:
    """Give the first node on the screen that scrolls."""
    nodes = hierarchy.on_screen(root, run.ui.size)
    return next((node for node in nodes if node.scrollable), None)


@dataclass(frozen=True)
class WindowMetadata:
    """What a snapshot says of the windows."""

    foreground_package: str | None
    overlay_package: str | None
    window_count: int


def window_metadata(run: Run) -> WindowMetadata | None:
    """Describe the windows; None where the active one gives no tree."""
    if not run.is_connected() or run.faults.take("no_ui_tree"):
        return None
    root = run.ui.active_root()
    if root is None:
        return None
    foreground = root.package if root.package.strip() else None
    windows = run.ui.windows()
    overlay = None
    for window in reversed(windows):  # the service lists the topmost first
        if (
            window.type == "system"
            and window.package == "com.android.systemui"
            and not window.active
        ):
            continue
        package = window.package if window.package.strip() else None
        differs = foreground is not None and package is not None and package != foreground
        if differs or window.type != "application":
            overlay = package or foreground
            break
    return WindowMetadata(foreground, overlay, len(windows))


def nearest(
    node: UiNode, fits: Callable[[UiNode], bool], levels: int = _ANCESTORS
) -> UiNode | None:
    """Give the node itself or the closest ancestor that fits, so many levels up."""
    current: UiNode | None = node
    for _ in range(levels + 1):
        if current is None or fits(current):
            return current
        current = current.parent
    return None


def nearest_clickable(node: UiNode) -> UiNode | None:
    """Give what an accessibility click on the node would go to."""
    return nearest(node, lambda candidate: candidate.clickable)


async def tap(run: Run, x: int, y: int) -> bool:
    """Tap a point; False where the device refuses."""
    if run.faults.take("gesture_refused"):
        return False
    await run.time.pause(TAP_MS)
    return run.ui.tap(x, y)


async def long_press(run: Run, x: int, y: int) -> bool:
    """Press a point for long; False where the device refuses."""
    if run.faults.take("gesture_refused"):
        return False
    await run.time.pause(LONG_PRESS_MS)
    return run.ui.long_press(x, y)


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
        return run.ui.swipe((x, round(top + begin * height)), (x, round(top + end * height)))
    left, width = bounds.left, bounds.width
    return run.ui.swipe((round(left + begin * width), y), (round(left + end * width), y))


def log_touch(run: Run, text: str) -> None:
    """Log a line about a touch."""
    run.log.debug(Source.TREE_MANAGER, f"{TREE_MANAGER} {text}")


def node_id(node: UiNode) -> str:
    """Name a node by its place in the tree."""
    return f"{_WINDOW_ID}:{hierarchy.node_path(node)}"


def describe(node: UiNode) -> str:
    """Print a node as the app's tasks do."""
    left, top, right, bottom = (float(edge) for edge in node.bounds)
    clickable = nearest(node, lambda other: other.clickable, _EFFECTIVE_ANCESTORS) is not None
    return (
        f"TaskUiNode(resourceId={node.resource_id or 'null'}, label='{node.label}', "
        f"clickable={str(clickable).lower()}, role={hierarchy.role_of(node)}, "
        f"bounds=left={left}, top={top}, right={right}, bottom={bottom})"
    )


def describe_raw(node: UiNode) -> str:
    """Print a node as the app's service does."""
    left, top, right, bottom = node.bounds
    return (
        f'class={node.cls} text="{node.text or node.content_desc}" '
        f"bounds=Rect({left}, {top} - {right}, {bottom}) clickable={str(node.clickable).lower()}"
    )
