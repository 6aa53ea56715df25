"""Run the actions of an app file, and move between the screens and dialogs of an app."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clawperator.simulator.apps.expressions import Template
from pytest_clawperator.simulator.apps.kinds import Lookup, Misfit, Value
from pytest_clawperator.simulator.apps.schema import Action
from pytest_clawperator.simulator.screen.phone_state import PhoneState
from pytest_clawperator.simulator.screen.tasks import Page, Task

_DEEPEST = 32
_FRAME = 0.016  # seconds
_OVERFLOW = Action.model_construct(
    crash=Template("java.lang.StackOverflowError: actions that call each other")
)


@dataclass(frozen=True, eq=False)
class Context:
    """Where actions run: the app, the page they belong to, and the names known there."""

    task: Task
    page: Page
    lookup: Lookup

    def complain(self, action: Action, problem: str) -> None:
        """Log that an action could not be done."""
        where = f"{action.place}: " if action.place else ""
        self.task.state.complain(f"{where}`{action.verb}` does nothing: {problem}")

    @classmethod
    def of_page(cls, task: Task, page: Page) -> Context:
        """Return the context of a page's own actions, such as ``on_open``."""
        return cls(task, page, page.lookup)


Verb = Callable[[Context, Action], None]


class Navigation:
    """Runs the actions of apps, and changes the stack of screens of one app at a time.

    ``verbs`` has what each action does, filled by ``actions.Verbs``. A verb that cannot be done
    raises a Misfit, which goes to the app's log.
    """

    def __init__(self, state: PhoneState) -> None:
        self.verbs: dict[str, Verb] = {}
        self._tasks = state.tasks
        self._timeline = state.timeline
        self._foreground = state.foreground
        self._depth = 0

    def run(self, context: Context, actions: Sequence[Action]) -> None:
        """Run actions in order; those after a crash are never reached."""
        if self._depth >= _DEEPEST:
            actions = (_OVERFLOW,)
        self._depth += 1
        try:
            for action in actions:
                try:
                    self.verbs[action.verb](context, action)
                except Misfit as misfit:
                    context.complain(action, str(misfit))
                if not context.task.running:
                    return
        finally:
            self._depth -= 1

    # -- Screens -------------------------------------------------------------------------------

    def open_screen(self, task: Task, screen: str, values: Mapping[str, Value]) -> None:
        """Open a screen on top of an app's stack, and bring the app to the front."""
        task.running = True
        page, top = task.screen(screen, values, now=self._timeline.now), task.page
        if top is not None and (top.name, top.args) == (page.name, page.args):
            self._foreground.bring_to_front(task.app.package)
            return
        self._push(task, page)
        self._foreground.bring_to_front(task.app.package)
        self._run_opening_actions(task, page)

    def navigate(self, task: Task, screen: str, values: Mapping[str, Value], *, how: str) -> None:
        """Go to a screen: ``navigate`` on top, ``replace`` instead, ``root`` as the only one."""
        if how == "replace" and task.stack:
            self._timeline.cancel(task.stack.pop())
        elif how == "root":
            self._close_all(task)
        page = task.screen(screen, values, now=self._timeline.now)
        self._push(task, page)
        self._foreground.page_opened(task, page)
        self._run_opening_actions(task, page)

    def _push(self, task: Task, page: Page) -> None:
        dropped = task.push(page)
        if dropped is not None:
            self._timeline.cancel(dropped)

    def _run_opening_actions(self, task: Task, page: Page) -> None:
        body = task.app.screens[page.name]
        context = Context.of_page(task, page)
        self.run(context, body.on_open)
        for timer in body.timers if page in task.stack else ():
            self.run_later(context, timer.after, timer.do, condition=timer.condition)

    def run_later(
        self,
        context: Context,
        delay: float,
        actions: Sequence[Action],
        *,
        condition: Callable[[Lookup], Value] | None = None,
    ) -> None:
        """Run actions after a while, unless their page has gone by then."""

        def act() -> None:
            if condition is None or condition(context.lookup):
                self.run(context, actions)

        # What plans itself again without a pause would leave no time for anything else.
        self._timeline.after(max(delay, _FRAME), act, owner=context.page)

    def close_screen(self, task: Task) -> None:
        """Go back one screen; from the last one out of the app, which stays alive behind."""
        if len(task.stack) > 1:
            self._timeline.cancel(task.stack.pop())
            self._foreground.page_opened(task, task.stack[-1])
        else:
            package = task.app.package
            self._foreground.switch_app(lambda: self._foreground.send_behind(package), owner=task)

    def finish(self, task: Task) -> None:
        """Close all screens of an app; its process goes on."""
        self._close_all(task)
        self._foreground.remove(task.app.package)

    def _close_all(self, task: Task) -> None:
        while task.stack:
            self._timeline.cancel(task.stack.pop())

    # -- Dialogs -------------------------------------------------------------------------------

    def show_dialog(self, task: Task, name: str, values: Mapping[str, Value]) -> None:
        """Show a dialog over the app's current screen."""
        if task.page is not None:
            dialog = task.dialog(name, values, now=self._timeline.now)
            task.page.dialogs.append(dialog)
            self._foreground.page_opened(task, dialog)

    def close_dialog(self, page: Page) -> bool:
        """Close a dialog, or, given a screen, its uppermost dialog; False if there is none."""
        closed = False
        for task in self._tasks.values():
            for screen in task.stack:
                if page in screen.dialogs:
                    screen.dialogs.remove(page)
                    closed = True
                elif page is screen and screen.dialogs:
                    screen.dialogs.pop()
                    closed = True
        self._foreground.page_closed()
        return closed

    def cancel_dialog(self, task: Task, page: Page) -> None:
        """Close a dialog without an answer, unless it insists on one."""
        dialog = task.app.dialogs[page.name.removeprefix("dialog:")]
        if dialog.cancelable:
            self.close_dialog(page)
            self.run(Context.of_page(task, page), dialog.on_cancel)

    # -- Back ----------------------------------------------------------------------------------

    def back(self, task: Task) -> None:
        """Do what the back key does inside an app."""
        page = task.page
        if page is None:
            return
        if page.dialogs:
            self.cancel_dialog(task, page.dialogs[-1])
        elif on_back := getattr(page.body, "on_back", ()):
            self.run(Context.of_page(task, page), on_back)
        else:
            self.close_screen(task)
