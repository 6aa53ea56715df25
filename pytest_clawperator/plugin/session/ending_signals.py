"""SIGTERM and SIGHUP end a run as Ctrl-C does: with its summary, and nothing left behind.

A handler that somebody else installed stays, and so does a signal that is ignored (``nohup``).
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from functools import partial
from types import FrameType
from typing import NoReturn

import pytest

from pytest_clawperator.plugin.stash import EARLY_CONNECTION, ENDING_SIGNAL
from pytest_clawperator.plugin.worker_input import is_worker

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has only the first


def pytest_configure(config: pytest.Config) -> None:
    """Handle the signals from now on, until the run ends."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            handler = partial(_end, config)
            signal.signal(number, handler)
            config.add_cleanup(partial(_restore, number, handler))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the run after a test that caught the exception of the signal, and went on."""
    result = yield
    if (number := item.config.stash.get(ENDING_SIGNAL, None)) is not None:
        _exit(number)
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """End a worker by its signal when its clients are closed, so that it counts as crashed.

    One that reports its end would end the whole run.
    """
    yield
    config = session.config
    number = config.stash.get(ENDING_SIGNAL, None)
    if number is not None and is_worker(config):
        early = config.stash.get(EARLY_CONNECTION, None)
        if early is not None and early.client is not None:
            early.client.close()
        os.kill(os.getpid(), number)


def _end(config: pytest.Config, number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
    config.stash[ENDING_SIGNAL] = number
    _exit(number)


def _exit(number: int) -> NoReturn:
    pytest.exit(f"ended by {signal.Signals(number).name}")


def _restore(number: int, handler: object) -> None:
    if signal.getsignal(number) is handler:
        signal.signal(number, signal.SIG_DFL)
