"""An installed app: its variables, whether it runs, and its stack of screens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_clawperator.simulator.screen.app_files.app_schema import App, Dialog, Screen
from pytest_clawperator.simulator.screen.app_files.language.kinds import Misfit
from pytest_clawperator.simulator.screen.app_files.language.values import Value
from pytest_clawperator.simulator.screen.state.app_state import AppState, coerced, with_locals
from pytest_clawperator.simulator.screen.state.page import Page

_DEEPEST = 200


@dataclass(eq=False)
class Task:
    """One app and its back stack; the last page of the stack is the one that shows."""

    app: App
    state: AppState
    stack: list[Page] = field(default_factory=list)
    running: bool = False
    prompt: Page | None = None

    @property
    def page(self) -> Page | None:
        """The page that shows when the app is in front."""
        return self.stack[-1] if self.stack else None

    def screen(self, name: str, values: Mapping[str, Value], *, now: float) -> Page:
        """Make the page of a screen; it is not on the stack yet."""
        screen = self.app.screens[name]
        activity = self.app.full_activity(screen.activity)
        return self._page(name, screen, activity, values, now)

    def dialog(self, name: str, values: Mapping[str, Value], *, now: float) -> Page:
        """Make the page of a dialog; it does not show yet."""
        page = self.page
        activity = self.app.full_activity() if page is None else page.activity
        return self._page(f"dialog:{name}", self.app.dialogs[name], activity, values, now)

    def _page(
        self,
        name: str,
        body: Screen | Dialog,
        activity: str,
        values: Mapping[str, Value],
        now: float,
    ) -> Page:
        args = {
            arg: self._argument(f"{name}.{arg}", values.get(arg, default), default)
            for arg, default in body.args.items()
        }
        lookup = with_locals(self.state.lookup, args)
        return Page(self.app.package, name, body, activity, now, lookup, args)

    def _argument(self, name: str, value: Value, default: Value) -> Value:
        try:
            given: Value = coerced(value, default)
        except Misfit as misfit:
            self.state.complain(f"{self.app.name}: `{name}` stays {default!r}: {misfit}")
            return default
        return given

    def push(self, page: Page) -> Page | None:
        """Put a page on top; return the one that a full stack dropped at the bottom."""
        self.stack.append(page)
        return self.stack.pop(0) if len(self.stack) > _DEEPEST else None

    def kill(self) -> None:
        """End the process: pages and whatever was only in memory are gone."""
        self.stack.clear()
        self.running = False
        self.prompt = None
        self.state.forget()
