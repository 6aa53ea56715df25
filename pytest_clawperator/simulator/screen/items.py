"""What a page shows at this moment: its widgets with repeats resolved, and their metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clawperator.simulator.apps.expressions import Template
from pytest_clawperator.simulator.apps.kinds import Lookup, Value, complain
from pytest_clawperator.simulator.apps.schema import MAX_REPEAT, Widget
from pytest_clawperator.simulator.screen.tasks import Page, path_steps, with_locals

_BASELINE = 160
_LINE_HEIGHT = 1.35
_NARROW = frozenset("iIjl.,:;'|!`’‘·• ()[]{}/\\\"")
_SLIM = frozenset("frt-")
_WIDE = frozenset("mwMW@%—…")


class Metrics:
    """Turns density-independent units into pixels; sizes of text also have the user's scale."""

    __slots__ = ("_scale", "_text_scale")

    def __init__(self, density: int, *, font_scale: float = 1.0) -> None:
        self._scale = density / _BASELINE
        self._text_scale = self._scale * font_scale

    def px(self, dp: float) -> int:
        """Return the whole pixels for a length in dp."""
        return int(dp * self._scale + 0.5)

    def text_width(self, text: str, size: float) -> int:
        """Return the width of a text on one line."""
        return int(_ems(text) * size * self._text_scale + 0.999)

    def line_height(self, size: float) -> int:
        """Return the height of one line."""
        return int(size * _LINE_HEIGHT * self._text_scale + 0.5)

    def lines(self, text: str, size: float, width: int) -> int:
        """Count the lines that a text takes in a width in pixels."""
        ems = max(1.0, width / (size * self._text_scale))
        return _wrapped(text, round(ems, 1))


@lru_cache(maxsize=8192)
def _ems(text: str) -> float:
    return sum(map(_em, text))


def _em(char: str) -> float:
    if char in _NARROW:
        return 0.29
    if char in _SLIM:
        return 0.36
    if char in _WIDE:
        return 0.86
    if char.isascii():
        return 0.66 if char.isupper() else 0.56
    # Scripts with full-width characters begin about here; accented letters stand before.
    return 0.58 if ord(char) < 0x1100 else 1.0


@lru_cache(maxsize=4096)
def _wrapped(text: str, ems: float) -> int:
    lines = 0
    for paragraph in text.split("\n"):
        lines += 1
        used = 0.0
        for word in paragraph.split(" "):
            length = _ems(word)
            if used and used + 0.29 + length > ems:
                lines += 1
                used = 0.0
            if length > ems:
                lines += int(length / ems)
                length %= ems
            used += length + (0.29 if used else 0.0)
    return lines


@dataclass(frozen=True, eq=False)
class Target:
    """The widget behind a node: which one of which page, and the names known to it."""

    page: Page
    path: str
    widget: Widget
    lookup: Lookup
    enabled: bool


@dataclass(frozen=True, eq=False)
class Scroller:
    """A container that can be scrolled: how far it is scrolled and can be, in pixels."""

    target: Target
    horizontal: bool
    offset: int
    limit: int


_MOST_ITEMS = 20_000


class Item:
    """A widget that shows now, with the names known to it; measured once."""

    __slots__ = ("children", "height", "lookup", "path", "widget")

    def __init__(self, widget: Widget, path: str, lookup: Lookup) -> None:
        self.widget = widget
        self.path = path
        self.lookup = lookup
        self.height: int | None = None
        self.children: list[Item] | None = None

    def text(self, template: Template | None) -> str:
        """Return a template with its values filled in; empty text for none."""
        return "" if template is None else template.render(self.lookup)


class ShownItems:
    """Finds the items of one page; ``next_time`` is when one next appears or disappears."""

    def __init__(self, page: Page, *, now: float) -> None:
        self.next_time: float | None = None
        self._page = page
        self._now = now
        self._items_left = _MOST_ITEMS

    def items(self, widgets: Sequence[Widget], lookup: Lookup, prefix: str) -> list[Item]:
        """List the widgets that show at this moment, repeated ones as often as they repeat."""
        found: list[Item] = []
        for name, widget in zip(path_steps(widgets), widgets, strict=True):
            path = f"{prefix}/{name}"
            for step, local in _repeated(widget, lookup):
                self._items_left -= 1
                # Repeats within repeats multiply; no phone would show that many either.
                if self._items_left < 0:
                    complain(lookup, f"{prefix}: only the first {_MOST_ITEMS} widgets show")
                    return found
                if not self._is_shown(widget, local):
                    continue
                if widget.kind == "group":
                    found += self.items(widget.items, local, path + step)
                else:
                    found.append(Item(widget, path + step, local))
        return found

    def children(self, item: Item) -> list[Item]:
        """List the items inside an item."""
        if item.children is None:
            item.children = self.items(item.widget.items, item.lookup, item.path)
        return item.children

    def note_time(self, moment: float | None) -> None:
        """Note that something appears or disappears at a time; None for never."""
        if moment is not None and (self.next_time is None or moment < self.next_time):
            self.next_time = moment

    def _is_shown(self, widget: Widget, lookup: Lookup) -> bool:
        if widget.visible_if is not None and not widget.visible_if(lookup):
            return False
        if widget.appears_after is not None and not self._has_passed(widget.appears_after):
            return False
        return widget.disappears_after is None or not self._has_passed(widget.disappears_after)

    def _has_passed(self, after: float) -> bool:
        moment = self._page.opened_at + after
        if self._now >= moment:
            return True
        self.note_time(moment)
        return False


def _repeated(widget: Widget, lookup: Lookup) -> Iterator[tuple[str, Lookup]]:
    """Yield a path step and the known names for each repetition of a widget."""
    if widget.repeat is None:
        yield "", lookup
        return
    times = widget.repeat(lookup)
    entries: Sequence[Value] = ()
    if isinstance(times, (list, tuple)):
        entries = times
    elif isinstance(times, (int, float)):
        entries = range(max(0, int(times)))
    if isinstance(times, str) or len(entries) > MAX_REPEAT:
        complain(
            lookup,
            f"`repeat: {widget.repeat.source}` needs a list or a number up to {MAX_REPEAT},"
            f" found {str(times)[:40]!r}",
        )
    entries = entries[:MAX_REPEAT]
    for index, entry in enumerate(entries):
        values = {"index": index, "number": index + 1, "item": entry}
        yield f"[{index}]", with_locals(lookup, values)
