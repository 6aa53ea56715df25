"""Gestures on nodes: where a finger goes for them. adb carries them out, not the Operator."""

from __future__ import annotations

from typing import Literal, get_args

from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.errors import ConfigurationError, ErrorCode, StepFailedError
from pytest_clawperator.snapshot.tree import Bounds, Node

Way = Literal["left", "right", "up", "down"]


def shown_part(node: Node, verb: str, *, serial: str) -> Bounds:
    """Return the part of a node that a finger can touch."""
    part = node.bounds.intersection(Bounds(0, 0, *node.snapshot.size))
    if part is not None and part.area > 0:
        return part
    raise StepFailedError(
        f"{verb}: nothing of {node!r} is on the screen",
        code=ErrorCode.NODE_NOT_CLICKABLE,
        serial=serial,
        hint="Bring it there with scroll_into_view().",
        snapshot=node.snapshot,
    )


def swipe_over(
    part: Bounds, direction: Way, distance_ratio: float
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where a swipe over the middle of a node begins and ends."""
    if direction not in get_args(Way):
        near = closest(str(direction), get_args(Way))
        raise ConfigurationError(
            f"{shown(direction)} is no direction of a swipe",
            hint=f"{f'Did you mean {near}? ' if near else ''}It is one of"
            f" {', '.join(get_args(Way))}: where the finger goes.",
        )
    is_part = type(distance_ratio) in (int, float) and 0 < distance_ratio <= 1
    if not is_part:
        raise ConfigurationError(
            f"distance_ratio={shown(distance_ratio)} is no part of a node",
            hint="It is more than 0 and at most 1, as in 0.8.",
        )
    x, y = part.center
    along = part.width if direction in ("left", "right") else part.height
    step = max(1, round(along * distance_ratio / 2))
    low, high = -min(step, along // 2), min(step, (along - 1) // 2)
    begin, end = (high, low) if direction in ("left", "up") else (low, high)
    if direction in ("left", "right"):
        return (x + begin, y), (x + end, y)
    return (x, y + begin), (x, y + end)
