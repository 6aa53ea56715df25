"""Taps, long presses, swipes and drags at points of the screen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.apps.schema import Widget
from pytest_clawperator.simulator.screen.accessibility import UiNode, Window
from pytest_clawperator.simulator.screen.items import Target
from pytest_clawperator.simulator.screen.launching import Launching
from pytest_clawperator.simulator.screen.navigation import Navigation
from pytest_clawperator.simulator.screen.phone_state import PhoneState
from pytest_clawperator.simulator.screen.widget_input import NodeActions, WidgetActions
from pytest_clawperator.simulator.screen.windows import View

TOUCH_SLOP = 8
LONG_PRESS_MS = 400
# Android takes 0.3 s; a busy computer is slower than a finger.
DOUBLE_TAP_SECONDS = 1.0
_BASELINE = 160
_MIN_VELOCITY = 50
_MAX_VELOCITY = 8000
# The friction of Android's scrollers.
_FRICTION = 0.015
_INFLEXION = 0.35
_RATE = math.log(0.78) / math.log(0.9)
_GRAVITY_INCHES = 9.80665 * 39.37 * 0.84


class Touch:
    """Gestures; each returns whether it met the screen, whatever was there."""

    def __init__(
        self,
        state: PhoneState,
        *,
        view: View,
        nodes: NodeActions,
        widgets: WidgetActions,
        navigation: Navigation,
        launching: Launching,
    ) -> None:
        self._display = state.display
        self._changes = state.changes
        self._foreground = state.foreground
        self._timeline = state.timeline
        self._last_tap = ("", 0.0)
        self._view = view
        self._nodes = nodes
        self._widgets = widgets
        self._navigation = navigation
        self._launching = launching

    def tap(self, x: int, y: int) -> bool:
        """Tap a point."""
        if not self._display.contains(x, y):
            return False
        window = self._view.scene().touched_window(x, y)
        if window is None:
            self._tap_outside()
            return True
        node = node_at(window.root, x, y, lambda node: node.clickable)
        if node is not None and not self._double_tap(node):
            self._nodes.click(node)
        return True

    def _double_tap(self, node: UiNode) -> bool:
        """Do what a second tap does, if this is one that the node listens for."""
        before, since = self._last_tap
        is_second = node.widget == before and self._timeline.now - since <= DOUBLE_TAP_SECONDS
        self._last_tap = ("", 0.0) if is_second else (node.widget, self._timeline.now)
        target = self._view.scene().targets.get(node.widget)
        if not is_second or target is None or not target.widget.on_double_tap:
            return False
        if target.enabled:
            self._widgets.double_tap(target)
        return True

    def long_press(self, x: int, y: int) -> bool:
        """Press a point for long; what takes no long press takes it as a click."""
        if not self._display.contains(x, y):
            return False
        window = self._view.scene().touched_window(x, y)
        if window is None:
            return True
        node = node_at(window.root, x, y, lambda node: node.clickable or node.long_clickable)
        if node is not None and not self._nodes.long_click(node):
            self._nodes.click(node)
        return True

    def swipe(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_ms: int = 250
    ) -> bool:
        """Draw a finger over the screen; after a fast swipe a list runs on."""
        if not self._display.contains(*start):
            return False
        drag = Drag(
            start,
            end,
            duration_ms=duration_ms,
            density=self._display.density,
            right_to_left=self._display.right_to_left,
        )
        if abs(drag.distance) <= drag.slop:
            is_long = duration_ms >= LONG_PRESS_MS
            return self.long_press(*start) if is_long else self.tap(*start)
        window = self._view.scene().touched_window(*start)
        if window is not None and not (self._swipe_away(drag) or self._scroll(window, drag)):
            self._close_recent_app(window, drag)
        return True

    def drag(self, start: tuple[int, int], end: tuple[int, int], *, duration_ms: int = 500) -> bool:
        """Hold a point, and draw the finger to another one, where it lets go.

        What cannot be dragged takes the long press, or else the swipe.
        """
        if not self._display.contains(*start):
            return False
        dragged = self._widget_at(start, lambda widget: widget.drag is not None)
        if dragged is not None:
            goal = self._widget_at(end, lambda widget: bool(widget.on_drop))
            if goal is not None:
                self._widgets.drop(dragged, goal)
            return True
        if self._widget_at(start, lambda widget: bool(widget.on_long_press)) is not None:
            return self.long_press(*start)
        return self.swipe(start, end, duration_ms=duration_ms)

    def _swipe_away(self, drag: Drag) -> bool:
        """Do what a swipe sideways does to the widget below it; False where it does nothing."""
        if not drag.horizontal:
            return False
        left = drag.distance > 0
        target = self._widget_at(
            drag.start, lambda w: bool(w.on_swipe_left if left else w.on_swipe_right)
        )
        if target is not None:
            self._widgets.swiped(target, left=left)
        return target is not None

    def _widget_at(self, point: tuple[int, int], fits: Callable[[Widget], bool]) -> Target | None:
        """Return the innermost enabled widget at a point that fits."""
        scene = self._view.scene()
        window = scene.touched_window(*point)

        def is_fit(node: UiNode) -> bool:
            target = scene.targets.get(node.widget)
            return target is not None and target.enabled and fits(target.widget)

        node = None if window is None else node_at(window.root, *point, is_fit)
        return None if node is None else scene.targets[node.widget]

    def _scroll(self, window: Window, drag: Drag) -> bool:
        """Scroll the innermost container that the drag can move; False where there is none."""
        scrollers = self._view.scene().scrollers

        def can_move(node: UiNode) -> bool:
            scroller = scrollers.get(node.widget)
            if scroller is None or drag.horizontal != scroller.horizontal:
                return False
            return scroller.offset < scroller.limit if drag.forward > 0 else scroller.offset > 0

        node = node_at(window.root, *drag.start, can_move)
        if node is None:
            return False
        scroller = scrollers[node.widget]
        target, limit = scroller.target, scroller.limit
        offset = max(0, min(limit, scroller.offset + drag.reach))
        target.page.scroll[target.path] = offset
        self._changes.note(content=False)
        place = (offset, 0, limit, 0) if drag.horizontal else (0, offset, 0, limit)
        self._changes.emit("TYPE_VIEW_SCROLLED", page=target.page, source=node, scroll=place)
        self._widgets.scrolled(target, at_end=offset == limit)
        return True

    def _close_recent_app(self, window: Window, drag: Drag) -> None:
        """Close a recent app: a swipe upwards on its card."""
        if self._foreground.recents_page is None or drag.horizontal or drag.distance < 0:
            return
        node = node_at(window.root, *drag.start, lambda node: node.clickable)
        target = self._view.scene().targets.get(node.widget) if node is not None else None
        if target is not None and target.widget.kind == "card" and target.widget.value is not None:
            self._launching.close_recent_app(target.widget.value.render(target.lookup))

    def _tap_outside(self) -> None:
        """Cancel the dialog that was tapped beside."""
        task, page = self._foreground.task(), self._foreground.active_page()
        if task is not None and task.page is not None and page in task.page.dialogs:
            self._navigation.cancel_dialog(task, page)


@dataclass(frozen=True)
class Drag:
    """A finger drawn over the screen in a straight line."""

    start: tuple[int, int]
    end: tuple[int, int]
    duration_ms: int
    density: int
    right_to_left: bool = False

    @property
    def horizontal(self) -> bool:
        """Whether it goes sideways rather than up or down."""
        return abs(self.start[0] - self.end[0]) > abs(self.start[1] - self.end[1])

    @property
    def distance(self) -> int:
        """How far it goes; upwards and to the left count as positive."""
        axis = 0 if self.horizontal else 1
        return self.start[axis] - self.end[axis]

    @property
    def forward(self) -> int:
        """How far it moves content on, which goes to the right in languages from the right."""
        return -self.distance if self.right_to_left and self.horizontal else self.distance

    @property
    def slop(self) -> float:
        """How far a finger may move that only presses."""
        return TOUCH_SLOP * self.density / _BASELINE

    @property
    def reach(self) -> int:
        """How far it moves a list: what is dragged once it has let go, and the run after it."""
        dragged = self.forward - math.copysign(self.slop, self.forward)
        run = fling(self.forward, duration_ms=self.duration_ms, density=self.density)
        return round(dragged + run)


def fling(distance: float, *, duration_ms: float, density: int) -> float:
    """Return how many pixels a list runs on when a finger leaves it at this speed."""
    scale = density / _BASELINE
    velocity = min(abs(distance) / max(1.0, duration_ms) * 1000, _MAX_VELOCITY * scale)
    if velocity < _MIN_VELOCITY * scale:
        return 0.0
    coefficient = _FRICTION * _GRAVITY_INCHES * density
    spline = math.log(_INFLEXION * velocity / coefficient)
    run = coefficient * math.exp(_RATE / (_RATE - 1) * spline)
    return math.copysign(run, distance)


def node_at(root: UiNode, x: int, y: int, fits: Callable[[UiNode], bool]) -> UiNode | None:
    """Return the node that a touch goes to: the uppermost and innermost at a point that fits."""
    if not (root.visible_to_user and root.bounds.contains(x, y)):
        return None
    for child in reversed(root.children):
        found = node_at(child, x, y, fits)
        if found is not None:
            return found
    return root if fits(root) else None
