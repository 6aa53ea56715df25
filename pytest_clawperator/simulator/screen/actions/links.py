"""What Android asks or tells above an app: which app for a link, permissions, crashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import unquote

from pytest_clawperator.simulator.screen.app_files.app_schema import App, Link
from pytest_clawperator.simulator.screen.state import system_pages
from pytest_clawperator.simulator.screen.state.app_state import with_locals
from pytest_clawperator.simulator.screen.state.foreground import Stage
from pytest_clawperator.simulator.screen.state.task import Task

_APP_INFO = "android.settings.APPLICATION_DETAILS_SETTINGS"

_Taker = tuple[Task, Link, dict[str, str]]


def takers(stage: Stage, uri: str, *, package: str | None = None) -> list[_Taker]:
    """List the apps that take a link, with the values that it holds."""
    return [
        (task, link, values)
        for task in stage.tasks.values()
        if package in (None, task.app.package)
        for link, values in [_link_for(task.app, uri)]
        if link is not None
    ]


def _link_for(app: App, uri: str) -> tuple[Link | None, dict[str, str]]:
    for link in app.links:
        found = link.pattern.match(uri)
        if found is not None:
            return link, {name: unquote(value) for name, value in found.groupdict().items()}
    return None, {}


def open_uri(stage: Stage, uri: str, *, package: str | None = None) -> bool:
    """Open a link; where several apps take it, ask which. False where none does."""
    found = takers(stage, uri, package=package)
    if not found:
        return False
    scheme = uri.partition(":")[0].lower()
    preferred = stage.preferred.get(scheme)
    chosen = [taker for taker in found if taker[0].app.package == preferred] or found
    if len(chosen) == 1:
        _follow(stage, *chosen[0])
        return True

    def choose(choice: str) -> None:
        how, _, name = choice.partition(" ")
        if how == "always":
            stage.preferred[scheme] = name
        stage.chooser = None
        for taker in found:
            if taker[0].app.package == name:
                _follow(stage, *taker)

    apps = [task.app for task, _, _ in found]
    stage.chooser = system_pages.chooser_page(apps, now=stage.now, choose=choose)
    stage.appeared(stage.chooser)
    return True


def _follow(stage: Stage, task: Task, link: Link, found: Mapping[str, str]) -> None:
    lookup = with_locals(task.state.lookup, found)
    given = {name: template.value(lookup) for name, template in link.values.items()}
    stage.open(task, link.screen, {**found, **given})


def ask_permission(
    stage: Stage, task: Task, permission: str, answered: Callable[[bool], None]
) -> None:
    """Ask the user for a permission, unless the answer is known already."""
    package = task.app.package
    if permission in stage.permissions.granted(package):
        answered(True)
        return
    if not stage.permissions.may_ask(package, permission):
        answered(False)
        return

    def choose(choice: str) -> None:
        task.prompt = None
        if choice == "allow":
            stage.permissions.grant(package, permission)
        else:
            stage.permissions.refuse(package, permission)
        stage.appeared(stage.shown()[-1])
        answered(choice == "allow")

    task.prompt = system_pages.permission_page(task.app, permission, now=stage.now, choose=choose)
    stage.show_if_in_front(task, task.prompt)


def crash(stage: Stage, task: Task, message: str) -> None:
    """Let an app die with an exception; Android says so."""
    app = task.app
    stage.stop(app.package)

    def choose(choice: str) -> None:
        if page in stage.alerts:
            stage.alerts.remove(page)
        stage.appeared(stage.shown()[-1])
        if choice == "info":
            stage.start_intent(_APP_INFO)

    page = system_pages.crash_page(app, now=stage.now, choose=choose)
    stage.alerts.append(page)
    stage.on_crash(app.package, message)
    stage.appeared(page)
