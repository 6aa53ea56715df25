"""Typing into the focused field, with the on-screen keyboard or without."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.state.keyboard import DELETE, ENTER
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.user_input.widget_actions import WidgetActions
from pytest_clawperator.simulator.screen.windows.targets import Target
from pytest_clawperator.simulator.screen.windows.view import View


class TextEntry:
    """What keys that type do; without a focused field they do nothing."""

    def __init__(self, state: PhoneState, *, view: View, widgets: WidgetActions) -> None:
        self._changes = state.changes
        self._foreground = state.foreground
        self._view = view
        self._widgets = widgets

    def type_text(self, text: str) -> None:
        """Type at the end of the focused field."""
        target = self._focused_target()
        if target is not None and target.widget.kind == "field":
            self.replace(target, self._widgets.text(target) + text, self._view.focused_node())

    def backspace(self) -> None:
        """Delete the last character of the focused field."""
        target = self._focused_target()
        if target is not None and target.widget.kind == "field":
            self.replace(target, self._widgets.text(target)[:-1], self._view.focused_node())

    def enter(self) -> None:
        """Submit the focused field, or tap what else has the focus."""
        target = self._focused_target()
        if target is None:
            return
        if target.widget.kind == "field":
            self._widgets.submit(target)
        else:
            self._widgets.tap(target)

    def press_key(self, key: str) -> bool:
        """Press a key of the on-screen keyboard; False where the keyboard is not up."""
        if not self._foreground.keyboard_is_up():
            return False
        typed = self._foreground.focus.keyboard.press(key)
        self._changes.note(content=False)
        if typed == ENTER:
            self.enter()
        elif typed == DELETE:
            self.backspace()
        elif typed is not None:
            self.type_text(typed)
        return True

    def replace(self, target: Target, text: str, node: UiNode | None) -> None:
        """Replace the text of a field, and say so in an event about its node."""
        shown = "•" * len(text) if target.widget.password else text
        self._widgets.write(target, text)
        self._changes.emit(
            "TYPE_VIEW_TEXT_CHANGED", page=target.page, source=node, texts=[shown] if shown else []
        )

    def _focused_target(self) -> Target | None:
        """Return the focused widget, unless it is disabled or has gone."""
        target = self._view.scene().targets.get(self._foreground.focus.widget or "")
        return target if target is not None and target.enabled else None
