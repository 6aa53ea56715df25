"""The nodes and sizes of each kind of widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_clawperator.simulator.apps.schema import Widget
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from pytest_clawperator.simulator.screen.items import Item, Metrics
from pytest_clawperator.simulator.screen.tasks import Page, field_text, is_checked, is_chosen


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

BOTTOM_TABS = "com.google.android.material.bottomnavigation.BottomNavigationView"
ICON_WITH_LABEL = Style("android.widget.TextView", "icon", 12, width=None, height=96, fills=True)
CARD_MARGIN_X, CARD_MARGIN_Y = 8, 4
_TAPPABLE = frozenset({"button", "icon_button", "field", "switch", "checkbox", "radio", "tab"})


def style_of(widget: Widget) -> Style:
    """Return the style of a widget."""
    if widget.kind == "icon" and widget.text is not None:
        return ICON_WITH_LABEL
    return STYLES[widget.kind]


def row_check(widget: Widget) -> str | None:
    """Return what stands at the end of a row: ``switch``, ``checkbox``, or None."""
    if widget.switch is not None:
        return "switch"
    return "checkbox" if widget.checkbox is not None else None


def is_clickable(widget: Widget) -> bool:
    """Return whether the node of a widget is clickable."""
    if widget.clickable is not None:
        return widget.clickable
    has_taps = bool(widget.on_tap or widget.on_double_tap)
    return has_taps or widget.kind in _TAPPABLE or row_check(widget) is not None


def visible_part(bounds: Bounds, clip: Bounds) -> tuple[Bounds, bool]:
    """Return the part of a node's bounds inside the clip, and whether there is any."""
    left, top, right, bottom = bounds
    if left < clip.left or top < clip.top or right > clip.right or bottom > clip.bottom:
        bounds = left, top, right, bottom = bounds.clipped(clip)
    return bounds, right > left and bottom > top


def resource_id(package: str, name: str) -> str:
    """Return the whole resource id for a name in an app file."""
    return name if not name or ":id/" in name else f"{package}:id/{name}"


def add_part(
    node: UiNode, cls: str, name: str, frame: Bounds, *, clip: Bounds, kind: str
) -> UiNode:
    """Add a part to the node of a widget."""
    shown, visible = visible_part(frame, clip)
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


_BULLET = "•"


class WidgetNodes:
    """Builds the nodes of one page's widgets."""

    def __init__(self, page: Page, metrics: Metrics, *, focused: str | None) -> None:
        self._page = page
        self._metrics = metrics
        self._focused = focused

    def add(self, item: Item, parent: UiNode, frame: Bounds, clip: Bounds) -> UiNode:
        """Add the node of a widget to its parent, with the parts it always has."""
        widget = item.widget
        style = style_of(widget)
        node = self._node(item, style, self._inner(item, style, frame), clip)
        node.collection_item = "RecyclerView" in parent.cls
        parent.add(node)
        if widget.kind == "row":
            self._add_row_parts(item, node, frame, clip)
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
        # As a TextView reports it: the hint if nothing was typed, bullets for a password.
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

    def _add_row_parts(self, item: Item, node: UiNode, frame: Bounds, clip: Bounds) -> None:
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
