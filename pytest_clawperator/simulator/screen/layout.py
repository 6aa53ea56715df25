"""Measure the widgets of a page and place them as nodes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from pytest_clawperator.simulator.apps.kinds import Lookup
from pytest_clawperator.simulator.apps.schema import Widget
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from pytest_clawperator.simulator.screen.tasks import Page
from pytest_clawperator.simulator.screen.widgets import (
    STYLES,
    Item,
    Metrics,
    Scroller,
    ShownItems,
    Target,
    WidgetNodes,
    leaf_height,
    leaf_width,
)

_UNBOUNDED_LIST = 400
_TAB_HEIGHT = {"top": 48, "bottom": 80}


class Layout:
    """Lays one page out; afterwards it knows what each node stands for."""

    def __init__(
        self,
        page: Page,
        *,
        metrics: Metrics,
        now: float,
        revision: int,
        focused: str | None = None,
    ) -> None:
        self.page = page
        self.metrics = metrics
        self.shown = ShownItems(page, now=now)
        self.measuring = Measuring(page, shown=self.shown, metrics=metrics, revision=revision)
        self.targets: dict[str, Target] = {}
        self.scrollers: dict[str, Scroller] = {}
        self._nodes = WidgetNodes(page, metrics, focused=focused)

    def stack(self, items: list[Item], parent: UiNode, frame: Bounds, clip: Bounds) -> None:
        """Put items below each other; lists, and widgets with `grow`, share the room left."""
        heights = _shared_out(
            [
                None if _grows_in_column(item.widget) else self.measuring.height(item, frame.width)
                for item in items
            ],
            frame.height,
        )
        top = frame.top
        for item, height in zip(items, heights, strict=True):
            self.place(item, parent, Bounds(frame.left, top, frame.right, top + height), clip)
            top += height

    def place(self, item: Item, parent: UiNode, frame: Bounds, clip: Bounds) -> None:
        """Put one item, with all that is inside it, into its frame."""
        kind = item.widget.kind
        if kind == "space":
            return
        node = self._nodes.add(item, parent, frame, clip)
        self.targets[node.widget] = Target(
            self.page, item.path, item.widget, item.lookup, node.enabled
        )
        if kind in ("list", "scroll"):
            self._fill_scroller(item, node, frame, clip)
        elif kind in ("column", "card"):
            style, px = STYLES[kind], self.metrics.px
            inset_x, inset_y = px(style.inset_x), px(style.inset_y)
            inner = Bounds(
                frame.left + inset_x,
                frame.top + inset_y,
                frame.right - inset_x,
                frame.bottom - inset_y,
            )
            self.stack(self.shown.children(item), node, inner, clip)
        elif kind == "line":
            self._fill_line(item, node, frame, clip)
        elif kind == "tabs":
            self._fill_tabs(item, node, frame, clip)

    def _fill_line(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widths = self.measuring.line_widths(item, frame.width)
        room = frame.width - sum(widths)
        left = frame.left + {"center": room // 2, "end": room}.get(item.widget.align or "", 0)
        for child, width in zip(self.shown.children(item), widths, strict=True):
            height = min(frame.height, self.measuring.height(child, width))
            top = frame.top + (frame.height - height) // 2
            self.place(child, node, Bounds(left, top, left + width, top + height), clip)
            left += width

    def _fill_tabs(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        children = self.shown.children(item)
        for number, child in enumerate(children):
            left = frame.left + frame.width * number // len(children)
            right = frame.left + frame.width * (number + 1) // len(children)
            self.place(child, node, Bounds(left, frame.top, right, frame.bottom), clip)

    def _fill_scroller(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widget = item.widget
        horizontal = widget.direction == "horizontal"
        entries = self.measuring.entries(item, frame.width)
        room = frame.width if horizontal else frame.height
        limit = max(0, entries.total - room)
        offset = max(0, min(limit, self.page.scroll.get(item.path, 0)))
        node.scrollable = limit > 0
        self.scrollers[node.widget] = Scroller(self.targets[node.widget], horizontal, offset, limit)
        view = frame.clipped(clip)
        if widget.kind == "list":
            # A RecyclerView has no nodes for rows that are not in sight; a ScrollView has.
            first = max(0, bisect_right(entries.starts, offset) - 1)
            last = bisect_right(entries.starts, offset + room - 1)
        else:
            first, last = 0, len(entries.rows)
        for number in range(first, last):
            self._fill_row(item, node, entries, number, offset, frame, view)

    def _fill_row(
        self,
        item: Item,
        node: UiNode,
        entries: Entries,
        number: int,
        offset: int,
        frame: Bounds,
        view: Bounds,
    ) -> None:
        row, start = entries.rows[number], entries.starts[number]
        after = number + 1
        end = entries.starts[after] if after < len(entries.starts) else entries.total
        if item.widget.direction == "horizontal":
            left = frame.left + start - offset
            strip = Bounds(left, frame.top, left + end - start, frame.bottom)
            self.place(row[0], node, strip, view)
            return
        top, bottom = frame.top + start - offset, frame.top + end - offset
        columns = item.widget.columns
        for column, child in enumerate(row):
            left = frame.left + frame.width * column // columns
            right = frame.left + frame.width * (column + 1) // columns
            self.place(child, node, Bounds(left, top, right, bottom), view)


def _shared_out(lengths: list[int | None], room: int) -> list[int]:
    """Return the lengths, where those that are None share the room that the others leave."""
    left = max(0, room - sum(length or 0 for length in lengths))
    return [left // lengths.count(None) if length is None else length for length in lengths]


def _grows_in_column(widget: Widget) -> bool:
    if widget.grow is not None:
        return widget.grow
    scrolls = widget.kind in ("list", "scroll") and widget.direction == "vertical"
    return scrolls and widget.height is None


@dataclass
class Entries:
    """A container's items, in rows of one or more columns, with their places along the axis."""

    rows: list[list[Item]]
    starts: list[int]
    total: int
    next_time: float | None


class Measuring:
    """Measures the items of one page."""

    def __init__(self, page: Page, *, shown: ShownItems, metrics: Metrics, revision: int) -> None:
        self._page = page
        self._shown = shown
        self._metrics = metrics
        self._revision = revision

    def height(self, item: Item, width: int) -> int:
        """Return the height that an item wants at a width."""
        if item.height is None:
            item.height = self._measured_height(item, width)
        return item.height

    def _measured_height(self, item: Item, width: int) -> int:
        widget, px = item.widget, self._metrics.px
        if widget.height is not None:
            return px(widget.height)
        if widget.kind == "tabs":
            return px(_TAB_HEIGHT[widget.style])
        if widget.kind in ("list", "scroll"):
            if widget.direction == "horizontal":
                items = self._shown.children(item)
                return max((self.height(child, width) for child in items), default=0)
            return min(px(_UNBOUNDED_LIST), self.entries(item, width).total)
        if widget.kind in ("column", "card"):
            inner = width - 2 * px(STYLES[widget.kind].inset_x)
            stacked = sum(self.height(child, inner) for child in self._shown.children(item))
            return stacked + 2 * px(STYLES[widget.kind].inset_y)
        if widget.kind == "line":
            widths = self.line_widths(item, width)
            pairs = zip(self._shown.children(item), widths, strict=True)
            return max((self.height(child, room) for child, room in pairs), default=0)
        return leaf_height(item, width, self._metrics)

    def line_widths(self, item: Item, width: int) -> list[int]:
        """List the widths of the items of a line; those that grow share the room left."""
        wanted = [
            None if _grows_in_line(child.widget) else min(width, self.natural_width(child, width))
            for child in self._shown.children(item)
        ]
        return _shared_out(wanted, width)

    def natural_width(self, item: Item, width: int) -> int:
        """Return the width that an item wants, at most ``width``."""
        if item.widget.width is not None:
            return min(width, self._metrics.px(item.widget.width))
        if item.widget.kind == "line":
            return min(width, sum(self.line_widths(item, width)))
        if item.widget.kind in ("column", "card"):
            inside = (self.natural_width(child, width) for child in self._shown.children(item))
            inset = self._metrics.px(STYLES[item.widget.kind].inset_x)
            return min(width, max(inside, default=0) + 2 * inset)
        return min(width, leaf_width(item, width, self._metrics))

    def entries(self, item: Item, across: int) -> Entries:
        """Measure what a list holds; kept as long as only its scroll position changes."""
        key = (item.path, across)
        kept = self._page.measured.get(key)
        if kept is not None and kept[0] == self._revision:
            entries: Entries = kept[1]
            self._shown.note_time(entries.next_time)
            return entries
        before, self._shown.next_time = self._shown.next_time, None
        children = _filtered(item, self._shown.children(item))
        entries = self._measured_entries(item.widget, children, across)
        entries.next_time = self._shown.next_time
        self._shown.note_time(before)
        self._page.measured[key] = (self._revision, entries)
        return entries

    def _measured_entries(self, widget: Widget, children: list[Item], across: int) -> Entries:
        columns = widget.columns if widget.kind == "list" else 1
        rows = [children[at : at + columns] for at in range(0, len(children), columns)]
        starts: list[int] = []
        total = 0
        for row in rows:
            starts.append(total)
            if widget.direction == "horizontal":
                total += max(self.natural_width(child, across) for child in row)
            else:
                total += max(self.height(child, across // columns) for child in row)
        return Entries(rows, starts, total, None)


def _filtered(item: Item, children: list[Item]) -> list[Item]:
    if item.widget.filter is None:
        return children
    wanted = str(item.widget.filter(item.lookup)).strip().casefold()
    if not wanted:
        return children
    return [child for child in children if wanted in _all_text(child.widget, child.lookup)]


def _grows_in_line(widget: Widget) -> bool:
    if widget.grow is not None:
        return widget.grow
    return widget.width is None and widget.kind in ("field", "row", "list", "scroll", "tabs")


def _all_text(widget: Widget, lookup: Lookup) -> str:
    own = [part.render(lookup) for part in (widget.text, widget.summary) if part is not None]
    inside = [_all_text(child, lookup) for child in widget.items]
    return "\n".join([*own, *inside]).casefold()
