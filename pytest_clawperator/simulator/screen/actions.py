"""The verbs of app files: what each action does to the phone."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.apps.kinds import Lookup, Misfit, Value, outer_kind
from pytest_clawperator.simulator.apps.schema import VERBS, Action, Opening
from pytest_clawperator.simulator.screen.launching import Launching, Links
from pytest_clawperator.simulator.screen.navigation import Context, Navigation, Verb
from pytest_clawperator.simulator.screen.phone_state import PhoneState, Toast, WebAnswer
from pytest_clawperator.simulator.screen.system_pages import permission_page
from pytest_clawperator.simulator.screen.tasks import path_of_field

SNACKBAR_SECONDS = 2.75
TOAST_SECONDS = 3.5


class Verbs:
    """The verbs, over the parts of the phone that they use; each has the method of its name."""

    def __init__(
        self,
        state: PhoneState,
        navigation: Navigation,
        *,
        launching: Launching,
        links: Links,
    ) -> None:
        self._state = state
        self._navigation = navigation
        self._launching = launching
        self._links = links

    def table(self) -> dict[str, Verb]:
        """Return all verbs by name."""
        return {verb: getattr(self, f"_{verb}") for verb in VERBS}

    # -- Variables -----------------------------------------------------------------------------

    def _set(self, context: Context, action: Action) -> None:
        for name, value in action.values.items():
            if not isinstance(value, Mapping):
                empty = action.set is not None and action.set[name] == []
                context.task.state.assign(name, [] if empty else value.value(context.lookup))
        self._state.changes.note()

    def _add(self, context: Context, action: Action) -> None:
        state = context.task.state
        for name, expression in (action.add or {}).items():
            before, amount = state.lookup(name), expression(context.lookup)
            if not isinstance(before, (int, float)) or not isinstance(amount, (int, float)):
                found = f"{outer_kind(amount)}: {amount!r}"
                raise Misfit(f"`{name}: {expression.source}` needs a number, found {found}")
            state.assign(name, before + amount)
        self._state.changes.note()

    def _toggle(self, context: Context, action: Action) -> None:
        name = str(action.toggle)
        context.task.state.assign(name, not context.task.state.lookup(name))
        self._state.changes.note()

    def _append(self, context: Context, action: Action) -> None:
        state, lookup = context.task.state, context.lookup
        for name, value in action.values.items():
            if isinstance(value, Mapping):
                state.append(name, {part: entry.value(lookup) for part, entry in value.items()})
            else:
                state.append(name, value.value(lookup))
        self._state.changes.note()

    def _remove(self, context: Context, action: Action) -> None:
        for name, expression in (action.remove or {}).items():
            context.task.state.remove(name, expression(context.lookup))
        self._state.changes.note()

    # -- Screens, dialogs and apps -------------------------------------------------------------

    def _navigate(self, context: Context, action: Action) -> None:
        opening: Opening = getattr(action, action.verb)
        values = _values(opening, context.lookup)
        self._navigation.navigate(context.task, opening.to, values, how=action.verb)

    _replace = _root = _navigate

    def _back(self, context: Context, action: Action) -> None:
        self._navigation.close_screen(context.task)

    def _finish(self, context: Context, action: Action) -> None:
        self._navigation.finish(context.task)

    def _dialog(self, context: Context, action: Action) -> None:
        assert action.dialog is not None
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
        assert action.open_uri is not None
        uri = action.open_uri.render(context.lookup)
        if not self._links.open_uri(uri):
            raise Misfit(f"no app handles {uri!r}")

    def _crash(self, context: Context, action: Action) -> None:
        assert action.crash is not None
        self._launching.crash(context.task, action.crash.render(context.lookup))

    # -- What shows for a while, or asks -------------------------------------------------------

    def _snackbar(self, context: Context, action: Action) -> None:
        assert action.snackbar is not None
        state, page = self._state, context.task.page or context.page
        text = page.snackbar = action.snackbar.render(context.lookup)
        state.changes.note()

        def vanish() -> None:
            if page.snackbar is text:
                page.snackbar = None
            state.changes.note()

        state.timeline.after(SNACKBAR_SECONDS, vanish, owner=page)

    def _toast(self, context: Context, action: Action) -> None:
        """Show a text over everything; it is not part of any app's window."""
        assert action.toast is not None
        state = self._state
        toast = state.toast = Toast(context.task.app.package, action.toast.render(context.lookup))
        state.changes.note()
        state.changes.emit(
            "TYPE_NOTIFICATION_STATE_CHANGED", package=toast.package, texts=[toast.text]
        )

        def vanish() -> None:
            if state.toast is toast:
                state.toast = None
            state.changes.note()

        state.timeline.after(TOAST_SECONDS, vanish, owner=state)

    def _request_permission(self, context: Context, action: Action) -> None:
        """Ask for a permission, unless the answer is known already."""
        request, state, task = action.request_permission, self._state, context.task
        assert request is not None
        package, permission, permissions = task.app.package, request.permission, state.permissions
        if permission in permissions.granted(package):
            self._navigation.run(context, request.on_granted)
            return
        if not permissions.may_ask(package, permission):
            self._navigation.run(context, request.on_denied)
            return

        def choose(choice: str) -> None:
            task.prompt = None
            if choice == "allow":
                permissions.grant(package, permission)
            else:
                permissions.refuse(package, permission)
            state.foreground.page_closed()
            self._navigation.run(
                context, request.on_granted if choice == "allow" else request.on_denied
            )

        task.prompt = permission_page(task.app, permission, now=state.timeline.now, choose=choose)
        state.foreground.page_opened(task, task.prompt)

    def _fetch(self, context: Context, action: Action) -> None:
        """Ask for an address; what follows the answer happens unless the page has gone by then."""
        wanted, state = action.fetch, self._state
        assert wanted is not None

        def answered(answer: WebAnswer) -> None:
            # The caller does not look at the screen, so the time that passed is caught up here.
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
            self._navigation.run(context, wanted.on_failure if answer.problem else wanted.on_answer)
            state.changes.note()

        state.fetch(wanted.url.render(context.lookup), answered)

    def _focus(self, context: Context, action: Action) -> None:
        page = context.page
        path = path_of_field(page.body, str(action.focus))
        if path is None:
            raise Misfit(f"this page has no field with the id `{action.focus}`")
        self._state.foreground.focus.move_to(page, path, show_keyboard=True)

    def _hide_keyboard(self, context: Context, action: Action) -> None:
        self._state.foreground.focus.hide_keyboard()

    # -- Actions within actions ----------------------------------------------------------------

    def _after(self, context: Context, action: Action) -> None:
        page = context.task.page or context.page
        later = Context(context.task, page, context.lookup)
        self._navigation.run_later(later, action.after or 0.0, action.do)

    def _if(self, context: Context, action: Action) -> None:
        holds = action.condition is not None and bool(action.condition(context.lookup))
        self._navigation.run(context, action.then if holds else action.otherwise)


def _values(opening: Opening, lookup: Lookup) -> dict[str, Value]:
    return {name: template.value(lookup) for name, template in opening.values.items()}
