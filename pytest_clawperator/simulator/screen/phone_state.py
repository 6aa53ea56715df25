"""Everything that is remembered about the screen of one phone, and how it is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_clawperator.simulator.screen.display import Changes, Display, Timeline
from pytest_clawperator.simulator.screen.foreground import Foreground
from pytest_clawperator.simulator.screen.system_pages import Permissions
from pytest_clawperator.simulator.screen.tasks import Page, Task


@dataclass(frozen=True)
class WebAnswer:
    """What a server answered; ``problem`` is why it cannot be used, or empty."""

    text: str = ""
    problem: str = ""


Fetch = Callable[[str, Callable[[WebAnswer], None]], None]
"""Asks for an address, and calls back with the answer some time later."""


def no_network(url: str, answered: Callable[[WebAnswer], None]) -> None:
    """Answer for a phone without any network."""
    answered(WebAnswer(problem="the phone has no network"))


@dataclass(frozen=True, eq=False)
class Toast:
    """A text over everything, and the app that shows it."""

    package: str
    text: str


class PhoneState:
    """The parts of the state; what changes them together stands in ``actions``."""

    def __init__(
        self, clock: Callable[[], float], *, size: tuple[int, int], density: int | None
    ) -> None:
        self.timeline = Timeline(clock)
        self.changes = Changes(self.timeline)
        self.display = Display(size, density=density, changes=self.changes)
        self.tasks: dict[str, Task] = {}
        self.permissions = Permissions()
        self.foreground = Foreground(self.tasks, timeline=self.timeline, changes=self.changes)
        self.toast: Toast | None = None
        self.fetch: Fetch = no_network


_DIALOG = "dialog:"


def kept_screen(state: PhoneState) -> dict[str, Any]:
    """Return what shows and what apps remember; ages are in seconds."""
    now = state.timeline.now
    order, used = state.foreground.order()
    display = state.display
    return {
        "apps": {
            package: {
                "running": task.running,
                "variables": task.state.kept(),
                "pages": [_kept_page(page, now) for page in task.stack],
            }
            for package, task in state.tasks.items()
        },
        "order": order,
        "used": used,
        "permissions": state.permissions.kept(),
        "dark": display.dark,
        "rotation": display.rotation,
    }


def bring_back_screen(state: PhoneState, kept: Mapping[str, Any], *, running: bool) -> None:
    """Bring back what was kept; without ``running`` only what outlives a restart."""
    state.permissions.bring_back(kept["permissions"])
    state.display.dark = kept["dark"]
    now = state.timeline.now
    for package, task in state.tasks.items():
        app = kept["apps"].get(package)
        if app is not None:
            task.state.bring_back(app["variables"], running=running)
        if app is not None and running:
            task.running = app["running"]
            task.stack = [page for entry in app["pages"] for page in _pages(task, entry, now)]
    if running:
        state.display.rotation = kept["rotation"]
        state.foreground.bring_back(kept["order"], kept["used"])
    state.changes.note()


def _kept_page(page: Page, now: float) -> dict[str, Any]:
    return {
        "name": page.name,
        "args": page.args,
        "age": now - page.opened_at,
        "scroll": page.scroll,
        "texts": page.texts,
        "checks": page.checks,
        "snackbar": page.snackbar,
        "dialogs": [_kept_page(dialog, now) for dialog in page.dialogs],
    }


def _pages(task: Task, kept: Mapping[str, Any], now: float) -> list[Page]:
    """Return the page that was kept; nothing if the app no longer has it."""
    name, args = kept["name"], kept["args"]
    is_dialog = name.startswith(_DIALOG)
    if name.removeprefix(_DIALOG) not in (task.app.dialogs if is_dialog else task.app.screens):
        return []
    make = task.dialog if is_dialog else task.screen
    page = make(name.removeprefix(_DIALOG), args, now=now - kept["age"])
    page.scroll.update(kept["scroll"])
    page.texts.update(kept["texts"])
    page.checks.update(kept["checks"])
    page.snackbar = kept["snackbar"]
    page.dialogs = [dialog for entry in kept["dialogs"] for dialog in _pages(task, entry, now)]
    return [page]
