"""``expect`` at the end of a phase: soft failures, and expectations without a check."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expectation import watching
from pytest_clawperator.assertions.soft import collecting
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.plugin.stash import SOFT_FAILURES

__tracebackhide__ = True  # a failure is shown at the test's own line


_TITLE = "expectations that did not come true before"


def _phase(item: pytest.Item) -> Generator[None, object, object]:
    """Collect while the phase runs, and fail it for what was collected."""
    result: object = None
    with collecting(for_pytest) as failures:
        item.stash[SOFT_FAILURES] = failures
        try:
            result = yield
        except (pytest.skip.Exception, pytest.xfail.Exception):
            # What failed counts for more than that the rest was not run.
            if not failures.errors:
                raise
    if failures.errors:
        raise failures.error
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Reset after each test what it set on ``expect``."""
    before = expect.settings
    try:
        return (yield)
    finally:
        expect.reset(before)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the setup for what failed in it."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test for what failed in it, and for an ``expect(...)`` without a check."""
    with watching() as unstated:
        result = yield from _phase(item)
    if unstated.error is not None:
        raise unstated.error
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the teardown for what failed in it."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the soft failures to another failure that ended the phase."""
    report = yield
    failures = item.stash.get(SOFT_FAILURES, None)
    if failures is None or not failures.errors or call.excinfo is None:
        return report
    if call.excinfo.value is not failures.error and report.longrepr is not None:
        _add_section(report, failures.text())
    return report


def _add_section(report: pytest.TestReport, text: str) -> None:
    add = getattr(report.longrepr, "addsection", None)
    if add is not None:  # part of the failure, so that no option hides it
        add(_TITLE, text)
    else:
        report.sections.append((_TITLE, text))
