"""Windows of the system itself: the status bar and toasts."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.page_windows import NAVIGATION_BAR, STATUS_BAR

_SYSTEM_UI = "com.android.systemui"
_FRAME = "android.widget.FrameLayout"
_TOAST_HEIGHT = 48


def status_bar_window(metrics: Metrics, width: int, *, least: int = 0) -> Window:
    """Build the window of the status bar, which is at least as high as a cutout."""
    bounds = Bounds(0, 0, width, max(least, metrics.px(STATUS_BAR)))
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, resource_id=f"{_SYSTEM_UI}:id/status_bar")
    return Window("system", _SYSTEM_UI, root)


def gesture_bar_root(metrics: Metrics, size: tuple[int, int]) -> UiNode:
    """Build the root of the window that is swiped to go home."""
    width, height = size
    bounds = Bounds(0, height - metrics.px(NAVIGATION_BAR), width, height)
    name = f"{_SYSTEM_UI}:id/navigation_bar_frame"
    return UiNode(_FRAME, _SYSTEM_UI, bounds, resource_id=name)


def toast_window(metrics: Metrics, size: tuple[int, int], text: str) -> Window:
    """Build the window of a toast."""
    width = min(size[0] - metrics.px(32), metrics.text_width(text, 14) + metrics.px(64))
    left, bottom = (size[0] - width) // 2, size[1] - metrics.px(72)
    bounds = Bounds(left, bottom - metrics.px(_TOAST_HEIGHT), left + width, bottom)
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, kind="snackbar", widget=f"{_SYSTEM_UI}/toast")
    inner = Bounds(left + metrics.px(24), bounds.top, bounds.right - metrics.px(24), bottom)
    root.add(UiNode("android.widget.TextView", _SYSTEM_UI, inner, text=text, kind="text"))
    return Window("system", _SYSTEM_UI, root)
