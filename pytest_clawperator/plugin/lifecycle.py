"""The beginning and the end of a run, step by step.

``usage.py`` calls ``begin`` when a run turns out to use devices or the library.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_clawperator.plugin import (
    candidates,
    clients,
    collectors,
    device_needs,
    examining,
    goldens,
    hiding,
    matrix,
    pausing,
    phases,
    phones,
    recorder,
    reports,
    run,
    settings,
    terminal,
    tracing,
    workers,
)
from pytest_clawperator.plugin.clients import ClientActivity, ClientListeners
from pytest_clawperator.plugin.report_sinks import hide_in_junit
from pytest_clawperator.plugin.stash import CLIENT_LISTENERS, RUN_REPORTS
from pytest_clawperator.redaction import SECRETS

# The modules with hooks of pytest. Where order matters, one of them has all steps: ``phases`` those
# around a test, ``reports`` those around its report, ``workers`` those around a worker.
_WITH_HOOKS = (
    *(candidates, collectors, device_needs, examining, goldens, hiding, matrix),
    *(pausing, phases, reports, terminal, workers),
)


def begin(config: pytest.Config) -> None:
    """Begin a run that uses devices or the library."""
    settings.refuse_options_without_effect(config)
    pausing.refuse_pausing_with_workers(config)
    run.handle_signals(config)
    hiding.begin_hiding(config)
    goldens.begin_goldens(config)
    collectors.add_registry(config)
    collectors.add_payload_files(config)
    workers.leave_limits_to_controller(config)
    config.stash[CLIENT_LISTENERS] = ClientListeners(
        used=_client_used, dropped=_client_dropped, closing=recorder.save_evidence
    )
    config.stash[RUN_REPORTS] = reports.RunReports(config)
    config.pluginmanager.register(config.stash[RUN_REPORTS], "clawperator-reports")
    config.pluginmanager.register(_End(), "clawperator-end")
    for module in _WITH_HOOKS:
        config.pluginmanager.register(module, module.__name__)


def _client_used(item: pytest.Item, client: ClientActivity) -> None:
    tracing.begun_trace(item).use(client)
    recorder.recorder_of(item).use(client)
    pausing.set_pauser(item, client)


def _client_dropped(item: pytest.Item, client: ClientActivity) -> None:
    tracing.begun_trace(item).drop(client)
    recorder.recorder_of(item).drop(client)


class _End:
    """The steps at the end of a run."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """End what needs devices while they are there, before reports are written."""
        phones.notice_lost_emulators(session.config)
        recorder.end_interrupted(session.config)
        goldens.end_goldens(session, exitstatus)
        examining.set_exit_status(session)
        if not SECRETS.is_empty:
            hide_in_junit(session.config.pluginmanager)

    @pytest.hookimpl(wrapper=True, trylast=True, specname="pytest_sessionfinish")
    def pytest_sessionfinish_last(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, None, None]:
        """Close clients, now that all fixtures have ended, and write the index of the run."""
        yield
        clients.close_last(session)
        session.config.stash[RUN_REPORTS].end(exitstatus)
        run.end_worker_by_signal(session.config)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Leave nothing behind, also after a run that was interrupted."""
        clients.close_all(config)
        tracing.remove_empty_folders(config)
        hiding.forget_secrets(config)
