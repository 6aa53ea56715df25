"""What the user does to widgets: activate, long-press, scroll, type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_clawperator.simulator.apps.expressions import Expression
from pytest_clawperator.simulator.apps.kinds import Misfit, Value
from pytest_clawperator.simulator.apps.schema import DROPPED, Action
from pytest_clawperator.simulator.screen.accessibility import EventType, UiNode, texts_of
from pytest_clawperator.simulator.screen.display import Changes
from pytest_clawperator.simulator.screen.foreground import DELETE, ENTER
from pytest_clawperator.simulator.screen.items import Target
from pytest_clawperator.simulator.screen.navigation import Context, Navigation
from pytest_clawperator.simulator.screen.phone_state import PhoneState
from pytest_clawperator.simulator.screen.tasks import Task, field_text, is_checked
from pytest_clawperator.simulator.screen.windows import View, pressed_key

_LONGEST_TEXT = 10_000
_CHECKS_WITHOUT_VARIABLE = frozenset({"switch", "checkbox"})


class WidgetActions:
    """Changes what widgets hold and runs the actions that they declare."""

    def __init__(self, state: PhoneState, navigation: Navigation) -> None:
        self._tasks = state.tasks
        self._changes = state.changes
        self._focus = state.foreground.focus
        self._navigation = navigation

    def tap(self, target: Target) -> None:
        """Do what a tap on a widget does."""
        widget, page = target.widget, target.page
        if page.choose is not None:
            if widget.value is not None:
                page.choose(widget.value.render(target.lookup))
                self._changes.note()
            return
        if widget.kind == "field":
            self._focus.move_to(page, target.path, show_keyboard=True)
        changed = self._toggle(target)
        self._run(target, widget.on_tap)
        if changed:
            self._run(target, widget.on_change)

    def long_press(self, target: Target) -> None:
        """Do what a long press on a widget does."""
        if target.widget.kind == "field":
            self.focus(target)
        self._run(target, target.widget.on_long_press)

    def double_tap(self, target: Target) -> None:
        """Do what the second of two quick taps on a widget does."""
        self._run(target, target.widget.on_double_tap)

    def swiped(self, target: Target, *, left: bool) -> None:
        """Do what a swipe sideways over a widget does."""
        widget = target.widget
        self._run(target, widget.on_swipe_left if left else widget.on_swipe_right)

    def drop(self, dragged: Target, target: Target) -> None:
        """Do what dropping a widget on another one does."""
        template = dragged.widget.drag
        value = "" if template is None else template.value(dragged.lookup)

        def lookup(name: str) -> Value:
            return value if name == DROPPED else target.lookup(name)

        self._run(replace(target, lookup=lookup), target.widget.on_drop)

    def submit(self, target: Target) -> None:
        """Do what the keyboard's enter key does in a field."""
        if target.widget.multiline:
            self.write(target, self.text(target) + "\n")
            return
        self._focus.hide_keyboard()
        self._run(target, target.widget.on_submit)

    def focus(self, target: Target) -> None:
        """Focus a widget; the keyboard stays up or down as it is."""
        self._focus.move_to(target.page, target.path)

    def text(self, target: Target) -> str:
        """Return the text of a field."""
        return field_text(target.page, target.path, target.widget, target.lookup)

    def write(self, target: Target, text: str) -> None:
        """Replace the text of a field."""
        if not target.widget.multiline:
            text = text.replace("\n", " ")
        text = text[:_LONGEST_TEXT]
        bound = target.widget.bind
        task = self._tasks.get(target.page.package)
        if bound is not None and task is not None:
            task.state.assign(bound, text)
        else:
            target.page.texts[target.path] = text
        self._changes.note()
        self._run(target, target.widget.on_change)

    def scrolled(self, target: Target, *, at_end: bool) -> None:
        """Run what an app wants done after a list was scrolled."""
        self._run(target, target.widget.on_scroll)
        if at_end:
            self._run(target, target.widget.on_end)

    def _run(self, target: Target, actions: Sequence[Action]) -> None:
        task = self._tasks.get(target.page.package)
        if task is not None and actions:
            self._navigation.run(Context(task, target.page, target.lookup), actions)

    def _toggle(self, target: Target) -> bool:
        """Toggle a switch, or choose one of several; return whether anything changed."""
        widget, page = target.widget, target.page
        task = self._tasks.get(page.package)
        if task is None:
            return False
        if widget.kind in ("radio", "tab") and widget.bind is not None and widget.value is not None:
            before = task.state.lookup(widget.bind)
            try:
                task.state.assign(widget.bind, widget.value.value(target.lookup))
            except Misfit as misfit:
                task.state.complain(f"`{widget.kind}` does not change `{widget.bind}`: {misfit}")
            self._changes.note()
            return task.state.lookup(widget.bind) != before
        expression = widget.checked or widget.switch or widget.checkbox
        if expression is None:
            if widget.kind not in _CHECKS_WITHOUT_VARIABLE:
                return False
            page.checks[target.path] = not page.checks.get(target.path, False)
        elif not _toggle_variable(task, expression, target):
            if not widget.on_tap and widget.kind != "chip":
                task.state.complain(
                    f"a tap on a {widget.kind} changes nothing: `{expression.source}` is not"
                    " a variable; name one, or use `on_tap`"
                )
            return False
        self._changes.note()
        return True


def _toggle_variable(task: Task, expression: Expression, target: Target) -> bool:
    """Toggle the variable behind a switch; False for any other expression."""
    name = expression.source.strip()
    known = name in task.app.state or name in task.app.saved
    if not expression.is_name or not known:
        return False
    on = is_checked(target.page, target.path, target.widget, target.lookup)
    task.state.assign(name, not on)
    return True


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
        """Replace the text of a field, and emit the event about its node."""
        shown = "•" * len(text) if target.widget.password else text
        self._widgets.write(target, text)
        self._changes.emit(
            "TYPE_VIEW_TEXT_CHANGED", page=target.page, source=node, texts=[shown] if shown else []
        )

    def _focused_target(self) -> Target | None:
        """Return the focused widget, unless it is disabled or has gone."""
        target = self._view.scene().targets.get(self._foreground.focus.widget or "")
        return target if target is not None and target.enabled else None


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
