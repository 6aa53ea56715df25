"""What an app does with what it gets from the web."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.action_runner import ActionRunner, Context
from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.web import WebAnswer


def fetch(state: PhoneState, runner: ActionRunner, context: Context, action: Action) -> None:
    """Ask for an address; what follows the answer happens unless the page has gone by then."""
    wanted = action.fetch
    if wanted is None:
        return

    def answered(answer: WebAnswer) -> None:
        # Who calls back does not look at the screen, so the time that passed is told here.
        state.timeline.advance()
        pages = [each for page in context.task.stack for each in (page, *page.dialogs)]
        if context.page not in pages:
            return
        if answer.problem:
            context.complain(action, answer.problem)
        elif wanted.into is not None:
            try:
                context.task.state.assign(wanted.into, answer.text)
            except Misfit as misfit:
                context.complain(action, str(misfit))
        runner.run(context, wanted.on_failure if answer.problem else wanted.on_answer)
        state.changes.note()

    state.fetch(wanted.url.render(context.lookup), answered)
