"""The geometry of touches: which node they meet, and how far a swipe moves a list."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.windows.targets import Scroller

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
    def is_press(self) -> bool:
        """Whether the finger hardly moves."""
        return abs(self.distance) <= self._slop

    @property
    def is_long(self) -> bool:
        """Whether it stays for as long as a long press takes."""
        return self.duration_ms >= LONG_PRESS_MS

    @property
    def _slop(self) -> float:
        return TOUCH_SLOP * self.density / _BASELINE

    @property
    def reach(self) -> int:
        """How far it moves a list: what is dragged once it has let go, and the run after it."""
        dragged = self.forward - math.copysign(self._slop, self.forward)
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


def can_scroll(scroller: Scroller, drag: Drag) -> bool:
    """Whether a drag moves a container: along its axis, and not yet at that end."""
    if drag.horizontal != scroller.horizontal:
        return False
    return scroller.offset < scroller.limit if drag.forward > 0 else scroller.offset > 0


def scrolled_offset(scroller: Scroller, drag: Drag) -> int:
    """Return the offset that a drag leaves a container at."""
    return max(0, min(scroller.limit, scroller.offset + drag.reach))
