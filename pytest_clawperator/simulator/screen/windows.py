"""The windows of the screen: apps, dialogs, system bars and the keyboard."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.simulator.apps.expressions import Template
from pytest_clawperator.simulator.apps.schema import Action, Dialog, Screen, Widget
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.foreground import (
    DELETE,
    ENTER,
    SHIFT,
    SPACE,
    SYMBOLS,
    Keyboard,
)
from pytest_clawperator.simulator.screen.layout import Layout
from pytest_clawperator.simulator.screen.phone_state import PhoneState, Toast
from pytest_clawperator.simulator.screen.tasks import Page
from pytest_clawperator.simulator.screen.widgets import Item, Metrics, Scroller, Target


class View:
    """What shows now; a scene that has not changed is not built again."""

    def __init__(self, state: PhoneState) -> None:
        self._state = state
        self._scene = Scene()
        self._version = self._announced = -1
        self.dumps_all_windows = False

    @property
    def version(self) -> int:
        """A number that changes whenever what shows may have changed, by an action or by time."""
        return self._state.changes.version

    @property
    def toast(self) -> Toast | None:
        """The toast that is up."""
        return self._state.toast

    def scene(self) -> Scene:
        """Return everything that shows."""
        changes = self._state.changes
        if self._version != changes.version:
            self._version = changes.version
            self._scene = compose(self._state)
            self._expect(self._scene.next_time)
            if self._announced != changes.revision:
                # Once per snapshot, as Android sends it at most every 100 ms.
                self._announced = changes.revision
                page = self._state.foreground.active_page()
                changes.emit("TYPE_WINDOW_CONTENT_CHANGED", page=page)
        return self._scene

    def _expect(self, next_time: float | None) -> None:
        """Plan to note the change when a widget next appears or disappears by itself."""
        timeline = self._state.timeline
        timeline.cancel(self)
        if next_time is not None:
            timeline.at(next_time, self._state.changes.note, owner=self)

    def windows(self) -> list[Window]:
        """List the windows from the bottom up; unchanged ones are the same objects as before."""
        return list(self.scene().windows)

    def active_root(self) -> UiNode | None:
        """Return the root of the window that has the user's attention; never the keyboard's."""
        window = self.scene().active
        return window.root if window is not None else None

    def roots(self) -> list[UiNode]:
        """List what a dump shows: the active window, or all of them, the topmost first."""
        root = self.active_root()
        if root is None:
            return []
        if not self.dumps_all_windows:
            return [root]
        display = self._state.display
        bar = gesture_bar_root(Metrics(display.density), display.size)
        return [*(window.root for window in reversed(self.scene().windows)), bar]

    def focused_node(self) -> UiNode | None:
        """Return the node that has the focus, if any."""
        root = self.active_root()
        return None if root is None else next((n for n in root.walk() if n.focused), None)

    @property
    def keyboard_shown(self) -> bool:
        """Whether the on-screen keyboard is up."""
        return self._state.foreground.keyboard_is_up()

    def foreground_package(self) -> str:
        """Return the package of the active window."""
        return self._state.foreground.active_page().package

    def foreground_activity(self) -> str:
        """Return the class name of the activity of the active window."""
        return self._state.foreground.active_page().activity

    def title(self) -> str | None:
        """Return the title of the page that has the user's attention."""
        return self._state.foreground.active_page().title


@dataclass
class Scene:
    """What shows at one moment.

    ``targets`` and ``scrollers`` are keyed by the ``widget`` of their nodes. ``next_time`` is
    when a widget next appears or disappears by itself.
    """

    windows: list[Window] = field(default_factory=list)
    targets: dict[str, Target] = field(default_factory=dict)
    scrollers: dict[str, Scroller] = field(default_factory=dict)
    next_time: float | None = None

    @property
    def active(self) -> Window | None:
        """The window that has the user's attention; never the keyboard."""
        return next((window for window in reversed(self.windows) if window.active), None)

    def touched_window(self, x: int, y: int) -> Window | None:
        """Return the window that a touch goes to; None beside a dialog, which lets none through."""
        for window in reversed(self.windows):
            if window.type == "input_method" and window.root.bounds.contains(x, y):
                return window
        active = self.active
        if active is not None and active.root.bounds.contains(x, y):
            return active
        return None


def compose(state: PhoneState) -> Scene:
    """Build the windows that show now."""
    scene = Scene()
    foreground, size = state.foreground, state.display.size
    metrics = Metrics(state.display.density, font_scale=state.display.font_scale)
    keyboard_up = foreground.keyboard_is_up()
    bottom = keyboard_top(metrics, size[1]) if keyboard_up else size[1]
    pages = foreground.pages()
    left, top, right, below = state.display.insets
    width, height = size[0] - left - right, size[1] - top - below
    for page in pages:
        # Only the page with the focus makes room for the keyboard.
        low = min(height, bottom - top) if page is pages[-1] else height
        # Below a cutout the status bar takes no room.
        area = Area(width, height, max(0, metrics.px(STATUS_BAR) - top), low)
        root = _root(state, page, scene, metrics, area)
        move(root, left, top)
        window = Window("application", page.package, root, active=page is pages[-1])
        if page in foreground.alerts:
            window.type = "system"
        scene.windows.append(window)
    if keyboard_up:
        scene.windows.append(keyboard_window(foreground.focus.keyboard, metrics, size))
    if state.toast is not None:
        scene.windows.append(toast_window(metrics, size, state.toast.text))
    scene.windows.append(status_bar_window(metrics, size[0], least=top))
    if state.display.right_to_left:
        for window in scene.windows:
            if window.type != "input_method":  # the keys of a Latin keyboard stay where they are
                mirror(window.root, size[0])
    return scene


def _root(state: PhoneState, page: Page, scene: Scene, metrics: Metrics, area: Area) -> UiNode:
    layout = Layout(
        page,
        metrics=metrics,
        now=state.timeline.now,
        revision=state.changes.revision,
        focused=state.foreground.focus.path_on(page),
    )
    if isinstance(page.body, Dialog):
        root = dialog_root(layout, page.body, area)
    else:
        task = state.tasks.get(page.package)
        deep = task is not None and len(task.stack) > 1
        has_up = deep if page.body.up is None else page.body.up
        root = screen_root(layout, page.body, area, has_up=has_up)
    scene.targets.update(layout.targets)
    scene.scrollers.update(layout.scrollers)
    moment = layout.shown.next_time
    if moment is not None and (scene.next_time is None or moment < scene.next_time):
        scene.next_time = moment
    return root


def move(root: UiNode, x: int, y: int) -> None:
    """Move a window with everything in it."""
    if x or y:
        for node in root.walk():
            left, top, right, bottom = node.bounds
            node.bounds = Bounds(left + x, top + y, right + x, bottom + y)


def mirror(root: UiNode, width: int) -> None:
    """Mirror a window with everything in it on a screen of this width."""
    for node in root.walk():
        left, top, right, bottom = node.bounds
        node.bounds = Bounds(width - right, top, width - left, bottom)


# -- Screens and dialogs of apps -----------------------------------------------------------------

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
    """Put buttons side by side, the first one outermost; below each other if they are wide."""
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


# -- Android's own windows -----------------------------------------------------------------------

_SYSTEM_UI = "com.android.systemui"
_TOAST_HEIGHT = 48


def status_bar_window(metrics: Metrics, width: int, *, least: int = 0) -> Window:
    """Build the window of the status bar, which is at least as high as a cutout."""
    bounds = Bounds(0, 0, width, max(least, metrics.px(STATUS_BAR)))
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, resource_id=f"{_SYSTEM_UI}:id/status_bar")
    return Window("system", _SYSTEM_UI, root)


def gesture_bar_root(metrics: Metrics, size: tuple[int, int]) -> UiNode:
    """Build the root of the window that is swiped to go home."""
    width, height = size
    bounds = Bounds(0, height - metrics.px(NAVIGATION_BAR), width, height)
    name = f"{_SYSTEM_UI}:id/navigation_bar_frame"
    return UiNode(_FRAME, _SYSTEM_UI, bounds, resource_id=name)


def toast_window(metrics: Metrics, size: tuple[int, int], text: str) -> Window:
    """Build the window of a toast."""
    width = min(size[0] - metrics.px(32), metrics.text_width(text, 14) + metrics.px(64))
    left, bottom = (size[0] - width) // 2, size[1] - metrics.px(72)
    bounds = Bounds(left, bottom - metrics.px(_TOAST_HEIGHT), left + width, bottom)
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, kind="snackbar", widget=f"{_SYSTEM_UI}/toast")
    inner = Bounds(left + metrics.px(24), bounds.top, bounds.right - metrics.px(24), bottom)
    root.add(UiNode("android.widget.TextView", _SYSTEM_UI, inner, text=text, kind="text"))
    return Window("system", _SYSTEM_UI, root)


# -- The keyboard --------------------------------------------------------------------------------

PACKAGE = "com.google.android.inputmethod.latin"
HEIGHT = 260
_ROW = 54
_TOP = 36
_KEY_CLASS = "android.widget.FrameLayout"
_LETTER_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYMBOL_ROWS = ("1234567890", "@#$_&-+()", "*\"':;!?")
# What a key is called if that is not what it types.
_NAMES = {
    SHIFT: "Shift",
    DELETE: "Delete",
    SYMBOLS: "Symbol keyboard",
    SPACE: "Space",
    ENTER: "Enter",
}


def keyboard_top(metrics: Metrics, height: int) -> int:
    """Return where the keyboard begins on a screen of a height in pixels."""
    return max(height // 2, height - metrics.px(HEIGHT))


def keyboard_window(keyboard: Keyboard, metrics: Metrics, size: tuple[int, int]) -> Window:
    """Build the window of the keyboard."""
    width, height = size
    frame = Bounds(0, keyboard_top(metrics, height), width, height)
    root = UiNode(_KEY_CLASS, PACKAGE, frame, kind="keyboard", widget=PACKAGE)
    scale = min(1.0, frame.height / max(1, metrics.px(HEIGHT)))
    row = int(metrics.px(_ROW) * scale)
    top = frame.top + int(metrics.px(_TOP) * scale)
    for keys in _rows(keyboard):
        units = sum(share for _, share in keys)
        unit = width / max(10.0, units)
        left = (width - units * unit) / 2
        for key, share in keys:
            box = Bounds(int(left), top, int(left + share * unit), top + row)
            root.add(_key(keyboard, key, box))
            left += share * unit
        top += row
    return Window("input_method", PACKAGE, root)


def _rows(keyboard: Keyboard) -> list[list[tuple[str, float]]]:
    """List the keys of each row with their widths, in units of a plain key."""
    first, second, third = _SYMBOL_ROWS if keyboard.symbols else _LETTER_ROWS
    return [
        [(key, 1) for key in first],
        [(key, 1) for key in second],
        [(SHIFT, 1.5), *((key, 1) for key in third), (DELETE, 1.5)],
        [(SYMBOLS, 1.5), (",", 1), (SPACE, 5), (".", 1), (ENTER, 1.5)],
    ]


def _key(keyboard: Keyboard, key: str, box: Bounds) -> UiNode:
    label = key.upper() if keyboard.shifted and len(key) == 1 else key
    return UiNode(
        _KEY_CLASS,
        PACKAGE,
        box,
        content_desc=_NAMES.get(key, label),
        clickable=True,
        kind="key",
        widget=f"{PACKAGE}/{key}",
    )


def pressed_key(widget: str) -> str | None:
    """Return the key that a node's widget name stands for; None if it is not a key."""
    prefix = PACKAGE + "/"
    return widget.removeprefix(prefix) if widget.startswith(prefix) else None
