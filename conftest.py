"""What all tests share: pytester, no secrets, the size of property tests, skips in CI."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from pytest_clawperator.redaction.redaction import SECRETS
from tests.programs import is_failure

pytest_plugins = ["pytester"]

# Speed is no test's business, so property tests have no deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("soak" if os.environ.get("CLAWPERATOR_SOAK") else "short")


@pytest.fixture(autouse=True)
def own_secrets() -> Iterator[None]:
    """Forget the secrets that a test typed: another test may use them as ordinary words."""
    before = SECRETS.secrets
    yield
    SECRETS.secrets = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test in CI that is skipped because something is not installed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _refuse_hidden_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module in CI that is skipped because something is not installed."""
    report = yield
    if report.skipped:
        _refuse_hidden_skip(report)
    return report


def _refuse_hidden_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    assert isinstance(report.longrepr, tuple)
    reason = report.longrepr[2].removeprefix("Skipped: ")
    if is_failure(reason):
        report.outcome = "failed"
        report.longrepr = f"skipped although CI=true: {reason}"
