"""Evidence of failures: taken while the device is still in that state, and kept in a folder.

These are the hooks. ``collect.py`` has the kinds of evidence, ``recorder.py`` decides what is
kept of a test, and ``artifacts.py`` writes it. A run has a folder in ``--claw-output``, a test
one in that, and with reruns an attempt one in that. Nothing that is there already is touched.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.plugin.evidence.artifacts import folder_name
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.item_settings import FIXTURE, settings_of_item
from pytest_clawperator.plugin.evidence.recorder import Recorder
from pytest_clawperator.plugin.evidence.report_sinks import sinks_of
from pytest_clawperator.plugin.evidence.tracing.hooks import begun_trace
from pytest_clawperator.plugin.evidence.used_clients import (
    before_client_closes,
    on_client_dropped,
    on_client_used,
)
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.session.report_fields import CLASS_PROPERTY
from pytest_clawperator.plugin.session.run_folder import run_folder, run_id, shown_path
from pytest_clawperator.plugin.stash import CURRENT_TEST, RECORDER, TRACE
from pytest_clawperator.plugin.worker_input import SHARED_RUN_ID

_OUR_PROPERTIES = "clawperator_"


def pytest_configure(config: pytest.Config) -> None:
    """Follow the clients of tests."""
    on_client_used(config, lambda item, client: recorder_of(item).use(client))
    on_client_dropped(config, lambda item, client: recorder_of(item).drop(client))
    before_client_closes(config, _save)
    config.pluginmanager.register(_Attempts(), "clawperator-attempts")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let all workers of a run write to one folder."""
    node.workerinput[SHARED_RUN_ID] = run_id(node.config)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Notice that the settings of a test are known."""
    __tracebackhide__ = True  # a fixture that fails is shown at its own line
    value = yield
    item = request.config.stash.get(CURRENT_TEST, None)
    if fixturedef.argname == FIXTURE and item is not None and RECORDER in item.stash:
        item.stash[RECORDER].settings_changed()
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take note that a test is being torn down."""
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.is_ending = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Take the evidence of a phase that failed, or that is asked for."""
    report = yield
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.end_phase(report, call.excinfo.value if call.excinfo is not None else None)
        if report.when == "teardown":
            del item.stash[RECORDER]  # the next attempt has its own
            del item.stash[TRACE]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the recording of a test that the run was broken off in, while its device is at hand."""
    item = session.config.stash.get(CURRENT_TEST, None)
    if item is not None and RECORDER in item.stash:
        item.stash[RECORDER].drop_videos()


class _Attempts:
    """Lets another attempt at a test begin without the properties of the last one.

    Not all plugins that rerun tests report the end of an attempt. Where they do not, the
    report of the next attempt has the properties of both.
    """

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note that an attempt is over and reported."""
        if report.when == "teardown":
            self._ended.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Remove the properties of the attempt before."""
        if item.nodeid in self._ended:
            properties = item.user_properties
            properties[:] = [
                one
                for one in properties
                if one[0] == CLASS_PROPERTY or _OUR_PROPERTIES not in one[0]
            ]


def recorder_of(item: pytest.Item) -> Recorder:
    """Return the recorder of this attempt at a test."""
    if RECORDER not in item.stash:
        config = item.config
        attempt = getattr(item, "execution_count", None)  # of pytest-rerunfailures

        def folder() -> Path:
            found = run_folder(config, settings_of_item(item)) / folder_name(item.nodeid)
            return found if attempt is None else found / f"attempt-{attempt}"

        item.stash[RECORDER] = Recorder(
            item,
            partial(settings_of_item, item),
            folder,
            show=partial(shown_path, config),
            sinks=sinks_of(config),
            notice=events_of(config).notice,
            trace=begun_trace(item),
        )
    return item.stash[RECORDER]


def _save(item: pytest.Item, client: ClientActivity) -> None:
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.save(client)
