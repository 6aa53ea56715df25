"""Where the items of a page lie, and the nodes that they become."""

from __future__ import annotations

from bisect import bisect_right

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.windows.items import Item, ShownItems
from pytest_clawperator.simulator.screen.windows.measuring import Entries, Measuring
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.targets import Scroller, Target
from pytest_clawperator.simulator.screen.windows.widgets.widget_nodes import WidgetNodes
from pytest_clawperator.simulator.screen.windows.widgets.widget_styles import STYLES


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
        """Put items below each other; lists, and what is said to grow, share the room left."""
        growing = [_grows_in_column(item.widget) for item in items]
        heights = [
            0 if grows else self.measuring.height(item, frame.width)
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


def _grows_in_column(widget: Widget) -> bool:
    if widget.grow is not None:
        return widget.grow
    scrolls = widget.kind in ("list", "scroll") and widget.direction == "vertical"
    return scrolls and widget.height is None
