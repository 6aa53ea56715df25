"""The events of all devices of this process, for observers; notices are shown as lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from pytest_clawperator.contracts.events import Event, Notice, Observer
from pytest_clawperator.execution.pipeline import Observers
from pytest_clawperator.plugin.session.terminal_lines import write_line
from pytest_clawperator.plugin.stash import EVENTS
from pytest_clawperator.redaction import hide


class EventHub:
    """Passes on the events of every client in this process, and keeps their notices."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._observers = Observers(serial="")
        self._show = show
        self._shown_lines: set[str] = set()
        self._notices: list[str] = []

    def add(self, observer: Observer) -> Callable[[], None]:
        """Add an observer; the returned function removes it."""
        return self._observers.add(observer)

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        if isinstance(event, Notice):
            text = f"[{event.serial}] {event.message}" if event.serial else event.message
            self._notices.append(hide(text))
            self.show(text)
        self._observers.send(event)

    def notice(self, serial: str, message: str) -> None:
        """Report something about a device that fails no test and should be known."""
        self(Notice(serial=serial, at=time.time(), message=message))

    def show(self, text: str) -> None:
        """Show a line while the tests run; a line that was shown is not shown again."""
        if text not in self._shown_lines:
            self._shown_lines.add(text)
            self._show(text)

    def take_notices(self) -> list[str]:
        """Return the notices since they were taken last."""
        taken, self._notices = self._notices, []
        return taken


def events_of(config: pytest.Config) -> EventHub:
    """Return the hub of this process."""
    if EVENTS not in config.stash:
        config.stash[EVENTS] = EventHub(lambda text: show_line(config, text))
    return config.stash[EVENTS]


def show_line(
    config: pytest.Config, text: str, *, alarming: bool = True, even_quiet: bool = False
) -> None:
    """Write a line to the terminal, unless there is none or the run is quiet."""
    is_quiet = config.get_verbosity() < 0 and not even_quiet
    if is_quiet or not config.pluginmanager.has_plugin("terminal"):
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # while `-n auto` counts devices, for which emulators may boot
        reporter = pytest.TerminalReporter(config)
    capture = config.pluginmanager.get_plugin("capturemanager")
    # During a test all output is captured, and only the main thread may change that.
    is_main = threading.current_thread() is threading.main_thread()
    with capture.global_and_fixture_disabled() if capture and is_main else nullcontext():
        reporter.ensure_newline()
        # It does not know of the letters that stand for the results of workers.
        if reporter._tw.width_of_current_line:
            reporter.line("")
        write_line(reporter, hide(f"clawperator: {text}"), yellow=alarming)
