"""All windows of one moment, from the bottom up, and what their nodes stand for."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode, Window
from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.windows.keyboard_window import (
    keyboard_top,
    keyboard_window,
)
from pytest_clawperator.simulator.screen.windows.layout import Layout
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.page_windows import (
    STATUS_BAR,
    Area,
    dialog_root,
    screen_root,
)
from pytest_clawperator.simulator.screen.windows.placing import mirror, move
from pytest_clawperator.simulator.screen.windows.system_windows import (
    status_bar_window,
    toast_window,
)
from pytest_clawperator.simulator.screen.windows.targets import Scroller, Target


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
        # Below a cutout there is no status bar any more.
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
