"""Kinds of tests that keep errors to themselves, and so would have other verdicts than functions.

A ``unittest.TestCase`` collects what its method raised, and pytest asks for it only when it makes
the report. A subtest reports its error, and the test goes on.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.clients import clients_of
from pytest_clawperator.plugin.failures import beyond_xfail, device_trouble, is_beyond_xfail
from pytest_clawperator.plugin.stash import SOFT_FAILURES, SUBTESTS

__tracebackhide__ = True  # a failure is shown at the test's own line
Phase = Generator[None, object, object]
#: Attribute of a report: the device failed in a subtest, and the test itself reports that.
LEFT_TO_TEST = "clawperator_left_to_test"


# unittest.TestCase


def _kept(item: pytest.Item) -> list[pytest.ExceptionInfo[BaseException]]:
    """Return what a ``unittest.TestCase`` raised, and pytest did not report yet."""
    # pytest has no public name for it, and takes the first for the phase that it reports next.
    found = getattr(item, "_excinfo", None)
    return found if isinstance(found, list) else []


def excinfo_of(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> pytest.ExceptionInfo[BaseException] | None:
    """Return what pytest will report of a phase."""
    return next(iter(_kept(item)), call.excinfo)


def raising(item: pytest.Item) -> Phase:
    """Run a phase, and raise what a ``unittest.TestCase`` kept to itself, as a function does."""
    result = yield
    for excinfo in _kept(item)[:1]:
        raise excinfo.value.with_traceback(excinfo.tb)
    return result


def keeping(item: pytest.Item, phase: Phase) -> Phase:
    """Run a phase; let a ``unittest.TestCase`` keep what came of its error, instead of that."""
    try:
        return (yield from phase)
    except BaseException as error:
        kept = _kept(item)
        if kept and kept[0].value is not error:
            kept[0] = pytest.ExceptionInfo.from_exception(error)
        raise


def judge_expected_failures(item: Any) -> None:
    """Have ``unittest.expectedFailure`` expect what ``xfail`` does: failures, also soft ones."""
    if not hasattr(item, "addExpectedFailure"):
        return
    kind = type(item)  # a retried test has ours already
    expected = partial(kind.addExpectedFailure, item)
    unexpected = partial(kind.addUnexpectedSuccess, item)

    def add_expected(case: object, raised: Any, *reason: Any) -> None:
        if is_beyond_xfail(raised[1], when="call"):
            item.addError(case, raised)
        else:
            expected(case, raised, *reason)

    def add_unexpected(case: object, *reason: Any) -> None:
        soft = item.stash[SOFT_FAILURES]
        if not soft.errors:
            unexpected(case, *reason)
            return
        expected(case, (type(soft.error), soft.error, soft.error.__traceback__))
        soft.errors.clear()

    item.addExpectedFailure, item.addUnexpectedSuccess = add_expected, add_unexpected


# Subtests


@dataclass
class Subtests:
    """What the subtests of a test came to so far: how many failed, and trouble with a device."""

    failed: int = 0
    trouble: ClawperatorError | None = None


def with_subtests(item: pytest.Item, phase: Phase) -> Phase:
    """Run a test; it fails if a subtest did, and with the trouble that its device had in one.

    pytest itself knows of failed subtests only in the process that ran them.
    """
    subtests = item.stash[SUBTESTS] = Subtests()
    result: object = None
    try:
        result = yield from phase
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException:
        if subtests.trouble is None:  # else this may follow from it
            raise
    finally:
        del item.stash[SUBTESTS]
    if subtests.trouble is not None:
        raise subtests.trouble
    if subtests.failed and clients_of(item):
        some = "subtest" if subtests.failed == 1 else "subtests"
        raise beyond_xfail(f"contains {subtests.failed} failed {some}")  # as pytest words it
    return result


def note_subtest(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """Note the report of a subtest: one that is made while its test still runs."""
    subtests = item.stash.get(SUBTESTS, None)
    if subtests is None or not report.failed:
        return
    trouble = device_trouble(error)
    if trouble is None:
        subtests.failed += 1
    else:
        subtests.trouble = subtests.trouble or trouble
        path, line, _ = item.location
        report.outcome = "skipped"  # it has no result, and others know no word for that
        report.longrepr = path, (line or 0) + 1, f"{trouble.code}, which the test itself reports"
        setattr(report, LEFT_TO_TEST, True)
