"""What a run has once: its id, its folder, its notices, its hook calls, and its end by a signal."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from reprlib import repr as short_repr
from types import FrameType
from typing import Any, NoReturn

import pluggy
import pytest

from pytest_clawperator.contracts.events import Event, Notice, Observer
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.execution.pipeline import Observers
from pytest_clawperator.plugin.settings import Settings, settings_of
from pytest_clawperator.plugin.stash import EARLY_CONNECTION, ENDING_SIGNAL, EVENTS, RUN_ID
from pytest_clawperator.plugin.worker_input import SHARED_RUN_ID, is_worker, worker_input
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible


def run_id(config: pytest.Config) -> str:
    """Return the id of this run; a worker has that of its controller."""
    if RUN_ID not in config.stash:
        handed = worker_input(config).get(SHARED_RUN_ID)
        new = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        config.stash[RUN_ID] = handed or new
    return config.stash[RUN_ID]


def run_folder(config: pytest.Config, settings: Settings | None = None) -> Path:
    """Return the folder of this run, which may not be there yet."""
    return config.rootpath / (settings or settings_of(config)).output / run_id(config)


def write_line(reporter: pytest.TerminalReporter, text: str, **markup: bool) -> None:
    """Write a line; control characters in it are shown."""
    reporter.line(visible(text), **markup)


def named(tests: Sequence[str]) -> str:
    """Return the names of the first tests, and how many others there are, for a message."""
    names, rest = ", ".join(tests[:3]), len(tests) - 3
    return f"{names} and {rest} more" if rest > 0 else names


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


#: The detail of an error that names the hook at fault.
HOOK = "hook"
_HINT = "Correct the hook, or have it return None to leave it to others."
_NOT_THE_HOOK = (__file__, str(Path(pluggy.__file__).parent))


def call_hook(hook: pluggy.HookCaller, /, **arguments: Any) -> Any:
    """Call a hook; an error in it is raised with its name, and with the lines that led there."""
    try:
        return hook(**arguments)
    except (ClawperatorError, pytest.UsageError, pytest.exit.Exception):
        raise
    except Exception as exc:
        raised = "".join(traceback.format_exception_only(exc)).strip()
        raise ConfigurationError(
            f"the hook {hook.name} raised {raised}\n{_trace_in_hook(exc)}",
            hint=_HINT,
            details={HOOK: hook.name},
        ) from exc


def wrong_result(hook: str, result: object, wanted: str) -> ConfigurationError:
    """Return the error for a wrong result of a hook."""
    return ConfigurationError(
        f"the hook {hook} returned {short_repr(result)}, wanted is {wanted}",
        hint=_HINT,
        details={HOOK: hook},
    )


def _trace_in_hook(exc: Exception) -> str:
    """Return the traceback of the exception, from the hook on."""
    frames = traceback.extract_tb(exc.__traceback__)
    own = [one for one in frames if not one.filename.startswith(_NOT_THE_HOOK)]
    return "".join(traceback.format_list(own or frames)).rstrip()


_NAMES = ("SIGTERM", "SIGHUP")  # Windows has only the first


def handle_signals(config: pytest.Config) -> None:
    """Let SIGTERM and SIGHUP end the run as Ctrl-C does: with its summary, nothing left behind.

    A handler that is installed already stays, and so does a signal that is ignored (``nohup``).
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            handler = partial(_end, config)
            signal.signal(number, handler)
            config.add_cleanup(partial(_restore, number, handler))


def exit_if_signalled(config: pytest.Config) -> None:
    """End the run after a test that caught the exception of the signal, and went on."""
    number = config.stash.get(ENDING_SIGNAL, None)
    if number is not None:
        _exit(number)


def end_worker_by_signal(config: pytest.Config) -> None:
    """End a worker by the signal that it got, so that it counts as crashed.

    One that reports its end would end the whole run.
    """
    number = config.stash.get(ENDING_SIGNAL, None)
    if number is not None and is_worker(config):
        early = config.stash.get(EARLY_CONNECTION, None)
        if early is not None and early.client is not None:
            early.client.runner.close()
        os.kill(os.getpid(), number)


def _end(config: pytest.Config, number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the process immediately
    config.stash[ENDING_SIGNAL] = number
    _exit(number)


def _exit(number: int) -> NoReturn:
    pytest.exit(f"ended by {signal.Signals(number).name}")


def _restore(number: int, handler: object) -> None:
    if signal.getsignal(number) is handler:
        signal.signal(number, signal.SIG_DFL)
