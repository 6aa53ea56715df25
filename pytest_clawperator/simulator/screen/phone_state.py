"""Everything that is remembered about the screen of one phone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.display import Changes, Display, Timeline
from pytest_clawperator.simulator.screen.foreground import Foreground
from pytest_clawperator.simulator.screen.system_pages import Permissions
from pytest_clawperator.simulator.screen.tasks import Task


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
