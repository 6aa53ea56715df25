"""Where a node is: a rectangle in pixels."""

from __future__ import annotations

import re
from typing import NamedTuple

# A bounded number of digits: Python refuses to convert absurdly long ones.
_PRINTED = re.compile(r"\[(-?[0-9]{1,9}),(-?[0-9]{1,9})\]\[(-?[0-9]{1,9}),(-?[0-9]{1,9})\]")


class Bounds(NamedTuple):
    """A rectangle: left and top are inside, right and bottom just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def parse(cls, text: str) -> Bounds | None:
        """Parse ``[left,top][right,bottom]``; None for anything else.

        Phones print nodes that are scrolled away inside out; like the Operator, this turns
        them the right way round.
        """
        found = _PRINTED.fullmatch(text)
        if found is None:
            return None
        left, top, right, bottom = map(int, found.groups())
        return cls(min(left, right), min(top, bottom), max(left, right), max(top, bottom))

    @property
    def width(self) -> int:
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """How high it is."""
        return self.bottom - self.top

    @property
    def center(self) -> tuple[int, int]:
        """The point in the middle."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    @property
    def area(self) -> int:
        """How many pixels it covers."""
        return self.width * self.height

    def contains(self, other: tuple[int, int] | Bounds) -> bool:
        """Whether a point, or all of another rectangle, lies inside."""
        if isinstance(other, Bounds):
            return (
                self.left <= other.left
                and self.top <= other.top
                and other.right <= self.right
                and other.bottom <= self.bottom
            )
        x, y = other
        return self.left <= x < self.right and self.top <= y < self.bottom

    def intersects(self, other: Bounds) -> bool:
        """Whether the two share at least one pixel."""
        return self.intersection(other) is not None

    def intersection(self, other: Bounds) -> Bounds | None:
        """Return what the two share; None where that is nothing."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Bounds(left, top, right, bottom) if left < right and top < bottom else None

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"
