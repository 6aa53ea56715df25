"""The hooks of traces: each attempt at a test has one, from its setup to its teardown."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clawperator.assertions.listening import listening
from pytest_clawperator.plugin.evidence.artifacts import folder_name
from pytest_clawperator.plugin.evidence.item_settings import settings_of_item
from pytest_clawperator.plugin.evidence.report_sinks import sinks_of
from pytest_clawperator.plugin.evidence.tracing.attempt_trace import AttemptTrace
from pytest_clawperator.plugin.evidence.tracing.tracer import failure_of
from pytest_clawperator.plugin.evidence.used_clients import on_client_dropped, on_client_used
from pytest_clawperator.plugin.session.run_folder import run_folder, run_id
from pytest_clawperator.plugin.stash import CURRENT_TEST, ENDING_FIXTURES, TRACE
from pytest_clawperator.plugin.worker_input import worker_input
from pytest_clawperator.report.trace import FixtureEnded, now, ticks

# Where traces are while their tests run; a killed run leaves them there.
UNFINISHED = "unfinished"

_numbers = count(1)
__tracebackhide__ = True  # a fixture that fails is shown at its own line


def pytest_configure(config: pytest.Config) -> None:
    """Follow the clients of tests."""
    on_client_used(config, lambda item, client: begun_trace(item).use(client))
    on_client_dropped(config, lambda item, client: begun_trace(item).drop(client))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hear of the expectations of a test, and end the trace of one that was broken off."""
    with listening(lambda verification: begun_trace(item).verified(verification)):
        try:
            return (yield)
        finally:
            trace = item.stash.get(TRACE, None)
            if trace is not None:
                trace.finish(is_broken_off=True)
                del item.stash[TRACE]


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folders for traces that nothing was kept in."""
    folder = run_folder(config) / UNFINISHED
    with suppress(OSError):  # something is in it, perhaps of a process that still runs
        for empty in (folder, folder.parent, folder.parent.parent):
            empty.rmdir()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Begin the trace of an attempt."""
    __tracebackhide__ = True
    if not begun_trace(item).is_begun:  # perhaps that of an attempt without a device
        del item.stash[TRACE]
    begun_trace(item).begin_phase("setup")
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Take note that the test itself begins."""
    __tracebackhide__ = True
    begun_trace(item).begin_phase("call")
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Take note that the test is being torn down."""
    __tracebackhide__ = True
    begun_trace(item).begin_phase("teardown")
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Take note of how long a fixture took to set up, and of the beginning of its end."""
    __tracebackhide__ = True  # a fixture that fails is shown at its own line
    begin = ticks()
    error: BaseException | None = None
    try:
        return (yield)
    except BaseException as exc:
        error = exc
        raise
    finally:
        _note_fixture(request.config, fixturedef, "setup", begin, error)
        ending = request.config.stash.setdefault(ENDING_FIXTURES, {})

        def clawperator_fixture_ends() -> None:  # a name that Allure shall not show
            ending[id(fixturedef)] = ticks()

        # Comes before the fixture's own end.
        request.addfinalizer(clawperator_fixture_ends)


def pytest_fixture_post_finalizer(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> None:
    """Take note of how long a fixture took to end."""
    begin = request.config.stash.get(ENDING_FIXTURES, {}).pop(id(fixturedef), None)
    if begin is not None:
        _note_fixture(request.config, fixturedef, "teardown", begin)


def begun_trace(item: pytest.Item) -> AttemptTrace:
    """Return the trace of the current attempt at a test, which begins with its first use."""
    if TRACE not in item.stash:
        config = item.config

        def folder() -> Path:
            name = f"{folder_name(item.nodeid)}-{os.getpid()}-{next(_numbers)}"
            return run_folder(config, settings_of_item(item)) / UNFINISHED / name

        item.stash[TRACE] = AttemptTrace(
            item,
            settings=partial(settings_of_item, item),
            folder=folder,
            sinks=partial(sinks_of, config),
            run=run_id(config),
            worker=worker_input(config).get("workerid", ""),
        )
    return item.stash[TRACE]


def _note_fixture(
    config: pytest.Config,
    fixturedef: pytest.FixtureDef[Any],
    stage: Literal["setup", "teardown"],
    begin: float,
    error: BaseException | None = None,
) -> None:
    item = config.stash.get(CURRENT_TEST, None)
    trace = None if item is None else item.stash.get(TRACE, None)
    if trace is not None:
        trace.add(
            FixtureEnded(
                at=now(),
                name=fixturedef.argname,
                scope=fixturedef.scope,
                stage=stage,
                seconds=round(ticks() - begin, 6),
                failure=None if error is None else failure_of(error),
            )
        )
