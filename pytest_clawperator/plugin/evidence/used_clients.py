"""Which clients a test uses, and the watching of all clients, which begins and ends with a test.

A test uses a client that one of its fixtures returned, or that it executed something with.
Clients that it does not use are watched as well: it may yet use them, and nothing that they did
in it may be told of the next test.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.stash import (
    BEFORE_CLIENT_CLOSES,
    CURRENT_TEST,
    IS_BEING_SET_UP,
    ON_CLIENT_DROPPED,
    ON_CLIENT_USED,
    OPEN_CLIENTS,
    USED_CLIENTS,
)

_OUR_FIXTURES = "pytest_clawperator.plugin.fixtures"
__tracebackhide__ = True  # a fixture that fails is shown at its own line

Notify = Callable[[pytest.Item, ClientActivity], None]


def clients_of(item: pytest.Item) -> list[ClientActivity]:
    """Return the clients of a test, in the order in which they came."""
    return item.stash.get(USED_CLIENTS, [])


def on_client_used(config: pytest.Config, notify: Notify) -> None:
    """Call a function whenever a test begins to use a client."""
    config.stash.setdefault(ON_CLIENT_USED, []).append(notify)


def on_client_dropped(config: pytest.Config, notify: Notify) -> None:
    """Call a function whenever it turns out that a test does not use a client after all."""
    config.stash.setdefault(ON_CLIENT_DROPPED, []).append(notify)


def before_client_closes(config: pytest.Config, notify: Notify) -> None:
    """Call a function whenever a client of several tests is about to be closed."""
    config.stash.setdefault(BEFORE_CLIENT_CLOSES, []).append(notify)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Begin a test, or another attempt at it."""
    item.stash[USED_CLIENTS] = []
    for client in item.config.stash.get(OPEN_CLIENTS, []):
        client.begin()
    _use_those_of_fixtures(item)
    item.stash[IS_BEING_SET_UP] = True
    try:
        yield
    finally:
        del item.stash[IS_BEING_SET_UP]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> None:
    """Notice clients of earlier tests that the test asked its ``request`` for."""
    if USED_CLIENTS in item.stash:  # else it has ended, and what follows is about closing
        _use_those_of_fixtures(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End with a test that is reported; nothing keeps its clients any longer."""
    result = yield
    for client in [*item.config.stash.get(OPEN_CLIENTS, []), *clients_of(item)]:
        client.end()
    if USED_CLIENTS in item.stash:
        del item.stash[USED_CLIENTS]
    return result


def client_given(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest, client: Clawperator
) -> None:
    """Take note of a client that a fixture returned, until the fixture ends."""
    activity = _activity_of(request.config, client)
    activity.fixtures.append(fixturedef.argname)
    # Ours is closed later, when there is still time for evidence.
    is_ours = fixturedef.func.__module__ == _OUR_FIXTURES
    is_shared = fixturedef.scope != "function" and not is_ours

    def clawperator_fixture_ends() -> None:  # a name that Allure shall not show
        _fixture_ends(request.config, activity, fixturedef.argname, is_shared=is_shared)

    # Comes before the fixture's own end, which may close the client.
    request.addfinalizer(clawperator_fixture_ends)


def client_connected(
    config: pytest.Config, client: Clawperator, fixture: str
) -> Callable[[], None]:
    """Take note of a client that a fixture connects later on; call the result at its end."""
    activity = _activity_of(config, client)
    activity.fixtures.append(fixture)
    return partial(_fixture_ends, config, activity, fixture, is_shared=False)


def _use_those_of_fixtures(item: pytest.Item) -> None:
    """Use the clients that the fixtures of a test returned, perhaps to an earlier test."""
    # Only the request knows the fixtures that a test gets by getfixturevalue.
    request = getattr(item, "_request", item)
    names = getattr(request, "fixturenames", ())
    for client in item.config.stash.get(OPEN_CLIENTS, []):
        if not set(client.fixtures).isdisjoint(names):
            _use(item, client)


def _use(item: pytest.Item, client: ClientActivity) -> None:
    if client not in clients_of(item):
        item.stash.setdefault(USED_CLIENTS, []).append(client)
        for notify in item.config.stash.get(ON_CLIENT_USED, []):
            notify(item, client)


def _drop(item: pytest.Item, client: ClientActivity) -> None:
    if client in clients_of(item):
        clients_of(item).remove(client)
        for notify in item.config.stash.get(ON_CLIENT_DROPPED, []):
            notify(item, client)


def _use_now(config: pytest.Config, client: ClientActivity) -> None:
    item = config.stash.get(CURRENT_TEST, None)
    if item is not None:
        _use(item, client)


def _activity_of(config: pytest.Config, client: Clawperator) -> ClientActivity:
    """Return what is known of a client, which the current test uses."""
    known = config.stash.setdefault(OPEN_CLIENTS, [])
    activity = next((one for one in known if one.client is client), None)
    if activity is None:
        activity = ClientActivity(client, on_use=partial(_use_now, config))
        known.append(activity)
        activity.begin()
        activity.stop_observing = client.runner.observers.add(activity)
    _use_now(config, activity)
    return activity


def _fixture_ends(
    config: pytest.Config, client: ClientActivity, fixture: str, *, is_shared: bool
) -> None:
    client.fixtures.remove(fixture)
    if client.fixtures:
        return
    config.stash[OPEN_CLIENTS].remove(client)
    client.stop_observing()
    item = config.stash.get(CURRENT_TEST, None)
    if item is None:
        return
    if IS_BEING_SET_UP in item.stash:  # the fixture was of earlier tests, with another parameter
        _drop(item, client)
    elif is_shared:
        for notify in config.stash.get(BEFORE_CLIENT_CLOSES, []):
            notify(item, client)
