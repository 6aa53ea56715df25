"""Clients are closed after the last test that uses them is reported: evidence may need them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack

import pytest

from pytest_clawperator.plugin.stash import CURRENT_TEST, TO_CLOSE

__tracebackhide__ = True  # a fixture that fails is shown at its own line


def close_later(config: pytest.Config, close: Callable[[], None]) -> None:
    """Close a client only when the current test is reported: a failure may want evidence."""
    config.stash.setdefault(TO_CLOSE, []).append(close)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Close what the test was the last to use, unless it is the last of all: nobody waits then."""
    result = yield
    if nextitem is not None:
        _close_reported(item.config)
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close what the last test used; the run has not ended well if that fails."""
    before = session.testsfailed
    _close_reported(session.config)
    if session.testsfailed > before and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what is left after a run that was broken off."""
    _close(config)


def _close_reported(config: pytest.Config) -> None:
    """Close what is to be closed; trouble with that is reported as the last test's own."""
    item = config.stash.get(CURRENT_TEST, None)
    if not config.stash.get(TO_CLOSE, None) or item is None:
        return
    call = pytest.CallInfo.from_call(lambda: _close(config), when="teardown")
    if call.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)


def _close(config: pytest.Config) -> None:
    closing, config.stash[TO_CLOSE] = config.stash.get(TO_CLOSE, []), []
    with ExitStack() as all_of_them:
        for close in reversed(closing):
            all_of_them.callback(close)
