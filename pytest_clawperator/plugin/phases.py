"""What happens around the phases of a test, in order.

Soft failures fail the phase they belong to. A test that needs more than its device's host can
do is skipped. Clients are watched from setup to teardown.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from unittest import SkipTest

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.assertions.expectation import Unstated, listening, watching
from pytest_clawperator.assertions.soft import collecting
from pytest_clawperator.contracts.envelope import UNREAD
from pytest_clawperator.errors import ExecutionsOnlyError
from pytest_clawperator.plugin import app_state, clients, goldens, kinds, recorder, tracing
from pytest_clawperator.plugin.device_needs import skip_if_class_does_not_fit
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.plugin.marker_values import fail_for_markers
from pytest_clawperator.plugin.run import exit_if_signalled
from pytest_clawperator.plugin.settings import SETTINGS_FIXTURE, settings_of
from pytest_clawperator.plugin.stash import SOFT_FAILURES, UNSTATED
from pytest_clawperator.plugin.tracing import begun_trace
from pytest_clawperator.text import visible

__tracebackhide__ = True  # a failure is shown at the test's own line
_TITLE = "soft checks that failed before"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the test's expectations, goldens and clients."""
    before = expect.settings
    try:
        with (
            listening(lambda verification: begun_trace(item).verified(verification)),
            goldens.goldens_beside(item),
        ):
            result = yield
            exit_if_signalled(item.config)
    finally:
        expect.reset(before)
        tracing.end_interrupted(item)
    clients.end_test(item)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Begin an attempt at the test, and set it up."""
    item.stash[UNSTATED] = Unstated()
    clients.begin_test(item)
    try:
        goldens.begin_attempt(item)
        recorder.begin_attempt(item)
        tracing.begin_attempt(item)
        phase = _skipped_if_unsupported(item, _set_up(item))
        return (yield from _failed_if_crashed(item, phase))
    finally:
        clients.end_setup(item)


@pytest.hookimpl(tryfirst=True, specname="pytest_runtest_setup")
def pytest_runtest_setup_first(item: pytest.Item) -> None:
    """Fail a test with wrong markers, and skip one that no device of its class fits.

    Not in the wrapper above: an error in that would keep other plugins from their setup.
    """
    fail_for_markers(item)
    skip_if_class_does_not_fit(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run the test; it also fails for an ``expect(...)`` without a check."""
    begun_trace(item).begin_phase("call")
    kinds.judge_expected_failures(item)
    phase = _failed_if_crashed(item, _skipped_if_unsupported(item, _checked(item)))
    with UNREAD.warning():
        return (yield from kinds.keeping(item, kinds.with_subtests(item, phase)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Tear the test down."""
    recorder.begin_teardown(item)
    begun_trace(item).begin_phase("teardown")
    phase = _failed_if_crashed(item, _stated(item, _unstated(item)))
    with UNREAD.warning(of_all=True):
        return (yield from kinds.keeping(item, phase))


def _softly(item: pytest.Item) -> Generator[None, object, object]:
    """Collect soft failures while a phase runs, and fail the phase for them."""
    result: object = None
    with collecting(for_pytest) as failures:
        item.stash[SOFT_FAILURES] = failures
        try:
            result = yield from kinds.raising(item)
        except (pytest.skip.Exception, pytest.xfail.Exception, SkipTest):
            # A failure counts for more than the skip after it.
            if not failures.errors:
                raise
    if failures.errors:
        raise failures.error
    return result


def _set_up(item: pytest.Item) -> Generator[None, object, object]:
    """Set the test up; a check of what was begun here may come later, but not after a skip."""
    return (yield from _stated(item, item.stash[UNSTATED], is_over=False))


def _checked(item: pytest.Item) -> Generator[None, object, object]:
    """Run the test, and fail it for an ``expect(...)`` without a check."""
    with watching(_unstated(item)) as from_fixtures:
        try:
            return (yield from _stated(item, Unstated()))
        except BaseException:
            from_fixtures.clear()  # their checks may have been to come
            raise


def _unstated(item: pytest.Item) -> Unstated:
    """Return what the setup left without a check; a late import may have come after the setup."""
    return item.stash.setdefault(UNSTATED, Unstated())


def _stated(
    item: pytest.Item, unstated: Unstated, *, is_over: bool = True
) -> Generator[None, object, object]:
    """Run a phase; if it is over, or skipped, fail it for an ``expect(...)`` without a check."""
    result: object = None
    with watching(unstated):
        try:
            result = yield from _softly(item)
        except (pytest.skip.Exception, pytest.xfail.Exception, SkipTest, ExecutionsOnlyError):
            if unstated.error is None:
                raise
            is_over = True
        except BaseException:
            unstated.clear()
            raise
    error = unstated.error if is_over else None
    if error is not None:
        unstated.clear()
        raise error
    return result


def _failed_if_crashed(
    item: pytest.Item, phase: Generator[None, object, object]
) -> Generator[None, object, object]:
    """Fail a phase that passed, or was skipped, if the app under test crashed.

    One crash fails a test once.
    """
    result: object = None
    skip: BaseException | None = None
    try:
        result = yield from phase
    except (pytest.skip.Exception, pytest.xfail.Exception, SkipTest) as exc:
        skip = exc
    except BaseException:
        app_state.settle_crashes(item)
        raise
    app_state.fail_for_crash(item)
    if skip is not None:
        raise skip
    return result


def _skipped_if_unsupported(
    item: pytest.Item, phase: Generator[None, object, object]
) -> Generator[None, object, object]:
    """Skip the test if it needs more than the host of its device runs: executions only.

    It is not skipped if something failed in the phase before.
    """
    try:
        return (yield from phase)
    except ExecutionsOnlyError as error:
        failures = item.stash.get(SOFT_FAILURES, None)
        if settings_of(item.config).strict or (failures is not None and failures.errors):
            raise
        skip = pytest.skip.Exception(visible(error.message))
        skip._use_item_location = True  # as pytest does for fixtures: the test's line, not ours
        raise skip from None


def add_soft_failures(
    item: pytest.Item, report: pytest.TestReport, error: BaseException | None
) -> None:
    """Add the soft failures to another failure that ended the phase."""
    failures = item.stash.get(SOFT_FAILURES, None)
    if failures is None or not failures.errors or error is None or report.longrepr is None:
        return
    if error is not failures.error:
        add = getattr(report.longrepr, "addsection", None)
        if add is not None:  # part of the failure, so that no option hides it
            add(_TITLE, failures.text())
        else:
            report.sections.append((_TITLE, failures.text()))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Trace how long a fixture takes; the settings of a test may switch its video."""
    value = yield from tracing.timed_fixture(fixturedef, request)
    if fixturedef.argname == SETTINGS_FIXTURE:
        recorder.settings_known(request.config)
    return value


def pytest_fixture_post_finalizer(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> None:
    """Trace how long a fixture took to tear down."""
    tracing.end_fixture(fixturedef, request)
