"""All windows of one moment, from the bottom up, and what their nodes stand for."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_clawperator.simulator.screen.accessibility.nodes import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.app_files.app_schema import Dialog
from pytest_clawperator.simulator.screen.state.foreground import Stage
from pytest_clawperator.simulator.screen.state.page import Page, Scroller, Target
from pytest_clawperator.simulator.screen.windows.layout import Layout
from pytest_clawperator.simulator.screen.windows.metrics import Metrics
from pytest_clawperator.simulator.screen.windows.page_windows import (
    STATUS_BAR,
    Area,
    dialog_root,
    screen_root,
)

_SYSTEM_UI = "com.android.systemui"
_FRAME = "android.widget.FrameLayout"
_TOAST_HEIGHT = 48


@dataclass
class Scene:
    """What shows at one moment."""

    windows: list[Window] = field(default_factory=list)
    targets: dict[str, Target] = field(default_factory=dict)
    scrollers: dict[str, Scroller] = field(default_factory=dict)
    next_time: float | None = None

    @property
    def active(self) -> Window | None:
        """Give the window that has the user's attention; never the keyboard."""
        return next((window for window in reversed(self.windows) if window.active), None)


class Composer:
    """Gives the scene of the moment; one that has not changed is not built again."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._scene = Scene()
        self._version = self._announced = -1

    def pass_time(self) -> None:
        """Note a change where something was due to come or go by now."""
        moment = self._scene.next_time
        if moment is not None and self._stage.now >= moment:
            self._scene.next_time = None
            self._stage.changed()

    def scene(self, *, size: tuple[int, int], density: int) -> Scene:
        """Give what shows now."""
        stage = self._stage
        if self._version != stage.version:
            self._version = stage.version
            self._scene = compose(stage, size=size, density=density)
            if self._announced != stage.revision:
                # Once a look, as Android tells it at most every 100 ms.
                self._announced = stage.revision
                stage.emit("TYPE_WINDOW_CONTENT_CHANGED", page=stage.shown()[-1])
        return self._scene


def compose(stage: Stage, *, size: tuple[int, int], density: int) -> Scene:
    """Build the windows for the stage as it stands."""
    scene = Scene()
    metrics = Metrics(density)
    keyboard_up = stage.keyboard_is_up()
    bottom = stage.keyboard.top(metrics, size[1]) if keyboard_up else size[1]
    pages = stage.shown()
    for page in pages:
        # Only the page with the focus makes room for the keyboard.
        area = Area(*size, bottom if page is pages[-1] else size[1])
        root = _root(stage, page, scene, metrics, area)
        window = Window("application", page.package, root, active=page is pages[-1])
        if page in stage.alerts:
            window.type = "system"
        scene.windows.append(window)
    if keyboard_up:
        scene.windows.append(stage.keyboard.window(metrics, size))
    if stage.toast is not None:
        scene.windows.append(_toast(metrics, size, stage.toast))
    scene.windows.append(_status_bar(metrics, size[0]))
    return scene


def _root(stage: Stage, page: Page, scene: Scene, metrics: Metrics, area: Area) -> UiNode:
    focused = stage.focus[1] if stage.focus is not None and stage.focus[0] is page else None
    layout = Layout(page, metrics=metrics, now=stage.now, revision=stage.revision, focused=focused)
    if isinstance(page.body, Dialog):
        root = dialog_root(layout, page.body, area)
    else:
        task = stage.tasks.get(page.package)
        deep = task is not None and len(task.stack) > 1
        has_up = deep if page.body.up is None else page.body.up
        root = screen_root(layout, page.body, area, has_up=has_up)
    scene.targets.update(layout.targets)
    scene.scrollers.update(layout.scrollers)
    moment = layout.next_time
    if moment is not None and (scene.next_time is None or moment < scene.next_time):
        scene.next_time = moment
    return root


def _status_bar(metrics: Metrics, width: int) -> Window:
    bounds = Bounds(0, 0, width, metrics.px(STATUS_BAR))
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, resource_id=f"{_SYSTEM_UI}:id/status_bar")
    return Window("system", _SYSTEM_UI, root)


def _toast(metrics: Metrics, size: tuple[int, int], text: str) -> Window:
    width = min(size[0] - metrics.px(32), metrics.text_width(text, 14) + metrics.px(64))
    left, bottom = (size[0] - width) // 2, size[1] - metrics.px(72)
    bounds = Bounds(left, bottom - metrics.px(_TOAST_HEIGHT), left + width, bottom)
    root = UiNode(_FRAME, _SYSTEM_UI, bounds, kind="snackbar", widget=f"{_SYSTEM_UI}/toast")
    inner = Bounds(left + metrics.px(24), bounds.top, bounds.right - metrics.px(24), bottom)
    root.add(UiNode("android.widget.TextView", _SYSTEM_UI, inner, text=text, kind="text"))
    return Window("system", _SYSTEM_UI, root)
