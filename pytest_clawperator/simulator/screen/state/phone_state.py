"""Everything that is remembered about the screen of one phone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_clawperator.simulator.screen.state.changes import Changes
from pytest_clawperator.simulator.screen.state.display import Display
from pytest_clawperator.simulator.screen.state.foreground import Foreground
from pytest_clawperator.simulator.screen.state.permissions import Permissions
from pytest_clawperator.simulator.screen.state.task import Task
from pytest_clawperator.simulator.screen.state.timeline import Timeline
from pytest_clawperator.simulator.screen.state.web import Fetch, no_network


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
