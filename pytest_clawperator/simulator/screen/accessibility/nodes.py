"""The live UI tree of a simulated phone, as its accessibility service would see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class Bounds(NamedTuple):
    """A rectangle in pixels: left and top are inside, right and bottom just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """The width; never negative."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """The height; never negative."""
        return max(0, self.bottom - self.top)

    @property
    def centre(self) -> tuple[int, int]:
        """The point in the middle."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        """Whether a point lies inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clipped(self, to: Bounds) -> Bounds:
        """Return the part that lies inside ``to``; empty where nothing does."""
        left, top = max(self.left, to.left), max(self.top, to.top)
        return Bounds(
            left, top, max(left, min(self.right, to.right)), max(top, min(self.bottom, to.bottom))
        )


@dataclass(eq=False)
class UiNode:
    """One node. Trees are built anew for each look at the screen; nodes are never reused."""

    cls: str
    package: str
    bounds: Bounds
    text: str = ""
    content_desc: str = ""
    resource_id: str = ""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    # Known to the service, but not printed in the hierarchy:
    visible_to_user: bool = True
    heading: bool = False
    editable: bool = False
    screen_reader_focusable: bool = False
    orientation: Literal["horizontal", "vertical"] | None = None
    columns: int | None = None  # of a collection
    collection_item: bool = False
    # For drawing and for acting: which widget of which app this is.
    kind: str = ""
    widget: str = ""
    hint: str = ""
    children: list[UiNode] = field(default_factory=list)
    parent: UiNode | None = None

    @property
    def label(self) -> str:
        """The text, or where that is blank the content description."""
        return (
            self.text
            if self.text.strip()
            else self.content_desc
            if self.content_desc.strip()
            else ""
        )

    def walk(self) -> Iterator[UiNode]:
        """Yield the node and everything below it, parents before children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def add(self, child: UiNode) -> UiNode:
        """Append a child and return it."""
        child.parent = self
        self.children.append(child)
        return child


@dataclass(eq=False)
class Window:
    """One window of the screen; the last in a list of windows is on top."""

    type: Literal["application", "input_method", "system"]
    package: str
    root: UiNode
    active: bool = False
