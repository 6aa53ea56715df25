"""What a page shows at this moment: its widgets with repeats resolved, their sizes and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_clawperator.simulator.apps.expressions import Template
from pytest_clawperator.simulator.apps.kinds import Lookup, Value, complain
from pytest_clawperator.simulator.apps.schema import MAX_REPEAT, Widget
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode
from pytest_clawperator.simulator.screen.tasks import (
    Page,
    field_text,
    is_checked,
    is_chosen,
    path_steps,
    with_locals,
)

_BASELINE = 160
_LINE_HEIGHT = 1.35
_NARROW = frozenset("iIjl.,:;'|!`’‘·• ()[]{}/\\\"")
_SLIM = frozenset("frt-")
_WIDE = frozenset("mwMW@%—…")


class Metrics:
    """Turns density-independent units into pixels; sizes of text also have the user's scale."""

    __slots__ = ("_scale", "_text_scale")

    def __init__(self, density: int, *, font_scale: float = 1.0) -> None:
        self._scale = density / _BASELINE
        self._text_scale = self._scale * font_scale

    def px(self, dp: float) -> int:
        """Return the whole pixels for a length in dp."""
        return int(dp * self._scale + 0.5)

    def text_width(self, text: str, size: float) -> int:
        """Return the width of a text on one line."""
        return int(_ems(text) * size * self._text_scale + 0.999)

    def line_height(self, size: float) -> int:
        """Return the height of one line."""
        return int(size * _LINE_HEIGHT * self._text_scale + 0.5)

    def lines(self, text: str, size: float, width: int) -> int:
        """Count the lines that a text takes in a width in pixels."""
        ems = max(1.0, width / (size * self._text_scale))
        return _wrapped(text, round(ems, 1))


@lru_cache(maxsize=8192)
def _ems(text: str) -> float:
    return sum(map(_em, text))


def _em(char: str) -> float:
    if char in _NARROW:
        return 0.29
    if char in _SLIM:
        return 0.36
    if char in _WIDE:
        return 0.86
    if char.isascii():
        return 0.66 if char.isupper() else 0.56
    # Scripts with full-width characters begin about here; accented letters stand before.
    return 0.58 if ord(char) < 0x1100 else 1.0


@lru_cache(maxsize=4096)
def _wrapped(text: str, ems: float) -> int:
    lines = 0
    for paragraph in text.split("\n"):
        lines += 1
        used = 0.0
        for word in paragraph.split(" "):
            length = _ems(word)
            if used and used + 0.29 + length > ems:
                lines += 1
                used = 0.0
            if length > ems:
                lines += int(length / ems)
                length %= ems
            used += length + (0.29 if used else 0.0)
    return lines


@dataclass(frozen=True, eq=False)
class Target:
    """The widget behind a node: which one of which page, and the names known to it."""

    page: Page
    path: str
    widget: Widget
    lookup: Lookup
    enabled: bool


@dataclass(frozen=True, eq=False)
class Scroller:
    """A container that can be scrolled: how far it is scrolled and can be, in pixels."""

    target: Target
    horizontal: bool
    offset: int
    limit: int


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
