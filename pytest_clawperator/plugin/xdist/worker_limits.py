"""``--maxfail`` and ``--stepwise`` in a worker whose device failed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_clawperator.plugin.session.report_fields import INFRASTRUCTURE


class WorkerLimits:
    """Keeps a worker from ending where its device failed: the test may be run once more."""

    def __init__(self, config: pytest.Config) -> None:
        self._options = config.option
        self._plugins = config.pluginmanager
        self._failed: str | None = None  # the last test whose device failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Allow one failure more, and let ``--stepwise`` not stop there; the controller decides."""
        if getattr(report, INFRASTRUCTURE, False):
            self._failed = report.nodeid
        if not report.failed or report.nodeid != self._failed:
            return (yield)
        if self._options.maxfail:
            self._options.maxfail += 1
        session: Any = self._plugins.get_plugin("session")
        before = session.shouldstop
        yield
        session.shouldstop = before or ""  # False would be ignored once somebody has set it
