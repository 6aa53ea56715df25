"""What happens to the report of a test, step by step.

A report is made in the process that runs the test: ``pytest_runtest_makereport`` below. It is
then logged, with ``-n`` in the controller as well, where the reports of all workers come together:
``RunReports``.

Trouble with a device is an error of the run and not a failure of the test.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext

import pytest

from pytest_clawperator.errors import ClawperatorError, ErrorCode, ExpectationError, LeaseError
from pytest_clawperator.plugin import (
    clients,
    failures,
    goldens,
    kinds,
    phases,
    recorder,
    run_index,
    terminal,
)
from pytest_clawperator.plugin.clients import clients_of, use_clients_of_fixtures
from pytest_clawperator.plugin.collectors import write_validated_places
from pytest_clawperator.plugin.device_needs import write_unfit
from pytest_clawperator.plugin.failures import code_of
from pytest_clawperator.plugin.hiding import hide_in_report
from pytest_clawperator.plugin.matrix import MatrixTable
from pytest_clawperator.plugin.phones import PHONES_HINT, blame_ended_phones, end_of_phones
from pytest_clawperator.plugin.report_sinks import AllureFiles, correct_junit
from pytest_clawperator.plugin.settings import settings_of_item
from pytest_clawperator.plugin.stash import CURRENT_TEST, DEVICE_HEALTH, EVENTS, TALLY, USED_CLIENTS
from pytest_clawperator.plugin.worker_input import is_worker
from pytest_clawperator.text import visible

_Status = tuple[str, str, str]
_Explained = list[list[str]]
_RELEASE = "error while a device was released"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make the report of a phase: the steps before pytest describes the error, and those after."""
    excinfo = kinds.excinfo_of(item, call)
    error = None if excinfo is None else excinfo.value
    trouble = failures.device_trouble(error)

    # The error as it will be described.
    if USED_CLIENTS in item.stash:  # else the test has ended, and this is about closing clients
        use_clients_of_fixtures(item)
    phones_ended = _blame_phones(item.config, trouble)
    failures.name_options(error)
    if clients_of(item):
        _show_control_characters(error)
    if excinfo is not None and not _shows_all(item):
        failures.end_in_test(excinfo)

    # pytest and other plugins; secrets are hidden before any of these sees the report.
    is_beyond = failures.is_beyond_xfail(error, when=call.when, raises=_expected_types(item))
    with _not_expected_to_fail(item) if is_beyond else nullcontext():
        report = yield
    error = None if call.excinfo is None else call.excinfo.value  # a skip, if it was unittest's

    # The words of the report.
    kinds.note_subtest(item, report, error)
    phases.add_soft_failures(item, report, error)
    _describe(item, report, error, is_known=phones_ended)

    # What is kept of the phase: evidence, trace, and what Allure, JUnit XML and HTML show of them.
    # Devices are released when there is evidence of all that failed on them.
    goldens.note_outcome(item, report)
    recorder.keep_evidence(item, report, trouble or error)
    if report.when == "teardown" and (failed := _release(item, report)) is not None:
        error, trouble = failed, failures.device_trouble(failed)
        _describe(item, report, error, is_known=phones_ended)
    recorder.end_phase(item, report, trouble or error)

    # What the controller and the terminal want to know.
    run_index.add_facts(item, report, trouble or error)
    terminal.add_slowest(item, report)
    terminal.add_devices(item, report)
    return report


def _shows_all(item: pytest.Item) -> bool:
    return bool(item.config.getoption("fulltrace", False))


def _describe(
    item: pytest.Item, report: pytest.TestReport, error: BaseException | None, *, is_known: bool
) -> None:
    """Describe an error in the words of the report, and mark whose fault it is.

    ``is_known``: the user knows already what happened to the device.
    """
    if not _shows_all(item):
        failures.hide_inner_causes(report, error)
    failures.report_shared(report, error)
    failures.begin_with_code(report, error)
    if report.failed and failures.is_asserted(error):
        setattr(report, failures.ASSERTED, True)
    _mark_infrastructure(item.config, report, error, is_known=is_known)


def _release(item: pytest.Item, report: pytest.TestReport) -> BaseException | None:
    """Close what waited for the report of this test; an error in that is one of its teardown.

    If the run now stops at a failure, devices stay open until its end.
    """
    config = item.config
    if report.failed and (settings_of_item(item).pause or config.getoption("usepdb", False)):
        return None
    through = (KeyboardInterrupt, pytest.exit.Exception)
    call = pytest.CallInfo.from_call(
        lambda: clients.close_all(config), when="teardown", reraise=through
    )
    if call.excinfo is None:
        return None
    error = call.excinfo.value
    failures.name_options(error)
    own = pytest.TestReport.from_item_and_call(item, call)
    if report.failed:
        report.sections.append((_RELEASE, visible(own.longreprtext)))
        return None
    report.outcome, report.longrepr = "failed", own.longrepr
    vars(report).pop("wasxfail", None)
    setattr(report, failures.RELEASED_BADLY, True)
    hide_in_report(report)
    return error


@pytest.hookimpl(wrapper=True, trylast=True, specname="pytest_runtest_makereport")
def pytest_runtest_makereport_innermost(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Complete what pytest itself described, and hide secrets, before other plugins see it."""
    report = yield
    show_whole_steps = getattr(item.parent, "show_whole_steps", None)  # of a test without Python
    if show_whole_steps is not None:
        show_whole_steps(report)
    hide_in_report(report)
    return report


class RunReports:
    """What happens to reports that are logged: in a worker little, in the controller all of it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = is_worker(config)
        self._shared = terminal.SharedFailures()
        self._matrix = MatrixTable(config)
        self._allure = AllureFiles(config)
        self._summary = terminal.Summary()
        self._tally = config.stash[TALLY] = terminal.Tally(config)
        self._index = run_index.RunIndex(config)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note when a test began."""
        self._index.begin_test(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what is ours from a report before others show it."""
        blame_ended_phones(self._config, report)
        hide_in_report(report)  # what other plugins added
        recorder.note_end_of_attempt(self._config, report)
        if not self._is_worker:
            self._tally.add(report)
            self._summary.add(report)
            self._allure.add(report)
            self._matrix.add(report)

    @pytest.hookimpl(trylast=True, specname="pytest_runtest_logreport")
    def pytest_runtest_logreport_last(self, report: pytest.TestReport) -> None:
        """Correct what others wrote of a report, and write it to the index."""
        if not self._is_worker:
            if report.when == "call" and (report.failed or hasattr(report, kinds.LEFT_TO_TEST)):
                correct_junit(self._config.pluginmanager, report)
            self._index.add(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> _Status | None:
        """Count a test whose device failed as an error, and a shared failure beside the first."""
        if not self._is_worker and (status := self._shared.status(report)):
            return status
        if hasattr(report, kinds.LEFT_TO_TEST):
            return "", "", ""
        return ("error", "E", "ERROR") if _device_failed_in_call(report) else None

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        """Write the sections of the summary."""
        self._tally.write(terminalreporter)
        self._summary.write(terminalreporter)
        self._shared.write(terminalreporter)
        write_validated_places(terminalreporter, exitstatus)
        write_unfit(terminalreporter)
        self._matrix.write(terminalreporter)
        goldens.write_goldens(terminalreporter)

    @pytest.hookimpl(trylast=True, specname="pytest_terminal_summary")
    def pytest_terminal_summary_last(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write where the page of the run is."""
        self._index.write(terminalreporter)

    def end(self, exitstatus: int) -> None:
        """Write the files about the whole run: its index, and what Allure shows of it."""
        if not self._is_worker:
            self._allure.write()
            self._index.end(exitstatus)


def _mark_infrastructure(
    config: pytest.Config,
    report: pytest.TestReport,
    error: BaseException | None,
    *,
    is_known: bool,
) -> None:
    """Mark a report whose failure is the device's, and begin its message with that."""
    trouble = failures.device_trouble(error)
    if isinstance(trouble, LeaseError) or code_of(trouble) == ErrorCode.DEVICE_LEASED:
        setattr(report, failures.LEASE_PROBLEM, True)
    if not report.failed or trouble is None:
        return
    setattr(report, failures.INFRASTRUCTURE, trouble.serial or True)
    if failures.is_put_aside(trouble) or _is_given_up(config, trouble.serial):
        setattr(report, failures.PUT_ASIDE, trouble.serial)
    failures.begin_message(report, f"{trouble.code}: {trouble.message}")
    # What is found out before a test was shown by its check.
    if report.when != "setup" and not is_known and EVENTS in config.stash:
        message = f"{trouble.code}: {trouble.message.splitlines()[0]}"
        config.stash[EVENTS].notice(trouble.serial or "", message)


def _is_given_up(config: pytest.Config, serial: str | None) -> bool:
    """Whether a device of this process failed its check twice."""
    known = config.stash.get(DEVICE_HEALTH, {}).items()
    return any(health.is_put_aside and runner.serial == serial for runner, health in known)


def _device_failed_in_call(report: pytest.TestReport) -> bool:
    """Whether the device failed while the test itself ran."""
    return failures.is_devices_fault(report) and report.when == "call" and report.failed


def _blame_phones(config: pytest.Config, trouble: ClawperatorError | None) -> bool:
    """Put first that simulated phones have ended: that adb does not answer only follows from it.

    Return whether they have.
    """
    end = None if trouble is None else end_of_phones(config, trouble.serial)
    if trouble is None or end is None:
        return False
    if end not in trouble.message:  # a fixture of several tests fails with the same error for each
        trouble.message, trouble.hint = f"{end}: {trouble.message}", PHONES_HINT
    return True


def _expected_types(item: pytest.Item) -> tuple[type[BaseException], ...]:
    """Return the types of errors that the markers of a test name with ``raises=``."""
    named = [mark.kwargs.get("raises") for mark in item.iter_markers("xfail")]
    every = [one for each in named for one in (each if isinstance(each, tuple) else (each,))]
    return tuple(one for one in every if isinstance(one, type) and issubclass(one, BaseException))


@contextmanager
def _not_expected_to_fail(item: pytest.Item) -> Iterator[None]:
    """Ignore for a moment that a test is expected to fail: not so.

    A report that is corrected afterwards comes too late for others who read it, as Allure does.
    """
    # Where pytest's own plugin keeps it; there is no public name.
    key = getattr(item.config.pluginmanager.get_plugin("skipping"), "xfailed_key", None)
    if key is None:
        yield
        return
    expected, item.stash[key] = item.stash.get(key, None), None
    try:
        yield
    finally:
        item.stash[key] = expected


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare(config: pytest.Config) -> Generator[None, _Explained, _Explained]:
    """Show differences without colours: pytest's would look like control characters of a phone."""
    item = config.stash.get(CURRENT_TEST, None)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if item is None or reporter is None or not clients_of(item):
        return (yield)
    writer = config.get_terminal_writer()
    is_highlighted, writer.code_highlight = writer.code_highlight, False
    try:
        return (yield)
    finally:
        writer.code_highlight = is_highlighted


def _show_control_characters(error: BaseException | None) -> None:
    """Show the control characters in the messages of errors that are not ours."""
    for one in failures.with_causes(error):
        if isinstance(one, (ClawperatorError, ExpectationError)):
            continue
        one.args = tuple(visible(each) if isinstance(each, str) else each for each in one.args)
        if isinstance(one, pytest.fail.Exception | pytest.skip.Exception) and one.msg:
            one.msg = visible(one.msg)
