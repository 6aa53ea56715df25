"""How big the items of a page are, containers included."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.simulator.screen.app_files.language.values import Lookup
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.windows.items import Item, ShownItems
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.widgets.leaf_sizes import leaf_height, leaf_width
from pytest_clawperator.simulator.screen.windows.widgets.widget_styles import STYLES

_UNBOUNDED_LIST = 400
_TAB_HEIGHT = {"top": 48, "bottom": 80}


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
        children = self._shown.children(item)
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
