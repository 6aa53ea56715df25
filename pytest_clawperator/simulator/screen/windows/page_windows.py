"""Windows of pages: a screen with its toolbar, a dialog with its buttons."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode
from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.language.expressions import Template
from pytest_clawperator.simulator.screen.app_files.widget_schema import Widget
from pytest_clawperator.simulator.screen.windows.items import Item
from pytest_clawperator.simulator.screen.windows.layout import Layout

STATUS_BAR = 24
NAVIGATION_BAR = 24
TOOLBAR = 64
_BUTTON = 48
_SNACKBAR, _SNACKBAR_SIZE = 48, 15
_DIALOG_WIDTH = 360
_DIALOG_MARGIN = 24
_DIALOG_PAD = 16
_TITLE_SIZE = 22

_DIALOG_KINDS = {"dialog/alertTitle": "dialog_title", "dialog/android:id/message": "dialog_text"}

_FRAME = "android.widget.FrameLayout"
_TEXT = "android.widget.TextView"
_UP = Widget.model_construct(
    kind="icon_button",
    desc=Template("Navigate up"),
    on_tap=(Action.model_construct(back=True),),
)


@dataclass(frozen=True)
class Area:
    """The room that windows have: all of it, and what the status bar and a keyboard leave."""

    width: int
    height: int
    top: int
    bottom: int

    @property
    def whole(self) -> Bounds:
        """All of it."""
        return Bounds(0, 0, self.width, self.height)


def screen_root(layout: Layout, screen: Screen, area: Area, *, has_up: bool) -> UiNode:
    """Build the window of a screen: toolbar, what it holds, its foot, and a snackbar."""
    page, px = layout.page, layout.metrics.px
    whole = area.whole
    root = UiNode(_FRAME, page.package, whole, kind="screen", widget=page.key)
    content = root.add(
        UiNode(_FRAME, page.package, whole, resource_id="android:id/content", widget=page.key)
    )
    top = area.top
    bottom = max(top, min(area.bottom, area.height - px(NAVIGATION_BAR)))
    if screen.toolbar and (screen.title is not None or screen.menu or has_up):
        high = max(px(TOOLBAR), layout.metrics.line_height(_TITLE_SIZE))
        frame = Bounds(0, top, area.width, min(bottom, top + high))
        _toolbar(layout, screen, content, frame, has_up=has_up)
        top = frame.bottom
    foot = layout.shown.items(screen.bottom, page.lookup, "bottom")
    foot_height = sum(layout.measuring.height(item, area.width) for item in foot)
    foot_top = max(top, bottom - foot_height)
    body = Bounds(0, top, area.width, foot_top)
    layout.stack(layout.shown.items(screen.items, page.lookup, "items"), content, body, body)
    layout.stack(foot, content, Bounds(0, foot_top, area.width, bottom), whole)
    if page.snackbar is not None:
        height = max(px(_SNACKBAR), 2 * layout.metrics.line_height(_SNACKBAR_SIZE))
        low = foot_top - px(8)
        frame = Bounds(px(8), low - height, area.width - px(8), low)
        _snackbar(layout, content, frame, page.snackbar)
    return root


def _toolbar(
    layout: Layout, screen: Screen, parent: UiNode, frame: Bounds, *, has_up: bool
) -> None:
    page, px = layout.page, layout.metrics.px
    node = parent.add(
        UiNode(
            "androidx.appcompat.widget.Toolbar",
            page.package,
            frame,
            resource_id=f"{page.package}:id/toolbar",
            kind="toolbar",
            widget=f"{page.key}/toolbar",
        )
    )
    button, middle = px(_BUTTON), (frame.top + frame.bottom) // 2
    left = frame.left + px(16)
    if has_up:
        left = frame.left + px(4)
        box = Bounds(left, middle - button // 2, left + button, middle + button // 2)
        layout.place(Item(_UP, "up", page.lookup), node, box, frame)
        left += button + px(8)
    menu = layout.shown.items(screen.menu, page.lookup, "menu")
    widths = [layout.measuring.natural_width(item, frame.width // 2) for item in menu]
    right = max(left, frame.right - px(4) - sum(widths))
    title = page.title
    if title:
        height = layout.metrics.line_height(_TITLE_SIZE)
        width = min(right - left, layout.metrics.text_width(title, _TITLE_SIZE))
        box = Bounds(left, middle - height // 2, left + width, middle + height // 2)
        name = f"{page.key}/toolbar#title"
        label = node.add(UiNode(_TEXT, page.package, box, text=title, kind="title", widget=name))
        label.heading = True
    for item, width in zip(menu, widths, strict=True):
        height = min(frame.height, layout.measuring.height(item, width))
        box = Bounds(right, middle - height // 2, right + width, middle + height - height // 2)
        layout.place(item, node, box, frame)
        right += width


def _snackbar(layout: Layout, parent: UiNode, frame: Bounds, text: str) -> None:
    page, px = layout.page, layout.metrics.px
    name = f"{page.key}/snackbar"
    bar = parent.add(UiNode(_FRAME, page.package, frame, kind="snackbar", widget=name))
    box = Bounds(frame.left + px(16), frame.top, frame.right - px(16), frame.bottom)
    label = UiNode(_TEXT, page.package, box, text=text, kind="text", widget=f"{name}#text")
    label.resource_id = f"{page.package}:id/snackbar_text"
    bar.add(label)


def dialog_root(layout: Layout, dialog: Dialog, area: Area) -> UiNode:
    """Build the window of a dialog, as high as what it holds, in the middle of the screen."""
    page, px = layout.page, layout.metrics.px
    width = min(area.width - 2 * px(_DIALOG_MARGIN), px(_DIALOG_WIDTH))
    items = [
        *layout.shown.items(dialog.text_widgets, page.lookup, "dialog"),
        *layout.shown.items(dialog.items, page.lookup, "items"),
    ]
    buttons = layout.shown.items(dialog.button_widgets, page.lookup, "buttons")
    rows = _button_rows(layout, buttons, width)
    pad = px(_DIALOG_PAD)
    foot = sum(layout.measuring.height(row[0], width) for row in rows)
    height = 2 * pad + foot + sum(layout.measuring.height(item, width) for item in items)
    room_top, room_bottom = area.top, area.bottom
    height = min(height, room_bottom - room_top)
    left, top = (area.width - width) // 2, (room_top + room_bottom - height) // 2
    frame = Bounds(left, top, left + width, top + height)
    root = UiNode(_FRAME, page.package, frame, kind="dialog", widget=page.key)
    body = Bounds(left, top + pad, frame.right, max(top + pad, frame.bottom - pad - foot))
    layout.stack(items, root, body, frame)
    for node in root.children:
        node.kind = _DIALOG_KINDS.get(node.widget.removeprefix(page.key + "/"), node.kind)
    _place_buttons(layout, rows, root, Bounds(left, body.bottom, frame.right, frame.bottom))
    return root


def _button_rows(layout: Layout, buttons: list[Item], width: int) -> list[list[Item]]:
    """Put buttons side by side, the first one outermost; below each other where they are wide."""
    if not buttons:
        return []
    if sum(layout.measuring.natural_width(button, width) for button in buttons) <= width:
        return [buttons[::-1]]
    return [[button] for button in buttons]


def _place_buttons(layout: Layout, rows: list[list[Item]], root: UiNode, frame: Bounds) -> None:
    top = frame.top
    for row in rows:
        widths = [layout.measuring.natural_width(button, frame.width) for button in row]
        left = frame.right - sum(widths)
        height = layout.measuring.height(row[0], frame.width)
        for button, width in zip(row, widths, strict=True):
            layout.place(button, root, Bounds(left, top, left + width, top + height), root.bounds)
            left += width
        top += height
