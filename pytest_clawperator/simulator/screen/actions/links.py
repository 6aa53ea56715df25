"""Deep links: which apps handle one, and opening it in one of them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from pytest_clawperator.simulator.screen.actions.navigation import Navigation
from pytest_clawperator.simulator.screen.app_files.app_schema import App, Link
from pytest_clawperator.simulator.screen.state import system_pages
from pytest_clawperator.simulator.screen.state.app_state import with_locals
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState
from pytest_clawperator.simulator.screen.state.task import Task

_Handler = tuple[Task, Link, dict[str, str]]


class Links:
    """Opens links, and asks which app to use where several handle one."""

    def __init__(self, state: PhoneState, navigation: Navigation) -> None:
        self._tasks = state.tasks
        self._timeline = state.timeline
        self._foreground = state.foreground
        self._navigation = navigation
        # The app that the user chose for always, by scheme.
        self._preferred: dict[str, str] = {}

    def handlers(self, uri: str, *, package: str | None = None) -> list[str]:
        """List the packages of the apps that handle a link."""
        return [task.app.package for task, _, _ in self._handlers(uri, package)]

    def open_uri(self, uri: str, *, package: str | None = None) -> bool:
        """Open a link in the app that handles it, or ask which; False where none does."""
        if not self._handlers(uri, package):
            return False
        self._foreground.switch_app(lambda: self._open(uri, package), owner=self)
        return True

    def _handlers(self, uri: str, package: str | None) -> list[_Handler]:
        return [
            (task, link, values)
            for task in self._tasks.values()
            if package in (None, task.app.package)
            for link, values in [_link_for(task.app, uri)]
            if link is not None
        ]

    def _open(self, uri: str, package: str | None) -> None:
        handlers = self._handlers(uri, package)
        scheme = uri.partition(":")[0].lower()
        preferred = self._preferred.get(scheme)
        chosen = [found for found in handlers if found[0].app.package == preferred] or handlers
        if len(chosen) == 1:
            self._follow(*chosen[0])
        elif chosen:
            self._ask(handlers, scheme)

    def _ask(self, handlers: list[_Handler], scheme: str) -> None:
        def choose(choice: str) -> None:
            how, _, name = choice.partition(" ")
            if how == "always":
                self._preferred[scheme] = name
            self._foreground.chooser = None
            for handler in handlers:
                if handler[0].app.package == name:
                    self._follow(*handler)

        apps = [task.app for task, _, _ in handlers]
        page = system_pages.chooser_page(apps, now=self._timeline.now, choose=choose)
        self._foreground.chooser = page
        self._foreground.page_appeared(page)

    def _follow(self, task: Task, link: Link, found: Mapping[str, str]) -> None:
        lookup = with_locals(task.state.lookup, found)
        given = {name: template.value(lookup) for name, template in link.values.items()}
        self._navigation.open_screen(task, link.screen, {**found, **given})


def _link_for(app: App, uri: str) -> tuple[Link | None, dict[str, str]]:
    for link in app.links:
        found = link.pattern.match(uri)
        if found is not None:
            return link, {name: unquote(value) for name, value in found.groupdict().items()}
    return None, {}
