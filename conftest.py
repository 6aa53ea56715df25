"""What all tests share: pytester, no secrets, their order, property tests, skips in CI."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Generator, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from typing import NoReturn

import pytest
from hypothesis import settings

from pytest_clawperator.errors import NoDeviceError
from pytest_clawperator.redaction import SECRETS
from tests.empty_adb import use_empty_adb
from tests.programs import is_failure

pytest_plugins = ["pytester"]

# Tests do not assert speed, so property tests have no deadline.
settings.register_profile("short", deadline=None, max_examples=25)
settings.register_profile("soak", deadline=None, max_examples=5_000)
settings.load_profile("soak" if os.environ.get("CLAWPERATOR_SOAK") else "short")

# Tests run in a random order if this names a seed; long runs choose one, for all their workers.
_SEED = "CLAWPERATOR_SEED"
# Tests that kill processes leave lock files; those of real devices are somewhere else.
_LOCKS = "CLAWPERATOR_LEASE_DIR"


def pytest_configure(config: pytest.Config) -> None:
    """Choose what all workers share: an adb server, the order of a long run, lock files."""
    # Processes of tests inherit what is ignored here, as under nohup, and are to be ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):  # workers have what the controller has
        config.add_cleanup(use_empty_adb())
    if os.environ.get("CLAWPERATOR_SOAK"):
        os.environ.setdefault(_SEED, str(random.randrange(1_000_000)))
    if _LOCKS not in os.environ:
        folder = TemporaryDirectory(prefix="claw-locks-", ignore_cleanup_errors=True)
        os.environ[_LOCKS] = folder.name
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(partial(os.environ.__delitem__, _LOCKS))


def pytest_clawperator_list_devices() -> NoReturn:
    """List no devices: these tests bring their own phones, so their workers need none."""
    raise NoDeviceError("these tests bring their own phones")


def pytest_report_header() -> list[str]:
    """Show how to repeat the order of this run."""
    seed = os.environ.get(_SEED)
    return [f"tests in random order: {_SEED}={seed}"] if seed else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests for long runs; shuffle the files, and the tests within each, on request."""
    if not os.environ.get("CLAWPERATOR_SOAK"):
        long = [item for item in items if item.get_closest_marker("soak")]
        items[:] = [item for item in items if item not in set(long)]
        config.hook.pytest_deselected(items=long)
    if seed := os.environ.get(_SEED):
        order = random.Random(seed)
        files = {path: order.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (files[item.path], order.random()))


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
