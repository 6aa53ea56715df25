"""What happens on the devices of this process, for whoever wants to know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from pytest_clawperator.contracts.events import Event, Notice, Observer
from pytest_clawperator.execution.observing import Observers
from pytest_clawperator.plugin.stash import EVENTS, UNSAID


class EventHub:
    """Takes the events of every run in this process and hands them on.

    ``trouble`` collects what devices were noticed for since it was taken last.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._observers = Observers(serial="")
        self._say = say
        self._said: set[str] = set()
        self._trouble: list[str] = []

    def add(self, observer: Observer) -> Callable[[], None]:
        """Let somebody watch from now on; the function given back ends it."""
        return self._observers.add(observer)

    def __call__(self, event: Event) -> None:
        """Hand an event on."""
        if isinstance(event, Notice):
            text = f"[{event.serial}] {event.message}" if event.serial else event.message
            self._trouble.append(text)
            self.say(text)
        self._observers.send(event)

    def notice(self, serial: str, message: str) -> None:
        """Tell of something that fails nothing and should be known."""
        self(Notice(serial=serial, at=time.time(), message=message))

    def say(self, text: str) -> None:
        """Show a line while the tests run; a line that was shown is not shown again."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def take_trouble(self) -> list[str]:
        """Give what was noticed, and begin anew."""
        taken, self._trouble = self._trouble, []
        return taken


def events_of(config: pytest.Config) -> EventHub:
    """Give the hub of this process."""
    if EVENTS not in config.stash:
        config.stash[EVENTS] = EventHub(lambda text: show_line(config, text))
    return config.stash[EVENTS]


def show_line(config: pytest.Config, text: str, *, alarming: bool = True) -> None:
    """Write a line to the terminal, unless there is none or it shall be quiet."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None and not hasattr(config, "workerinput"):
        config.stash.setdefault(UNSAID, []).append(text)  # it is said once there is a terminal
    if reporter is None or config.get_verbosity() < 0:
        return
    capture = config.pluginmanager.get_plugin("capturemanager")
    # During a test all output is captured, and only the main thread may change that.
    is_main = threading.current_thread() is threading.main_thread()
    with capture.global_and_fixture_disabled() if capture and is_main else nullcontext():
        reporter.ensure_newline()
        # It does not know of the letters that stand for the results of workers.
        if reporter._tw.width_of_current_line:
            reporter.line("")
        reporter.write_line(f"clawperator: {text}", yellow=alarming)
