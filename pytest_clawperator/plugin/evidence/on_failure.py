"""Evidence of failures: taken while the device is still in that state, and kept in a folder.

A run has a folder in ``--claw-output``, a test one in that, and with reruns an attempt one in
that. Nothing that is there already is ever touched.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin.evidence.used_clients import before_closing, when_used
from pytest_clawperator.plugin.leasing.matrix import CLASS_PROPERTY
from pytest_clawperator.plugin.options import settings_of
from pytest_clawperator.plugin.stash import CURRENT, RECORDER, RUN

if TYPE_CHECKING:
    from pytest_clawperator.plugin.evidence.artifacts import Attachment
    from pytest_clawperator.plugin.evidence.client_activity import Watched
    from pytest_clawperator.plugin.evidence.recorder import Recorder
    from pytest_clawperator.plugin.settings import Settings

# What the controller writes into a worker's input.
HANDED = "clawperator_run"

_FIXTURE = "clawperator_settings"
_OURS = "clawperator_"
# On an item: what that fixture gave it, which is needed even when the fixture has ended.
_OWN_SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Follow the clients of tests."""
    when_used(config, lambda item, watched: recorder_of(item).use(watched))
    before_closing(config, _save)
    config.pluginmanager.register(_Attempts(), "clawperator-attempts")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let all workers of a run write to one folder."""
    node.workerinput[HANDED] = run_id(node.config)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Notice that the settings of a test are known."""
    __tracebackhide__ = True  # a fixture that fails is shown at its own line
    value = yield
    item = request.config.stash.get(CURRENT, None)
    if fixturedef.argname == _FIXTURE and item is not None and RECORDER in item.stash:
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
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the recording of a test that the run was broken off in, while its device is at hand."""
    item = session.config.stash.get(CURRENT, None)
    if item is not None and RECORDER in item.stash:
        item.stash[RECORDER].drop_videos()


class _Attempts:
    """Lets another attempt at a test begin without what was told of the last one.

    Not all who run tests again report the end of an attempt. Where they do not, the report of
    the next one tells of both.
    """

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note that all is told of an attempt."""
        if report.when == "teardown":
            self._ended.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Forget it."""
        if item.nodeid in self._ended:
            told = item.user_properties
            told[:] = [one for one in told if one[0] == CLASS_PROPERTY or _OURS not in one[0]]


def recorder_of(item: pytest.Item) -> Recorder:
    """Give who keeps the evidence of this attempt at a test."""
    if RECORDER not in item.stash:
        from pytest_clawperator.plugin.evidence.artifacts import folder_name
        from pytest_clawperator.plugin.evidence.recorder import Recorder
        from pytest_clawperator.plugin.reporting.events import events_of

        config = item.config
        attempt = getattr(item, "execution_count", None)  # of pytest-rerunfailures

        def folder() -> Path:
            found = run_folder(config, settings_of_item(item)) / folder_name(item.nodeid)
            return found if attempt is None else found / f"attempt-{attempt}"

        item.stash[RECORDER] = Recorder(
            item,
            partial(settings_of_item, item),
            folder,
            show=partial(shown, config),
            publish=partial(_publish, config),
            tell=events_of(config).notice,
        )
    return item.stash[RECORDER]


def settings_of_item(item: pytest.Item) -> Settings:
    """Give the settings of a test: what ``clawperator_settings`` gave it, or else the run's."""
    from pytest_clawperator.plugin.settings import Settings

    # pytest tells only here which of several fixtures of a name is that of a test.
    known = getattr(item, "_fixtureinfo", None)
    fixtures = known.name2fixturedefs.get(_FIXTURE) if known is not None else None
    cached = fixtures[-1].cached_result if fixtures else None
    if cached is not None and isinstance(cached[0], Settings):
        item.stash[_OWN_SETTINGS] = cached[0]
    return item.stash.get(_OWN_SETTINGS, None) or settings_of(item.config)


def run_folder(config: pytest.Config, settings: Settings | None = None) -> Path:
    """Give the folder of this run, which may not be there yet."""
    return config.rootpath / (settings or settings_of(config)).output / run_id(config)


def shown(config: pytest.Config, path: Path) -> str:
    """Write a path as somebody would who stands where pytest was started."""
    try:
        return str(path.relative_to(config.invocation_params.dir))
    except ValueError:
        return str(path)


def run_id(config: pytest.Config) -> str:
    """Give the name of this run, which all its processes share."""
    if RUN not in config.stash:
        from pytest_clawperator.plugin.evidence.artifacts import run_name

        handed = getattr(config, "workerinput", {})
        config.stash[RUN] = handed.get(HANDED) or run_name()
    return config.stash[RUN]


def _save(item: pytest.Item, watched: Watched) -> None:
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.save(watched)


def _publish(config: pytest.Config, attachment: Attachment) -> None:
    if config.pluginmanager.has_plugin("allure_listener"):  # there if a report is asked for
        from pytest_clawperator.report.allure_bridge import attach_file

        attach_file(attachment.path, name=attachment.name, mime=attachment.mime)
