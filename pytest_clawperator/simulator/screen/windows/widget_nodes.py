"""How each kind of widget looks to the accessibility service: classes, flags, sizes, parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.app_schema import Widget
from pytest_clawperator.simulator.screen.app_files.expressions import Lookup, Template
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.page_widgets import field_text, is_checked, is_chosen
from pytest_clawperator.simulator.screen.windows.metrics import Metrics

_BULLET = "•"


@dataclass(frozen=True)
class Style:
    """The measures of a kind, in density-independent units."""

    cls: str
    drawn: str
    size: float = 16
    pad_x: float = 0
    margin_x: float = 0
    margin_y: float = 0
    width: float | None = None
    height: float = 0
    fills: bool = False
    wraps: bool = False
    inset_x: float = 0
    inset_y: float = 0


STYLES: Mapping[str, Style] = {
    "text": Style("android.widget.TextView", "text", margin_x=16, margin_y=6, wraps=True),
    "title": Style("android.widget.TextView", "title", 22, margin_x=16, margin_y=8, wraps=True),
    "button": Style("android.widget.Button", "button", 14, 24, 16, 4, height=48, fills=True),
    "icon_button": Style("android.widget.ImageButton", "icon", width=48, height=48),
    "field": Style("android.widget.EditText", "textfield", 16, 16, 16, 6, height=56, fills=True),
    "switch": Style("android.widget.Switch", "switch", 16, 32, 16, 4, height=48, fills=True),
    "checkbox": Style("android.widget.CheckBox", "checkbox", 16, 24, 16, 4, height=48, fills=True),
    "radio": Style("android.widget.RadioButton", "radio", 16, 24, 16, 4, height=48, fills=True),
    "row": Style("android.widget.LinearLayout", "row", height=56, fills=True),
    "image": Style("android.widget.ImageView", "image", height=160, fills=True),
    "icon": Style(
        "android.widget.ImageView", "icon", width=24, height=24, margin_x=12, margin_y=12
    ),
    "chip": Style("com.google.android.material.chip.Chip", "chip", 14, 12, 4, 8, height=32),
    "badge": Style("android.widget.TextView", "badge", 12, 6, 4, 4, height=20),
    "divider": Style("android.view.View", "divider", height=1, fills=True),
    "space": Style("android.widget.Space", "", width=16, height=16),
    "progress": Style("android.widget.ProgressBar", "progress", 16, 0, 16, 16, 48, 48),
    "list": Style("androidx.recyclerview.widget.RecyclerView", "list", fills=True),
    "scroll": Style("android.widget.ScrollView", "list", fills=True),
    "column": Style("android.widget.LinearLayout", "", fills=True),
    "line": Style("android.widget.LinearLayout", "", fills=True),
    "card": Style("androidx.cardview.widget.CardView", "card", fills=True, inset_x=20, inset_y=14),
    "tabs": Style("com.google.android.material.tabs.TabLayout", "tab_bar", fills=True),
    "tab": Style("android.widget.LinearLayout", "tab", 14, fills=True),
}
_BOTTOM_TABS = "com.google.android.material.bottomnavigation.BottomNavigationView"
_ICON_WITH_LABEL = Style("android.widget.TextView", "icon", 12, width=None, height=96, fills=True)
_CARD_MARGIN_X, _CARD_MARGIN_Y = 8, 4

# A row: its icon, where its texts begin without and with one, and what stands at its end.
_ROW_PAD_Y = 16
_ROW_ICON, _ROW_ICON_LEFT = 24, 24
_ROW_TEXT_LEFT, _ROW_TEXT_LEFT_WITH_ICON = 24, 72
_ROW_END = 24
_ROW_SWITCH = {"switch": (52, 32), "checkbox": (32, 32)}
_ROW_CLASSES = {"switch": "android.widget.Switch", "checkbox": "android.widget.CheckBox"}
_ROW_CHECK_IDS = {"switch": "android:id/switch_widget", "checkbox": "android:id/checkbox"}
_TITLE_SIZE, _SUMMARY_SIZE = 16, 14

_TAPPABLE = frozenset({"button", "icon_button", "field", "switch", "checkbox", "radio", "tab"})


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
        """Fill a template in; nothing becomes empty text."""
        return "" if template is None else template.render(self.lookup)


class Painter:
    """Makes the nodes of one page's widgets."""

    def __init__(self, page: Page, metrics: Metrics, *, focused: str | None) -> None:
        self._page = page
        self._metrics = metrics
        self._focused = focused

    # -- Sizes of widgets that hold no others ------------------------------------------------

    def height(self, item: Item, width: int) -> int:
        """Give a leaf's height, with the space around it."""
        if item.widget.kind == "row":
            return self._row_height(item, width)
        style, metrics = _style(item.widget), self._metrics
        inner = metrics.px(style.height)
        if style.wraps:
            room = width - 2 * metrics.px(style.margin_x)
            size = item.widget.size or style.size
            lines = metrics.lines(item.text(item.widget.text), size, room)
            inner = max(inner, lines * metrics.line_height(size))
        return inner + 2 * metrics.px(style.margin_y)

    def width(self, item: Item, room: int) -> int:
        """Give a leaf's width, with the space around it, when nothing stretches it."""
        style, px = _style(item.widget), self._metrics.px
        if style.width is not None:
            return px(style.width) + 2 * px(style.margin_x)
        size = item.widget.size or style.size
        text = max(item.text(item.widget.text).split("\n"), key=len)
        wanted = self._metrics.text_width(text, size) + 2 * px(style.pad_x + style.margin_x)
        return min(room, wanted)

    def _row_height(self, item: Item, width: int) -> int:
        metrics, widget = self._metrics, item.widget
        height = 2 * metrics.px(_ROW_PAD_Y) + metrics.line_height(_TITLE_SIZE)
        if widget.summary is not None:
            height += self._summary_height(item, self._row_text_room(widget, width))
        return max(height, metrics.px(STYLES["row"].height))

    def _row_text_room(self, widget: Widget, width: int) -> int:
        px = self._metrics.px
        left = _ROW_TEXT_LEFT_WITH_ICON if widget.icon else _ROW_TEXT_LEFT
        end = _ROW_END + (_ROW_SWITCH["switch"][0] + 16 if _row_check(widget) else 0)
        return max(1, width - px(left) - px(end))

    def _summary_height(self, item: Item, room: int) -> int:
        text = item.text(item.widget.summary)
        if not text:
            return 0
        lines = self._metrics.lines(text, _SUMMARY_SIZE, room)
        return lines * self._metrics.line_height(_SUMMARY_SIZE)

    # -- Nodes -------------------------------------------------------------------------------

    def paint(self, item: Item, parent: UiNode, frame: Bounds, clip: Bounds) -> UiNode:
        """Add the node of a widget to its parent, with the parts it always has."""
        widget = item.widget
        style = _style(widget)
        node = self._node(item, style, self._inner(item, style, frame), clip)
        node.collection_item = "RecyclerView" in parent.cls
        parent.add(node)
        if widget.kind == "row":
            self._paint_row(item, node, frame, clip)
        elif widget.kind == "tab":
            self._paint_tab(item, node, frame, clip)
        return node

    def _inner(self, item: Item, style: Style, frame: Bounds) -> Bounds:
        """Give the part of a frame that the node itself covers."""
        px = self._metrics.px
        kind = item.widget.kind
        margin_x, margin_y = style.margin_x, style.margin_y
        if kind == "card":
            margin_x, margin_y = _CARD_MARGIN_X, _CARD_MARGIN_Y
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
        outer = self.width(item, room + 2 * self._metrics.px(style.margin_x))
        return outer - 2 * self._metrics.px(style.margin_x)

    def _node(self, item: Item, style: Style, bounds: Bounds, clip: Bounds) -> UiNode:
        widget, lookup = item.widget, item.lookup
        clickable = _is_clickable(widget)
        shown, visible = _visible_part(bounds, clip)
        node = UiNode(
            widget.cls or (_BOTTOM_TABS if widget.style == "bottom" else style.cls),
            self._page.package,
            shown,
            text="" if widget.text is None else widget.text.render(lookup),
            content_desc="" if widget.desc is None else widget.desc.render(lookup),
            resource_id=self._resource_id(item.text(widget.id)),
            clickable=clickable,
            focusable=clickable or widget.kind == "list",
            long_clickable=bool(widget.on_long_press) or widget.kind == "field",
            enabled=widget.enabled_if is None or bool(widget.enabled_if(lookup)),
            selected=widget.selected_if is not None and bool(widget.selected_if(lookup)),
            focused=item.path == self._focused,
            heading=widget.heading or widget.kind == "title",
            visible_to_user=visible,
            kind=style.drawn,
            widget=f"{self._page.key}/{item.path}",
        )
        special = _SPECIAL.get(widget.kind)
        if special is not None:
            special(self, item, node)
        return node

    def _resource_id(self, name: str) -> str:
        if not name or ":id/" in name:
            return name
        return f"{self._page.package}:id/{name}"

    def _as_labelled_by_description(self, item: Item, node: UiNode) -> None:
        # An image shows no text; what is written in the file describes it.
        if node.cls != _ICON_WITH_LABEL.cls:
            node.content_desc = node.content_desc or node.text
            node.text = ""
        else:
            node.content_desc = node.content_desc or node.text

    def _as_field(self, item: Item, node: UiNode) -> None:
        widget = item.widget
        node.hint, node.editable, node.password = node.text, True, widget.password
        text = field_text(self._page, item.path, widget, item.lookup)
        # As a TextView tells it: the hint where nothing was typed, bullets for a password.
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

    # -- Parts -------------------------------------------------------------------------------

    def _part(
        self, node: UiNode, cls: str, name: str, frame: Bounds, clip: Bounds, kind: str
    ) -> UiNode:
        shown, visible = _visible_part(frame, clip)
        return node.add(
            UiNode(
                cls,
                node.package,
                shown,
                enabled=node.enabled,
                visible_to_user=visible,
                kind=kind,
                widget=f"{node.widget}#{name}",
            )
        )

    def _paint_row(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        widget, metrics = item.widget, self._metrics
        px = metrics.px
        if widget.icon:
            left = frame.left + px(_ROW_ICON_LEFT)
            top = (frame.top + frame.bottom - px(_ROW_ICON)) // 2
            box = Bounds(left, top, left + px(_ROW_ICON), top + px(_ROW_ICON))
            icon = self._part(node, "android.widget.ImageView", "icon", box, clip, "icon")
            icon.resource_id = "android:id/icon"
        left = frame.left + px(_ROW_TEXT_LEFT_WITH_ICON if widget.icon else _ROW_TEXT_LEFT)
        room = self._row_text_room(widget, frame.width)
        summary = item.text(widget.summary)
        below = self._summary_height(item, room) if summary else 0
        line = metrics.line_height(_TITLE_SIZE)
        top = (frame.top + frame.bottom - line - below) // 2
        self._label(
            node, "title", item.text(widget.text), Bounds(left, top, left + room, top + line), clip
        ).resource_id = self._resource_id(item.text(widget.title_id))
        if summary:
            box = Bounds(left, top + line, left + room, top + line + below)
            part = self._label(node, "summary", summary, box, clip)
            part.resource_id = self._resource_id(item.text(widget.summary_id))
        self._paint_row_end(item, node, frame, clip)

    def _label(self, node: UiNode, name: str, text: str, box: Bounds, clip: Bounds) -> UiNode:
        size = _TITLE_SIZE if name == "title" else _SUMMARY_SIZE
        right = min(box.right, box.left + self._metrics.text_width(text, size))
        box = Bounds(box.left, box.top, right, box.bottom)
        label = self._part(node, "android.widget.TextView", name, box, clip, f"row_{name}")
        label.text = text
        return label

    def _paint_row_end(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        check = _row_check(item.widget)
        if check is None:
            return
        px = self._metrics.px
        width, height = (px(side) for side in _ROW_SWITCH[check])
        right = frame.right - px(_ROW_END)
        top = (frame.top + frame.bottom - height) // 2
        box = Bounds(right - width, top, right, top + height)
        part = self._part(node, _ROW_CLASSES[check], check, box, clip, check)
        part.resource_id = (
            "android:id/switch_widget" if check == "switch" else "android:id/checkbox"
        )
        part.checkable = True
        part.checked = is_checked(self._page, item.path, item.widget, item.lookup)

    def _paint_tab(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
        metrics = self._metrics
        text = node.content_desc
        width = min(frame.width, metrics.text_width(text, STYLES["tab"].size))
        height = metrics.line_height(STYLES["tab"].size)
        left = (frame.left + frame.right - width) // 2
        top = (frame.top + frame.bottom - height) // 2
        box = Bounds(left, top, left + width, top + height)
        label = self._part(node, "android.widget.TextView", "label", box, clip, "text")
        label.text, label.selected = text, node.selected


_SPECIAL = {
    "field": Painter._as_field,
    "icon": Painter._as_labelled_by_description,
    "icon_button": Painter._as_labelled_by_description,
    "image": Painter._as_labelled_by_description,
    "progress": Painter._as_labelled_by_description,
    "switch": Painter._as_checkable,
    "checkbox": Painter._as_checkable,
    "radio": Painter._as_checkable,
    "chip": Painter._as_chip,
    "list": Painter._as_list,
    "scroll": Painter._as_list,
    "row": Painter._as_row,
    "tab": Painter._as_tab,
}


def _visible_part(bounds: Bounds, clip: Bounds) -> tuple[Bounds, bool]:
    left, top, right, bottom = bounds
    if left < clip.left or top < clip.top or right > clip.right or bottom > clip.bottom:
        bounds = left, top, right, bottom = bounds.clipped(clip)
    return bounds, right > left and bottom > top


def _style(widget: Widget) -> Style:
    if widget.kind == "icon" and widget.text is not None:
        return _ICON_WITH_LABEL
    return STYLES[widget.kind]


def _is_clickable(widget: Widget) -> bool:
    if widget.clickable is not None:
        return widget.clickable
    return bool(widget.on_tap) or widget.kind in _TAPPABLE or _row_check(widget) is not None


def _row_check(widget: Widget) -> str | None:
    if widget.switch is not None:
        return "switch"
    return "checkbox" if widget.checkbox is not None else None
