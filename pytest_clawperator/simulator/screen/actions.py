"""The verbs of app files: what each action does to the phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.apps.kinds import Lookup, Misfit, Value, outer_kind
from pytest_clawperator.simulator.apps.schema import Action, Opening
from pytest_clawperator.simulator.screen.display import Changes
from pytest_clawperator.simulator.screen.launching import (
    AppProcesses,
    Crashes,
    InstalledApps,
    Launching,
    Links,
)
from pytest_clawperator.simulator.screen.navigation import ActionRunner, Context, Navigation, Verb
from pytest_clawperator.simulator.screen.phone_state import PhoneState, Toast, WebAnswer
from pytest_clawperator.simulator.screen.system_pages import permission_page
from pytest_clawperator.simulator.screen.tasks import Page, Task, path_of_field


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


SNACKBAR_SECONDS = 2.75
TOAST_SECONDS = 3.5


def show_snackbar(state: PhoneState, page: Page, text: str) -> None:
    """Show a text at the foot of a page."""
    page.snackbar = text
    state.changes.note()

    def vanish() -> None:
        if page.snackbar is text:
            page.snackbar = None
        state.changes.note()

    state.timeline.after(SNACKBAR_SECONDS, vanish, owner=page)


def show_toast(state: PhoneState, package: str, text: str) -> None:
    """Show a text over everything; it is no part of any app's window."""
    toast = state.toast = Toast(package, text)
    state.changes.note()
    state.changes.emit("TYPE_NOTIFICATION_STATE_CHANGED", package=package, texts=[text])

    def vanish() -> None:
        if state.toast is toast:
            state.toast = None
        state.changes.note()

    state.timeline.after(TOAST_SECONDS, vanish, owner=state)


def request_permission(
    state: PhoneState, task: Task, permission: str, *, answered: Callable[[bool], None]
) -> None:
    """Ask for a permission, unless the answer is known already; ``answered`` gets the answer."""
    package, permissions = task.app.package, state.permissions
    if permission in permissions.granted(package):
        answered(True)
        return
    if not permissions.may_ask(package, permission):
        answered(False)
        return

    def choose(choice: str) -> None:
        task.prompt = None
        if choice == "allow":
            permissions.grant(package, permission)
        else:
            permissions.refuse(package, permission)
        state.foreground.page_closed()
        answered(choice == "allow")

    task.prompt = permission_page(task.app, permission, now=state.timeline.now, choose=choose)
    state.foreground.page_opened(task, task.prompt)


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


class Verbs:
    """The verbs, over the parts of the phone that they use."""

    def __init__(
        self,
        state: PhoneState,
        runner: ActionRunner,
        *,
        navigation: Navigation,
        launching: Launching,
        links: Links,
        crashes: Crashes,
    ) -> None:
        self._state = state
        self._runner = runner
        self._navigation = navigation
        self._launching = launching
        self._links = links
        self._crashes = crashes

    def table(self) -> dict[str, Verb]:
        """Return all verbs by name."""
        navigation, focus = self._navigation, self._state.foreground.focus
        return {
            **variable_verbs(self._state.changes),
            "navigate": self._navigate,
            "replace": self._navigate,
            "root": self._navigate,
            "back": lambda context, action: navigation.close_screen(context.task),
            "finish": lambda context, action: navigation.finish(context.task),
            "dialog": self._dialog,
            "dismiss": self._dismiss,
            "toast": self._toast,
            "snackbar": self._snackbar,
            "start_app": self._start_app,
            "open_uri": self._open_uri,
            "home": self._home,
            "focus": self._focus,
            "hide_keyboard": lambda context, action: focus.hide_keyboard(),
            "request_permission": self._request_permission,
            "fetch": lambda context, action: fetch(self._state, self._runner, context, action),
            "crash": self._crash,
            "after": self._after,
            "if": self._if,
        }

    def _navigate(self, context: Context, action: Action) -> None:
        opening: Opening = getattr(action, action.verb)
        values = _values(opening, context.lookup)
        self._navigation.navigate(context.task, opening.to, values, how=action.verb)

    def _dialog(self, context: Context, action: Action) -> None:
        if action.dialog is not None:
            if context.task.page is None:
                raise Misfit("the app shows no screen any more")
            values = _values(action.dialog, context.lookup)
            self._navigation.show_dialog(context.task, action.dialog.to, values)

    def _dismiss(self, context: Context, action: Action) -> None:
        if not self._navigation.close_dialog(context.page):
            raise Misfit("no dialog is open")

    def _start_app(self, context: Context, action: Action) -> None:
        package = str(action.start_app)
        if not self._launching.start_app(package):
            raise Misfit(f"there is no app {package} that could be started")

    def _home(self, context: Context, action: Action) -> None:
        self._launching.home()

    def _open_uri(self, context: Context, action: Action) -> None:
        if action.open_uri is not None:
            uri = action.open_uri.render(context.lookup)
            if not self._links.open_uri(uri):
                raise Misfit(f"no app handles {uri!r}")

    def _request_permission(self, context: Context, action: Action) -> None:
        request = action.request_permission
        if request is None:
            return

        def answered(granted: bool) -> None:
            self._runner.run(context, request.on_granted if granted else request.on_denied)

        request_permission(self._state, context.task, request.permission, answered=answered)

    def _crash(self, context: Context, action: Action) -> None:
        if action.crash is not None:
            self._crashes.crash(context.task, action.crash.render(context.lookup))

    def _toast(self, context: Context, action: Action) -> None:
        if action.toast is not None:
            package = context.task.app.package
            show_toast(self._state, package, action.toast.render(context.lookup))

    def _snackbar(self, context: Context, action: Action) -> None:
        if action.snackbar is not None:
            page = context.task.page or context.page
            show_snackbar(self._state, page, action.snackbar.render(context.lookup))

    def _after(self, context: Context, action: Action) -> None:
        page = context.task.page or context.page
        later = Context(context.task, page, context.lookup)
        self._navigation.run_later(later, action.after or 0.0, action.do)

    def _if(self, context: Context, action: Action) -> None:
        holds = action.condition is not None and bool(action.condition(context.lookup))
        self._runner.run(context, action.then if holds else action.otherwise)

    def _focus(self, context: Context, action: Action) -> None:
        page = context.page
        path = path_of_field(page.body, str(action.focus))
        if path is None:
            raise Misfit(f"this page has no field with the id `{action.focus}`")
        self._state.foreground.focus.move_to(page, path, show_keyboard=True)


def _values(opening: Opening, lookup: Lookup) -> dict[str, Value]:
    return {name: template.value(lookup) for name, template in opening.values.items()}


class PhoneActions:
    """The parts of ``actions`` for one phone."""

    def __init__(self, state: PhoneState) -> None:
        self.runner = ActionRunner()
        self.navigation = Navigation(state, self.runner)
        self.processes = AppProcesses(state)
        self.launching = Launching(state, navigation=self.navigation, processes=self.processes)
        self.links = Links(state, self.navigation)
        self.apps = InstalledApps(state, processes=self.processes, launching=self.launching)
        verbs = Verbs(
            state,
            self.runner,
            navigation=self.navigation,
            launching=self.launching,
            links=self.links,
            crashes=Crashes(state, processes=self.processes, launching=self.launching),
        )
        self.runner.verbs = verbs.table()
