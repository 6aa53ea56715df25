"""The nodes of widgets, as the accessibility service sees them: classes, flags and texts."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.page_widgets import field_text, is_checked, is_chosen
from pytest_clawperator.simulator.screen.windows.items import Item
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.widgets.leaf_sizes import leaf_width
from pytest_clawperator.simulator.screen.windows.widgets.node_parts import (
    add_part,
    resource_id,
    visible_part,
)
from pytest_clawperator.simulator.screen.windows.widgets.rows import RowParts
from pytest_clawperator.simulator.screen.windows.widgets.widget_styles import (
    BOTTOM_TABS,
    CARD_MARGIN_X,
    CARD_MARGIN_Y,
    ICON_WITH_LABEL,
    STYLES,
    Style,
    is_clickable,
    style_of,
)

_BULLET = "•"


class WidgetNodes:
    """Builds the nodes of one page's widgets."""

    def __init__(self, page: Page, metrics: Metrics, *, focused: str | None) -> None:
        self._page = page
        self._metrics = metrics
        self._focused = focused
        self._row_parts = RowParts(page, metrics)

    def add(self, item: Item, parent: UiNode, frame: Bounds, clip: Bounds) -> UiNode:
        """Add the node of a widget to its parent, with the parts it always has."""
        widget = item.widget
        style = style_of(widget)
        node = self._node(item, style, self._inner(item, style, frame), clip)
        node.collection_item = "RecyclerView" in parent.cls
        parent.add(node)
        if widget.kind == "row":
            self._row_parts.add(item, node, frame, clip)
        elif widget.kind == "tab":
            self._add_tab_label(node, frame, clip)
        return node

    def _inner(self, item: Item, style: Style, frame: Bounds) -> Bounds:
        """Return the part of a frame that the node itself covers."""
        px = self._metrics.px
        kind = item.widget.kind
        margin_x, margin_y = style.margin_x, style.margin_y
        if kind == "card":
            margin_x, margin_y = CARD_MARGIN_X, CARD_MARGIN_Y
        left, right = frame.left + px(margin_x), frame.right - px(margin_x)
        if not style.fills:
            room = right - left
            own = min(room, self._own_width(item, style, room))
            shift = {"center": room - own, "end": 2 * (room - own)}
            if kind == "progress":
                shift[""] = room - own
            left += shift.get(item.widget.align or "", 0) // 2
            right = left + own
        return Bounds(left, frame.top + px(margin_y), right, frame.bottom - px(margin_y))

    def _own_width(self, item: Item, style: Style, room: int) -> int:
        if item.widget.width is not None:
            return self._metrics.px(item.widget.width)
        outer = leaf_width(item, room + 2 * self._metrics.px(style.margin_x), self._metrics)
        return outer - 2 * self._metrics.px(style.margin_x)

    def _node(self, item: Item, style: Style, bounds: Bounds, clip: Bounds) -> UiNode:
        widget, lookup = item.widget, item.lookup
        clickable = is_clickable(widget)
        shown, visible = visible_part(bounds, clip)
        node = UiNode(
            widget.cls or (BOTTOM_TABS if widget.style == "bottom" else style.cls),
            self._page.package,
            shown,
            text="" if widget.text is None else widget.text.render(lookup),
            content_desc="" if widget.desc is None else widget.desc.render(lookup),
            resource_id=resource_id(self._page.package, item.text(widget.id)),
            clickable=clickable,
            focusable=clickable or widget.kind == "list",
            long_clickable=bool(widget.on_long_press) or widget.kind == "field",
            enabled=widget.enabled_if is None or bool(widget.enabled_if(lookup)),
            selected=widget.selected_if is not None and bool(widget.selected_if(lookup)),
            focused=item.path == self._focused,
            heading=widget.heading or widget.kind == "title",
            visible_to_user=visible,
            kind=style.drawn,
            widget=self._page.widget_name(item.path),
        )
        special = _SPECIAL.get(widget.kind)
        if special is not None:
            special(self, item, node)
        return node

    def _as_labelled_by_description(self, item: Item, node: UiNode) -> None:
        # An image shows no text; what is written in the file describes it.
        if node.cls != ICON_WITH_LABEL.cls:
            node.content_desc = node.content_desc or node.text
            node.text = ""
        else:
            node.content_desc = node.content_desc or node.text

    def _as_field(self, item: Item, node: UiNode) -> None:
        widget = item.widget
        node.hint, node.editable, node.password = node.text, True, widget.password
        text = field_text(self._page, item.path, widget, item.lookup)
        # As a TextView reports it: the hint where nothing was typed, bullets for a password.
        node.text = (_BULLET * len(text) if widget.password else text) or node.hint

    def _as_checkable(self, item: Item, node: UiNode) -> None:
        node.checkable = True
        node.checked = is_checked(self._page, item.path, item.widget, item.lookup)

    def _as_chip(self, item: Item, node: UiNode) -> None:
        if item.widget.checked is not None:
            self._as_checkable(item, node)

    def _as_list(self, item: Item, node: UiNode) -> None:
        node.columns = item.widget.columns
        if item.widget.direction == "horizontal" and item.widget.kind == "scroll":
            node.cls = item.widget.cls or "android.widget.HorizontalScrollView"

    def _as_row(self, item: Item, node: UiNode) -> None:
        node.text = ""

    def _as_tab(self, item: Item, node: UiNode) -> None:
        node.content_desc = node.content_desc or node.text
        node.text = ""
        node.selected = is_chosen(item.widget, item.lookup)

    def _add_tab_label(self, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        metrics = self._metrics
        text = node.content_desc
        width = min(frame.width, metrics.text_width(text, STYLES["tab"].size))
        height = metrics.line_height(STYLES["tab"].size)
        left = (frame.left + frame.right - width) // 2
        top = (frame.top + frame.bottom - height) // 2
        box = Bounds(left, top, left + width, top + height)
        label = add_part(node, "android.widget.TextView", "label", box, clip=clip, kind="text")
        label.text, label.selected = text, node.selected


_SPECIAL = {
    "field": WidgetNodes._as_field,
    "icon": WidgetNodes._as_labelled_by_description,
    "icon_button": WidgetNodes._as_labelled_by_description,
    "image": WidgetNodes._as_labelled_by_description,
    "progress": WidgetNodes._as_labelled_by_description,
    "switch": WidgetNodes._as_checkable,
    "checkbox": WidgetNodes._as_checkable,
    "radio": WidgetNodes._as_checkable,
    "chip": WidgetNodes._as_chip,
    "list": WidgetNodes._as_list,
    "scroll": WidgetNodes._as_list,
    "row": WidgetNodes._as_row,
    "tab": WidgetNodes._as_tab,
}
