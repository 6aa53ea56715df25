"""What an app does: the verbs of its file, and how its widgets answer to a touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytest_clawperator.simulator.screen.actions import links as prompts
from pytest_clawperator.simulator.screen.app_files.app_schema import Action, Opening
from pytest_clawperator.simulator.screen.app_files.expressions import Expression, Lookup, Value
from pytest_clawperator.simulator.screen.state.foreground import Stage
from pytest_clawperator.simulator.screen.state.page import Page, Target, path_of_field
from pytest_clawperator.simulator.screen.state.task import Task
from pytest_clawperator.simulator.screen.windows.widget_nodes import field_text, is_checked

_DEEPEST = 32
_LONGEST_TEXT = 10_000
_CHECKS = frozenset({"switch", "checkbox", "chip"})


class Actor:
    """Carries actions out on a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._depth = 0
        stage.run = self.run
        self._verbs: Mapping[str, Callable[[Task, Page, Lookup, Action], None]] = {
            "set": self._set,
            "add": self._add,
            "toggle": self._toggle,
            "append": self._append,
            "remove": self._remove,
            "navigate": self._navigate,
            "replace": self._navigate,
            "root": self._navigate,
            "back": lambda task, page, lookup, action: stage.pop(task),
            "finish": lambda task, page, lookup, action: stage.finish(task),
            "dialog": self._dialog,
            "dismiss": lambda task, page, lookup, action: stage.dismiss(page),
            "toast": self._toast,
            "snackbar": self._snackbar,
            "start_app": lambda task, page, lookup, action: self._start(action),
            "open_uri": self._open_uri,
            "home": lambda task, page, lookup, action: stage.switch(stage.go_home, owner=None),
            "focus": self._focus,
            "hide_keyboard": lambda task, page, lookup, action: self._hide_keyboard(),
            "request_permission": self._request,
            "crash": self._crash,
            "after": self._after,
            "if": self._if,
        }

    def run(self, task: Task, page: Page, lookup: Lookup, actions: Sequence[Action]) -> None:
        """Carry actions out in order; those after a crash are never reached."""
        if self._depth >= _DEEPEST:
            prompts.crash(
                self._stage, task, "java.lang.StackOverflowError: actions that call each other"
            )
            return
        self._depth += 1
        try:
            for action in actions:
                self._verbs[action.verb](task, page, lookup, action)
                if not task.running:
                    return
        finally:
            self._depth -= 1

    # -- Variables -----------------------------------------------------------------------------

    def _set(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        for name, value in action.values.items():
            if not isinstance(value, Mapping):
                empty = action.set is not None and action.set[name] == []
                task.state.assign(name, [] if empty else value.value(lookup))
        self._stage.changed()

    def _add(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        for name, expression in (action.add or {}).items():
            before, amount = task.state.lookup(name), expression(lookup)
            if isinstance(before, (int, float)) and isinstance(amount, (int, float)):
                task.state.assign(name, before + amount)
        self._stage.changed()

    def _toggle(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        name = str(action.toggle)
        task.state.assign(name, not task.state.lookup(name))
        self._stage.changed()

    def _append(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        for name, value in action.values.items():
            if isinstance(value, Mapping):
                record = {part: template.value(lookup) for part, template in value.items()}
                task.state.append(name, record)
            else:
                task.state.append(name, value.value(lookup))
        self._stage.changed()

    def _remove(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        for name, expression in (action.remove or {}).items():
            task.state.remove(name, expression(lookup))
        self._stage.changed()

    # -- Places --------------------------------------------------------------------------------

    def _navigate(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        opening: Opening = getattr(action, action.verb)
        self._stage.navigate(task, opening.to, _given(opening, lookup), how=action.verb)

    def _dialog(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        if action.dialog is not None:
            self._stage.show_dialog(task, action.dialog.to, _given(action.dialog, lookup))

    def _start(self, action: Action) -> None:
        package = str(action.start_app)
        owner = self._stage.tasks.get(package)
        self._stage.switch(lambda: self._stage.start(package), owner=owner)

    def _open_uri(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        if action.open_uri is not None:
            uri = action.open_uri.render(lookup)
            self._stage.switch(lambda: prompts.open_uri(self._stage, uri), owner=None)

    def _request(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        request = action.request_permission
        if request is None:
            return

        def answered(granted: bool) -> None:
            actions = request.on_granted if granted else request.on_denied
            self.run(task, page, lookup, actions)

        prompts.ask_permission(self._stage, task, request.permission, answered)

    def _crash(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        if action.crash is not None:
            prompts.crash(self._stage, task, action.crash.render(lookup))

    # -- Words, times, conditions -----------------------------------------------------------------

    def _toast(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        if action.toast is not None:
            self._stage.show_toast(task.app.package, action.toast.render(lookup))

    def _snackbar(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        shown_on = task.page or page
        if action.snackbar is not None:
            self._stage.show_snackbar(shown_on, action.snackbar.render(lookup))

    def _after(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        self._stage.later(task, task.page or page, lookup, action.after or 0.0, action.do)

    def _if(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        holds = action.condition is not None and bool(action.condition(lookup))
        self.run(task, page, lookup, action.then if holds else action.otherwise)

    def _focus(self, task: Task, page: Page, lookup: Lookup, action: Action) -> None:
        path = path_of_field(page.body, str(action.focus))
        if path is not None:
            self._stage.focus = (page, path)
            self._stage.keyboard.show()
            self._stage.changed()

    def _hide_keyboard(self) -> None:
        if self._stage.keyboard.hide():
            self._stage.changed()

    # -- Touches -----------------------------------------------------------------------------------

    def activate(self, target: Target) -> None:
        """Do what a tap on a widget does."""
        widget, page = target.widget, target.page
        if page.choose is not None:
            if widget.value is not None:
                page.choose(widget.value.render(target.lookup))
                self._stage.changed()
            return
        if widget.kind == "field":
            self.focus(target)
            self._stage.keyboard.show()
            self._stage.changed()
        changed = self._switch(target)
        self._run(target, widget.on_tap)
        if changed:
            self._run(target, widget.on_change)

    def hold(self, target: Target) -> None:
        """Do what a long press on a widget does."""
        if target.widget.kind == "field":
            self.focus(target)
        self._run(target, target.widget.on_long_press)

    def submit(self, target: Target) -> None:
        """Do what the keyboard's enter key does in a field."""
        if target.widget.multiline:
            self.write(target, self.text(target) + "\n")
            return
        self._hide_keyboard()
        self._run(target, target.widget.on_submit)

    def focus(self, target: Target) -> None:
        """Give a widget the focus; the keyboard stays only where it was up already."""
        self._stage.focus = (target.page, target.path)
        self._stage.changed()

    def text(self, target: Target) -> str:
        """Give what a field holds."""
        return field_text(target.page, target.path, target.widget, target.lookup)

    def write(self, target: Target, text: str) -> None:
        """Replace what a field holds."""
        if not target.widget.multiline:
            text = text.replace("\n", " ")
        text = text[:_LONGEST_TEXT]
        bound = target.widget.bind
        task = self._stage.tasks.get(target.page.package)
        if bound is not None and task is not None:
            task.state.assign(bound, text)
        else:
            target.page.texts[target.path] = text
        self._stage.changed()
        self._run(target, target.widget.on_change)

    def scrolled(self, target: Target, *, at_end: bool) -> None:
        """Do what an app wants done when a list was scrolled."""
        self._run(target, target.widget.on_scroll)
        if at_end:
            self._run(target, target.widget.on_end)

    def _run(self, target: Target, actions: Sequence[Action]) -> None:
        task = self._stage.tasks.get(target.page.package)
        if task is not None and actions:
            self.run(task, target.page, target.lookup, actions)

    def _switch(self, target: Target) -> bool:
        """Turn a switch over or choose among several; tell whether anything changed."""
        widget, page = target.widget, target.page
        task = self._stage.tasks.get(page.package)
        if task is None:
            return False
        if widget.kind in ("radio", "tab") and widget.bind is not None and widget.value is not None:
            before = task.state.lookup(widget.bind)
            task.state.assign(widget.bind, widget.value.value(target.lookup))
            self._stage.changed()
            return task.state.lookup(widget.bind) != before
        expression = widget.checked or widget.switch or widget.checkbox
        if expression is None:
            if widget.kind not in _CHECKS or widget.kind == "chip":
                return False
            page.checks[target.path] = not page.checks.get(target.path, False)
        elif not _flip(task, expression, target):
            return False
        self._stage.changed()
        return True


def _flip(task: Task, expression: Expression, target: Target) -> bool:
    """Turn the variable behind a switch over; an expression that is no variable stays."""
    name = expression.source.strip()
    known = name in task.app.state or name in task.app.saved
    if not expression.is_name or not known:
        return False
    on = is_checked(target.page, target.path, target.widget, target.lookup)
    task.state.assign(name, not on)
    return True


def _given(opening: Opening, lookup: Lookup) -> dict[str, Value]:
    return {name: template.value(lookup) for name, template in opening.values.items()}
