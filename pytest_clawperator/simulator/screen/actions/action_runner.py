"""Running the actions of an app file, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.language.expressions import Template
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit
from pytest_clawperator.simulator.screen.app_files.language.values import Lookup
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.task import Task

_DEEPEST = 32
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
        """Tell that an action could not be done."""
        where = f"{action.place}: " if action.place else ""
        self.task.state.complain(f"{where}`{action.verb}` does nothing: {problem}")

    @classmethod
    def of_page(cls, task: Task, page: Page) -> Context:
        """Return the context of a page's own actions, such as ``on_open``."""
        return cls(task, page, page.lookup)


Verb = Callable[[Context, Action], None]


class ActionRunner:
    """Runs actions by the table ``verbs``, which ``actions.verbs`` fills.

    A verb that cannot be done raises a Misfit, which the app's log tells.
    """

    def __init__(self) -> None:
        self.verbs: dict[str, Verb] = {}
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
