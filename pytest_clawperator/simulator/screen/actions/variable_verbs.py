"""The verbs of app files that change an app's variables."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.screen.actions.action_runner import Context, Verb
from pytest_clawperator.simulator.screen.app_files.action_schema import Action
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit, outer_kind
from pytest_clawperator.simulator.screen.state.changes import Changes


def variable_verbs(changes: Changes) -> dict[str, Verb]:
    """Return the verbs by name; each notes that the screen changed."""

    def noted(verb: Verb) -> Verb:
        def run(context: Context, action: Action) -> None:
            verb(context, action)
            changes.note()

        return run

    verbs: dict[str, Verb] = {
        "set": _set,
        "add": _add,
        "toggle": _toggle,
        "append": _append,
        "remove": _remove,
    }
    return {name: noted(verb) for name, verb in verbs.items()}


def _set(context: Context, action: Action) -> None:
    for name, value in action.values.items():
        if not isinstance(value, Mapping):
            empty = action.set is not None and action.set[name] == []
            context.task.state.assign(name, [] if empty else value.value(context.lookup))


def _add(context: Context, action: Action) -> None:
    state = context.task.state
    for name, expression in (action.add or {}).items():
        before, amount = state.lookup(name), expression(context.lookup)
        if not isinstance(before, (int, float)) or not isinstance(amount, (int, float)):
            found = f"{outer_kind(amount)}: {amount!r}"
            raise Misfit(f"`{name}: {expression.source}` needs a number, found {found}")
        state.assign(name, before + amount)


def _toggle(context: Context, action: Action) -> None:
    name = str(action.toggle)
    context.task.state.assign(name, not context.task.state.lookup(name))


def _append(context: Context, action: Action) -> None:
    state, lookup = context.task.state, context.lookup
    for name, value in action.values.items():
        if isinstance(value, Mapping):
            state.append(name, {part: entry.value(lookup) for part, entry in value.items()})
        else:
            state.append(name, value.value(lookup))


def _remove(context: Context, action: Action) -> None:
    for name, expression in (action.remove or {}).items():
        context.task.state.remove(name, expression(context.lookup))
