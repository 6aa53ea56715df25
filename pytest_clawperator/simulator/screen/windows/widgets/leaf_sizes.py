"""The sizes of widgets that hold no others, with the space around them."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.windows.items import Item
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.widgets.rows import row_height
from pytest_clawperator.simulator.screen.windows.widgets.widget_styles import style_of


def leaf_height(item: Item, width: int, metrics: Metrics) -> int:
    """Return the height that a leaf needs at a width."""
    if item.widget.kind == "row":
        return row_height(item, width, metrics)
    style = style_of(item.widget)
    inner = metrics.px(style.height)
    if style.wraps:
        room = width - 2 * metrics.px(style.margin_x)
        size = item.widget.size or style.size
        lines = metrics.lines(item.text(item.widget.text), size, room)
        inner = max(inner, lines * metrics.line_height(size))
    elif item.widget.text is not None and style.height:
        # Large letters need more than the usual height.
        inner = max(inner, metrics.line_height(item.widget.size or style.size))
    return inner + 2 * metrics.px(style.margin_y)


def leaf_width(item: Item, room: int, metrics: Metrics) -> int:
    """Return the width of a leaf that nothing stretches; text takes at most ``room``."""
    style, px = style_of(item.widget), metrics.px
    if style.width is not None:
        return px(style.width) + 2 * px(style.margin_x)
    size = item.widget.size or style.size
    text = max(item.text(item.widget.text).split("\n"), key=len)
    wanted = metrics.text_width(text, size) + 2 * px(style.pad_x + style.margin_x)
    return min(room, wanted)
