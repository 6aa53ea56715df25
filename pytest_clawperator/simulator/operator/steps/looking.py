"""How the Operator looks at the screen and finds nodes on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.operator.answer.operator_log import Source
from pytest_clawperator.simulator.operator.payload.command import NodeMatcher
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.screen.accessibility import node_search
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

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
    return node_search.find(root, matcher.to_wire(), run.ui.display.size)


def find_or_fail(run: Run, matcher: NodeMatcher) -> UiNode:
    """Look at the screen and return the first node that fits."""
    node = find(run, look_or_fail(run), matcher)
    if node is None:
        raise StepFailure(f"No UI node found matching criteria: {matcher}", code="NODE_NOT_FOUND")
    return node


def first_scrollable(run: Run, root: UiNode) -> UiNode | None:
    """Return the first node on the screen that scrolls."""
    nodes = node_search.on_screen(root, run.ui.display.size)
    return next((node for node in nodes if node.scrollable), None)


@dataclass(frozen=True)
class WindowMetadata:
    """The windows as a snapshot describes them."""

    foreground_package: str | None
    overlay_package: str | None
    window_count: int


def window_metadata(run: Run) -> WindowMetadata | None:
    """Describe the windows; None where the active one gives no tree."""
    if not run.is_connected() or run.faults.take("no_ui_tree"):
        return None
    root = run.ui.view.active_root()
    if root is None:
        return None
    foreground = root.package if root.package.strip() else None
    windows = run.ui.view.windows()
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
