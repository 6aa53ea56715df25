"""Rows as in a settings list: icon, title, summary, and a switch or checkbox at the end."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.page_widgets import is_checked
from pytest_clawperator.simulator.screen.windows.items import Item
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.widgets.node_parts import add_part, resource_id
from pytest_clawperator.simulator.screen.windows.widgets.widget_styles import STYLES, row_check

_PAD_Y = 16
_ICON, _ICON_LEFT = 24, 24
_TEXT_LEFT, _TEXT_LEFT_WITH_ICON = 24, 72
_END = 24
_CHECK_SIZES = {"switch": (52, 32), "checkbox": (32, 32)}
_CHECK_CLASSES = {"switch": "android.widget.Switch", "checkbox": "android.widget.CheckBox"}
_CHECK_IDS = {"switch": "android:id/switch_widget", "checkbox": "android:id/checkbox"}
_TITLE_SIZE, _SUMMARY_SIZE = 16, 14


def row_height(item: Item, width: int, metrics: Metrics) -> int:
    """Return the height of a row."""
    height = 2 * metrics.px(_PAD_Y) + metrics.line_height(_TITLE_SIZE)
    if item.widget.summary is not None:
        room = _text_room(item.widget, width, metrics)
        height += _summary_height(item.text(item.widget.summary), room, metrics)
    return max(height, metrics.px(STYLES["row"].height))


def _text_left(widget: Widget) -> int:
    return _TEXT_LEFT_WITH_ICON if widget.icon else _TEXT_LEFT


def _text_room(widget: Widget, width: int, metrics: Metrics) -> int:
    end = _END + (_CHECK_SIZES["switch"][0] + 16 if row_check(widget) else 0)
    return max(1, width - metrics.px(_text_left(widget)) - metrics.px(end))


def _summary_height(text: str, room: int, metrics: Metrics) -> int:
    if not text:
        return 0
    return metrics.lines(text, _SUMMARY_SIZE, room) * metrics.line_height(_SUMMARY_SIZE)


class RowParts:
    """Adds the parts of rows to their nodes."""

    def __init__(self, page: Page, metrics: Metrics) -> None:
        self._page = page
        self._metrics = metrics

    def add(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        """Add the parts of one row."""
        if item.widget.icon:
            self._add_icon(node, frame, clip)
        self._add_texts(item, node, frame, clip)
        check = row_check(item.widget)
        if check is not None:
            self._add_check(item, node, frame, clip, check)

    def _add_icon(self, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        px = self._metrics.px
        left = frame.left + px(_ICON_LEFT)
        top = (frame.top + frame.bottom - px(_ICON)) // 2
        box = Bounds(left, top, left + px(_ICON), top + px(_ICON))
        icon = add_part(node, "android.widget.ImageView", "icon", box, clip=clip, kind="icon")
        icon.resource_id = "android:id/icon"

    def _add_texts(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widget, metrics = item.widget, self._metrics
        left = frame.left + metrics.px(_text_left(widget))
        room = _text_room(widget, frame.width, metrics)
        summary = item.text(widget.summary)
        below = _summary_height(summary, room, metrics)
        line = metrics.line_height(_TITLE_SIZE)
        top = (frame.top + frame.bottom - line - below) // 2
        box = Bounds(left, top, left + room, top + line)
        title = self._add_label(node, "title", item.text(widget.text), box, clip)
        title.resource_id = resource_id(self._page.package, item.text(widget.title_id))
        if summary:
            box = Bounds(left, top + line, left + room, top + line + below)
            label = self._add_label(node, "summary", summary, box, clip)
            label.resource_id = resource_id(self._page.package, item.text(widget.summary_id))

    def _add_label(self, node: UiNode, name: str, text: str, box: Bounds, clip: Bounds) -> UiNode:
        size = _TITLE_SIZE if name == "title" else _SUMMARY_SIZE
        right = min(box.right, box.left + self._metrics.text_width(text, size))
        box = Bounds(box.left, box.top, right, box.bottom)
        label = add_part(node, "android.widget.TextView", name, box, clip=clip, kind=f"row_{name}")
        label.text = text
        return label

    def _add_check(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds, check: str) -> None:
        px = self._metrics.px
        width, height = (px(side) for side in _CHECK_SIZES[check])
        right = frame.right - px(_END)
        top = (frame.top + frame.bottom - height) // 2
        box = Bounds(right - width, top, right, top + height)
        part = add_part(node, _CHECK_CLASSES[check], check, box, clip=clip, kind=check)
        part.resource_id = _CHECK_IDS[check]
        part.checkable = True
        part.checked = is_checked(self._page, item.path, item.widget, item.lookup)
