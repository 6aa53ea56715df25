"""Which clients a test uses, whatever fixtures they come from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin import bring_in
from pytest_clawperator.plugin.stash import AT_CLOSE, AT_USE, CLIENTS, CURRENT, USED

if TYPE_CHECKING:
    from pytest_clawperator.plugin.watching import Watched

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
    module = sys.modules.get("pytest_clawperator.execution.client")
    if module is not None and isinstance(value, module.Clawperator):
        bring_in(request.config)
        watched = _watched(request.config, value)
        watched.fixtures.append(fixturedef.argname)
        is_shared = fixturedef.scope != "function"
        # Comes before the fixture's own end, which may close the client.
        request.addfinalizer(
            partial(_fixture_ends, request.config, watched, fixturedef.argname, is_shared)
        )
    return value


def _watched(config: pytest.Config, client: Any) -> Watched:
    """Give what is known of a client, which the test at hand uses."""
    from pytest_clawperator.plugin.watching import Watched

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
