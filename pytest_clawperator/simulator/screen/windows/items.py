"""Which widgets of a page show at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clawperator.simulator.screen.app_files.language.expressions import Template
from pytest_clawperator.simulator.screen.app_files.language.values import (
    Lookup,
    Value,
    complain,
)
from pytest_clawperator.simulator.screen.app_files.widget_schema import MAX_REPEAT, Widget
from pytest_clawperator.simulator.screen.state.app_state import with_locals
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.page_widgets import path_steps

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
