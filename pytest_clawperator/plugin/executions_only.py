"""A test that needs more than executions is skipped where the device's host runs nothing else."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_clawperator.errors import ExecutionsOnlyError
from pytest_clawperator.plugin.settings import settings_of
from pytest_clawperator.plugin.stash import SOFT_FAILURES
from pytest_clawperator.text import visible

__tracebackhide__ = True  # a failure is shown at the test's own line


def _phase(item: pytest.Item) -> Generator[None, object, object]:
    """Skip the test if its phase asked for more; not if something failed in it before."""
    try:
        return (yield)
    except ExecutionsOnlyError as error:
        failures = item.stash.get(SOFT_FAILURES, None)
        if settings_of(item.config).strict or (failures is not None and failures.errors):
            raise
        skip = pytest.skip.Exception(visible(error.message))
        skip._use_item_location = True  # as pytest does for fixtures: the test's line, not ours
        raise skip from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test whose fixtures or markers need more."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test that needs more."""
    return (yield from _phase(item))
