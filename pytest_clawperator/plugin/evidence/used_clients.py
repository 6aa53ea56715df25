"""Which clients a test uses, whatever fixtures they come from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin import bring_in
from pytest_clawperator.plugin.stash import AT_CLOSE, AT_USE, CLIENTS, CLOSING, CURRENT, USED

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.plugin.evidence.client_activity import Watched

#: The property of a test, in reports too, that says which device it ran on.
DEVICE_PROPERTY = "clawperator_device"

_OWN = __name__.rpartition(".")[0]
__tracebackhide__ = True  # a fixture that fails is shown at its own line


def clients_of(item: pytest.Item) -> list[Watched]:
    """Give the clients of a test, in the order in which they came."""
    return item.stash.get(USED, [])


def when_used(config: pytest.Config, do: Callable[[pytest.Item, Watched], None]) -> None:
    """Have something done when a test begins to use a client."""
    config.stash.setdefault(AT_USE, []).append(do)


def before_closing(config: pytest.Config, do: Callable[[pytest.Item, Watched], None]) -> None:
    """Have something done when a client of several tests is about to be closed."""
    config.stash.setdefault(AT_CLOSE, []).append(do)


def close_later(config: pytest.Config, close: Callable[[], None]) -> None:
    """Have a client closed once the test at hand is reported: a failure may want evidence."""
    config.stash.setdefault(CLOSING, []).append(close)


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
    item = config.stash.get(CURRENT, None)
    if not config.stash.get(CLOSING, None) or item is None:
        return
    call = pytest.CallInfo.from_call(lambda: _close(config), when="teardown")
    if call.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)


def _close(config: pytest.Config) -> None:
    closing, config.stash[CLOSING] = config.stash.get(CLOSING, []), []
    with ExitStack() as all_of_them:
        for close in reversed(closing):
            all_of_them.callback(close)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a test, or another attempt at it."""
    item.config.stash[CURRENT] = item
    item.stash[USED] = []
    for watched in item.config.stash.get(CLIENTS, []):
        if set(watched.fixtures).intersection(getattr(item, "fixturenames", ())):
            watched.begin()
            _use(item, watched)


def _use(item: pytest.Item, watched: Watched) -> None:
    if watched not in clients_of(item):
        item.stash.setdefault(USED, []).append(watched)
        for do in item.config.stash.get(AT_USE, []):
            do(item, watched)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Notice a fixture that gives a client."""
    value = yield
    module = sys.modules.get("pytest_clawperator.client.client")
    if module is not None and isinstance(value, module.Clawperator):
        bring_in(request.config)
        watched = _watched(request.config, value)
        watched.fixtures.append(fixturedef.argname)
        is_ours = fixturedef.func.__module__.startswith(_OWN)
        # Ours is closed later, when there is still time for evidence.
        is_shared = fixturedef.scope != "function" and not is_ours
        # Comes before the fixture's own end, which may close the client.
        request.addfinalizer(
            partial(_fixture_ends, request.config, watched, fixturedef.argname, is_shared)
        )
    return value


def watch(config: pytest.Config, client: Clawperator, fixture: str) -> Callable[[], None]:
    """Take note of a client that a fixture gives later on; the function given back ends it."""
    watched = _watched(config, client)
    watched.fixtures.append(fixture)
    return partial(_fixture_ends, config, watched, fixture, is_shared=False)


def _watched(config: pytest.Config, client: Any) -> Watched:
    """Give what is known of a client, which the test at hand uses."""
    from pytest_clawperator.plugin.evidence.client_activity import Watched

    known = config.stash.setdefault(CLIENTS, [])
    watched = next((one for one in known if one.client is client), None)
    if watched is None:
        watched = Watched(client)
        known.append(watched)
        watched.begin()
        observers = getattr(client.runner, "observers", None)
        if observers is not None:
            observers.add(watched)
    item = config.stash.get(CURRENT, None)
    if item is not None:
        _use(item, watched)
    return watched


def _fixture_ends(config: pytest.Config, watched: Watched, fixture: str, is_shared: bool) -> None:
    watched.fixtures.remove(fixture)
    if watched.fixtures:
        return
    config.stash[CLIENTS].remove(watched)
    item = config.stash.get(CURRENT, None)
    if item is not None and is_shared:
        for do in config.stash.get(AT_CLOSE, []):
            do(item, watched)
