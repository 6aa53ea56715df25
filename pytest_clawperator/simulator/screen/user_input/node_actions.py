"""The accessibility actions on single nodes: click, long click, focus, set text."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.events import EventType, texts_of
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.state.changes import Changes
from pytest_clawperator.simulator.screen.user_input.text_entry import TextEntry
from pytest_clawperator.simulator.screen.user_input.widget_actions import WidgetActions
from pytest_clawperator.simulator.screen.windows.keyboard_window import pressed_key
from pytest_clawperator.simulator.screen.windows.targets import Target
from pytest_clawperator.simulator.screen.windows.view import View


class NodeActions:
    """Acts on nodes; False where a node has gone, is disabled, or does not take the action."""

    def __init__(
        self, *, changes: Changes, view: View, widgets: WidgetActions, typing: TextEntry
    ) -> None:
        self._changes = changes
        self._view = view
        self._widgets = widgets
        self._typing = typing

    def click(self, node: UiNode) -> bool:
        """Click a node that is clickable."""
        key = pressed_key(node.widget)
        if key is not None:
            return self._typing.press_key(key)
        target = self._target(node)
        if target is None or not node.clickable:
            return False
        self._emit("TYPE_VIEW_CLICKED", target, node)
        self._widgets.tap(target)
        return True

    def long_click(self, node: UiNode) -> bool:
        """Long-press a node that is long-clickable."""
        target = self._target(node)
        if target is None or not node.long_clickable:
            return False
        self._emit("TYPE_VIEW_LONG_CLICKED", target, node)
        self._widgets.long_press(target)
        return True

    def focus(self, node: UiNode) -> bool:
        """Focus a node; this alone does not bring the keyboard up."""
        target = self._target(node)
        if target is None or not node.focusable:
            return False
        self._emit("TYPE_VIEW_FOCUSED", target, node)
        self._widgets.focus(target)
        return True

    def set_text(self, node: UiNode, text: str) -> bool:
        """Replace the text of a field."""
        target = self._target(node)
        if target is None or not node.editable:
            return False
        self._typing.replace(target, text, node)
        return True

    def _target(self, node: UiNode) -> Target | None:
        target = self._view.scene().targets.get(node.widget)
        return target if target is not None and target.enabled else None

    def _emit(self, type: EventType, target: Target, node: UiNode) -> None:
        self._changes.emit(type, page=target.page, source=node, texts=texts_of(node))
