"""The verbs of app files: what each of them does."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.action_runner import ActionRunner, Context, Verb
from pytest_clawperator.simulator.screen.actions.crashes import Crashes
from pytest_clawperator.simulator.screen.actions.fetching import fetch
from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.actions.links import Links
from pytest_clawperator.simulator.screen.actions.messages import show_snackbar, show_toast
from pytest_clawperator.simulator.screen.actions.navigation import Navigation
from pytest_clawperator.simulator.screen.actions.permission_requests import request_permission
from pytest_clawperator.simulator.screen.actions.variable_verbs import variable_verbs
from pytest_clawperator.simulator.screen.app_files.action_schema import Action, Opening
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit
from pytest_clawperator.simulator.screen.app_files.language.values import Lookup, Value
from pytest_clawperator.simulator.screen.state.page_widgets import path_of_field
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState


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
