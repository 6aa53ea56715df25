"""Gestures of one finger, as command lines of the device's shell; points are in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_clawperator.errors import ConfigurationError

Point = tuple[float, float]

# Android takes two taps for a double tap if 40 to 300 ms are between them. Both commands start
# at nearly the same time, so it does not matter how long the device takes to start one.
_BETWEEN_TAPS = 0.1


def stroke(command: str, verb: str, start: Point, end: Point, duration: float) -> str:
    """Return the line of a ``command`` that leads from a point to another one."""
    if not (is_point(start) and is_point(end) and is_number(duration) and duration >= 0):
        raise ConfigurationError(
            f"cannot {verb} from {start} to {end} in {duration} s",
            hint="Points are pairs of pixels, (0, 0) at the top left; the duration is seconds.",
        )
    points = " ".join(str(round(n)) for n in (*start, *end))
    return f"input {command} {points} {round(duration * 1000)}"


def double_tap(point: Point) -> str:
    """Return the line that taps a point twice."""
    if not is_point(point):
        raise ConfigurationError(
            f"cannot tap twice at {point}",
            hint="A point is a pair of pixels, (0, 0) at the top left.",
        )
    tap = f"input tap {round(point[0])} {round(point[1])}"
    return f"{tap} & sleep {_BETWEEN_TAPS}; {tap}; wait"


def on_display(command: str, display: int | None) -> str:
    """Return a line whose ``input`` commands go to a display, if one is chosen."""
    return command if display is None else command.replace("input ", f"input -d {display} ")


def is_number(value: object) -> bool:
    """Whether a value is a number that a device can be told."""
    return isinstance(value, int | float) and math.isfinite(value)


def is_point(value: object) -> bool:
    """Whether a value is a pair of pixels."""
    if not isinstance(value, Sequence) or len(value) != 2:
        return False
    return all(is_number(each) and each >= 0 for each in value)
