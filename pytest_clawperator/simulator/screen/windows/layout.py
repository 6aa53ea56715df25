"""From an open page to the nodes on the screen: what is there, how big it is, where it lies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.app_schema import MAX_REPEAT, Widget
from pytest_clawperator.simulator.screen.app_files.expressions import Lookup, Value
from pytest_clawperator.simulator.screen.state.app_state import with_locals
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.page_widgets import path_step
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.targets import Scroller, Target
from pytest_clawperator.simulator.screen.windows.widget_nodes import STYLES, Item, Painter

_UNBOUNDED_LIST = 400
_TAB_HEIGHT = {"top": 48, "bottom": 80}
_MOST_ITEMS = 20_000


@dataclass
class _Entries:
    """A container's items, in rows of one or more columns, with their places along the axis."""

    rows: list[list[Item]]
    starts: list[int]
    total: int
    next_time: float | None


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
        self.now = now
        self.revision = revision
        self.targets: dict[str, Target] = {}
        self.scrollers: dict[str, Scroller] = {}
        self.next_time: float | None = None
        self._items_left = _MOST_ITEMS
        self._painter = Painter(page, metrics, focused=focused)

    # -- What is there ---------------------------------------------------------------------

    def items(self, widgets: Iterable[Widget], lookup: Lookup, prefix: str) -> list[Item]:
        """List the widgets that show at this moment, repeated ones as often as they repeat."""
        found: list[Item] = []
        for number, widget in enumerate(widgets):
            path = f"{prefix}/{path_step(widget, number)}"
            for step, local in self._repeated(widget, lookup):
                self._items_left -= 1
                # Repeats within repeats multiply; no phone would show that many either.
                if self._items_left < 0:
                    return found
                if not self._is_shown(widget, local):
                    continue
                if widget.kind == "group":
                    found += self.items(widget.items, local, path + step)
                else:
                    found.append(Item(widget, path + step, local))
        return found

    def _repeated(self, widget: Widget, lookup: Lookup) -> Iterator[tuple[str, Lookup]]:
        if widget.repeat is None:
            yield "", lookup
            return
        times = widget.repeat(lookup)
        entries: Iterable[Value]
        if isinstance(times, (list, tuple)):
            entries = times[:MAX_REPEAT]
        else:
            entries = range(min(MAX_REPEAT, int(times) if isinstance(times, (int, float)) else 0))
        for index, entry in enumerate(entries):
            values = {"index": index, "number": index + 1, "item": entry}
            yield f"[{index}]", with_locals(lookup, values)

    def _is_shown(self, widget: Widget, lookup: Lookup) -> bool:
        if widget.visible_if is not None and not widget.visible_if(lookup):
            return False
        if widget.appears_after is not None and not self._has_passed(widget.appears_after):
            return False
        return widget.disappears_after is None or not self._has_passed(widget.disappears_after)

    def _has_passed(self, after: float) -> bool:
        moment = self.page.opened_at + after
        if self.now >= moment:
            return True
        if self.next_time is None or moment < self.next_time:
            self.next_time = moment
        return False

    # -- How big it is ---------------------------------------------------------------------

    def height(self, item: Item, width: int) -> int:
        """Give the height that an item wants at a width."""
        if item.height is None:
            item.height = self._measured_height(item, width)
        return item.height

    def _measured_height(self, item: Item, width: int) -> int:
        widget, px = item.widget, self.metrics.px
        if widget.height is not None:
            return px(widget.height)
        if widget.kind == "tabs":
            return px(_TAB_HEIGHT[widget.style])
        if widget.kind in ("list", "scroll"):
            if widget.direction == "horizontal":
                items = self._children(item)
                return max((self.height(child, width) for child in items), default=0)
            return min(px(_UNBOUNDED_LIST), self._entries(item, width).total)
        if widget.kind in ("column", "card"):
            inner = width - 2 * px(STYLES[widget.kind].inset_x)
            stacked = sum(self.height(child, inner) for child in self._children(item))
            return stacked + 2 * px(STYLES[widget.kind].inset_y)
        if widget.kind == "line":
            widths = self._line_widths(item, width)
            pairs = zip(self._children(item), widths, strict=True)
            return max((self.height(child, room) for child, room in pairs), default=0)
        return self._painter.height(item, width)

    def _children(self, item: Item) -> list[Item]:
        if item.children is None:
            item.children = self.items(item.widget.items, item.lookup, item.path)
        return item.children

    def _line_widths(self, item: Item, width: int) -> list[int]:
        children = self._children(item)
        growing = [_grows_in_line(child.widget) for child in children]
        widths = [
            0 if grows else min(width, self.natural_width(child, width))
            for child, grows in zip(children, growing, strict=True)
        ]
        if any(growing):
            share = max(0, width - sum(widths)) // sum(growing)
            widths = [share if grows else own for own, grows in zip(widths, growing, strict=True)]
        return widths

    def natural_width(self, item: Item, width: int) -> int:
        """Give the width that an item wants, at most ``width``."""
        if item.widget.width is not None:
            return min(width, self.metrics.px(item.widget.width))
        if item.widget.kind == "line":
            return min(width, sum(self._line_widths(item, width)))
        if item.widget.kind in ("column", "card"):
            inside = (self.natural_width(child, width) for child in self._children(item))
            inset = self.metrics.px(STYLES[item.widget.kind].inset_x)
            return min(width, max(inside, default=0) + 2 * inset)
        return min(width, self._painter.width(item, width))

    def _entries(self, item: Item, across: int) -> _Entries:
        """Measure what a list holds; kept as long as only its scroll position changes."""
        key = (item.path, across)
        kept = self.page.measured.get(key)
        if kept is not None and kept[0] == self.revision:
            entries: _Entries = kept[1]
            self._note(entries.next_time)
            return entries
        before, self.next_time = self.next_time, None
        children = self._filtered(item, self._children(item))
        entries = self._measured_entries(item.widget, children, across)
        entries.next_time = self.next_time
        self._note(before)
        self.page.measured[key] = (self.revision, entries)
        return entries

    def _note(self, moment: float | None) -> None:
        if moment is not None and (self.next_time is None or moment < self.next_time):
            self.next_time = moment

    def _filtered(self, item: Item, children: list[Item]) -> list[Item]:
        if item.widget.filter is None:
            return children
        wanted = str(item.widget.filter(item.lookup)).strip().casefold()
        if not wanted:
            return children
        return [child for child in children if wanted in _all_text(child.widget, child.lookup)]

    def _measured_entries(self, widget: Widget, children: list[Item], across: int) -> _Entries:
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
        return _Entries(rows, starts, total, None)

    # -- Where it lies ---------------------------------------------------------------------

    def stack(self, items: list[Item], parent: UiNode, frame: Bounds, clip: Bounds) -> None:
        """Put items below each other; lists, and what is said to grow, share the room left."""
        growing = [_grows_in_column(item.widget) for item in items]
        heights = [
            0 if grows else self.height(item, frame.width)
            for item, grows in zip(items, growing, strict=True)
        ]
        if any(growing):
            share = max(0, frame.height - sum(heights)) // sum(growing)
            heights = [share if grows else own for own, grows in zip(heights, growing, strict=True)]
        top = frame.top
        for item, height in zip(items, heights, strict=True):
            self.place(item, parent, Bounds(frame.left, top, frame.right, top + height), clip)
            top += height

    def place(self, item: Item, parent: UiNode, frame: Bounds, clip: Bounds) -> None:
        """Put one item, with all that is inside it, into its frame."""
        kind = item.widget.kind
        if kind == "space":
            return
        node = self._painter.paint(item, parent, frame, clip)
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
            self.stack(self._children(item), node, inner, clip)
        elif kind == "line":
            self._fill_line(item, node, frame, clip)
        elif kind == "tabs":
            self._fill_tabs(item, node, frame, clip)

    def _fill_line(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widths = self._line_widths(item, frame.width)
        room = frame.width - sum(widths)
        left = frame.left + {"center": room // 2, "end": room}.get(item.widget.align or "", 0)
        for child, width in zip(self._children(item), widths, strict=True):
            height = min(frame.height, self.height(child, width))
            top = frame.top + (frame.height - height) // 2
            self.place(child, node, Bounds(left, top, left + width, top + height), clip)
            left += width

    def _fill_tabs(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        children = self._children(item)
        for number, child in enumerate(children):
            left = frame.left + frame.width * number // len(children)
            right = frame.left + frame.width * (number + 1) // len(children)
            self.place(child, node, Bounds(left, frame.top, right, frame.bottom), clip)

    def _fill_scroller(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widget = item.widget
        horizontal = widget.direction == "horizontal"
        entries = self._entries(item, frame.width)
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
        entries: _Entries,
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


def _grows_in_column(widget: Widget) -> bool:
    if widget.grow is not None:
        return widget.grow
    scrolls = widget.kind in ("list", "scroll") and widget.direction == "vertical"
    return scrolls and widget.height is None


def _grows_in_line(widget: Widget) -> bool:
    if widget.grow is not None:
        return widget.grow
    return widget.width is None and widget.kind in ("field", "row", "list", "scroll", "tabs")


def _all_text(widget: Widget, lookup: Lookup) -> str:
    own = [part.render(lookup) for part in (widget.text, widget.summary) if part is not None]
    inside = [_all_text(child, lookup) for child in widget.items]
    return "\n".join([*own, *inside]).casefold()
