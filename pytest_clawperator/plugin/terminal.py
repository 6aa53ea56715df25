"""The terminal: the devices of the run, its summary, and shared failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_clawperator.devices.operator import SUPPORTED_VERSION, is_supported
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin import failures, stash
from pytest_clawperator.plugin.clients import ClientActivity, clients_of
from pytest_clawperator.plugin.device_needs import is_ladder_replaced, uses_device
from pytest_clawperator.plugin.leasing import hold_alone
from pytest_clawperator.plugin.matrix import class_of, listed_counts
from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.plugin.run import run_folder, run_id, show_line, write_line
from pytest_clawperator.plugin.usage import is_listing
from pytest_clawperator.plugin.worker_input import LEASE, is_worker
from pytest_clawperator.text import shown_path, visible

_PREFIX = "clawperator: "
# The outcomes that are worth a line.
_BAD = ("failed", "error", "rerun")
_SHOWN_NOTICES = 20


def pytest_report_collectionfinish(
    config: pytest.Config, items: Sequence[pytest.Item]
) -> list[str]:
    """Name the device, once it is known that a test uses one."""
    # A worker was given its device, and its output is not shown.
    if is_worker(config) or config.get_verbosity() < 0 or is_listing(config):
        return []
    users = [item for item in items if uses_device(item)]
    if not users or is_ladder_replaced(config, users):
        return []
    try:
        pool = hold_alone(config)
    except ClawperatorError:
        return []  # the fixture raises it, for each test that it concerns
    return _header(config, pool.held)


def name_devices_of_workers(config: pytest.Config) -> None:
    """Name the devices that the workers are about to be given."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and stash.DEVICE_POOL in config.stash and config.get_verbosity() >= 0:
        for line in _header(config, config.stash[stash.DEVICE_POOL].held):
            write_line(reporter, line)


def add_devices(item: pytest.Item, report: pytest.TestReport) -> None:
    """Add notices and devices to a report, which may go from a worker to the controller."""
    events = item.config.stash.get(stash.EVENTS, None)
    if events is not None and (notices := events.take_notices()):
        setattr(report, failures.NOTICES, notices)
    if clients := clients_of(item):
        lines = {one.client.serial: _new_lines(item.config, one) for one in clients}
        setattr(report, failures.USED_DEVICES, lines)
    elif serial := _device_of(item, report):
        setattr(report, failures.USED_DEVICES, {serial: []})


def _new_lines(config: pytest.Config, activity: ClientActivity) -> list[str]:
    """Describe a device, once: most tests use one that was described before."""
    described = config.stash.setdefault(stash.DESCRIBED_DEVICES, set())
    if activity.client.serial in described:
        return []
    described.add(activity.client.serial)
    return [*device_lines([_candidate(activity)]), *_output_line(config)]


def _device_of(item: pytest.Item, report: pytest.TestReport) -> str | None:
    """Return the device of a test without a client: it needs none, or failed before."""
    device_class = class_of(item)
    label = device_class.label if device_class else None
    leases = item.config.stash.get(stash.LEASES_BY_CLASS, {}) if uses_device(item) else {}
    lease = leases.get(label)
    blamed = getattr(report, failures.INFRASTRUCTURE, None)
    return getattr(lease, "serial", None) or (blamed if isinstance(blamed, str) else None)


class Tally:
    """Counts the outcomes of tests on each device, and the notices about devices."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[str, Counter[str]] = {}
        self._notices: Counter[str] = Counter()
        self._named: set[str] = set()

    def name(self, serials: Iterable[str], lines: Sequence[str]) -> list[str]:
        """Return those of the lines about devices that were not shown yet."""
        new = [line for line in lines if line not in self._named]
        self._named.update(serials, new)
        return new

    def add(self, report: pytest.TestReport) -> None:
        """Count a report, and name a device that is new."""
        self._notices.update(getattr(report, failures.NOTICES, ()))
        used = getattr(report, failures.USED_DEVICES, None) or self._lost(report)
        for serial, lines in used.items():
            if serial not in self._named:
                for line in self.name([serial], lines):
                    show_line(self._config, line.removeprefix(_PREFIX), alarming=False)
            if outcome := self._outcome(report):
                self._outcomes.setdefault(serial, Counter())[outcome] += 1

    def _lost(self, report: pytest.TestReport) -> dict[str, list[str]]:
        """Return the device of a test whose worker crashed, which xdist reports in its place."""
        handed = getattr(getattr(report, "node", None), "workerinput", {}).get(LEASE)
        is_crash = report.when not in ("setup", "call", "teardown")
        if handed and is_crash and report.nodeid in self._config.stash.get(stash.DEVICE_NEEDS, {}):
            return {handed["serial"]: []}
        return {}

    def _outcome(self, report: pytest.TestReport) -> str:
        """Return the category under which pytest counts a report; most phases have none."""
        hook = self._config.hook.pytest_report_teststatus
        status = hook(report=report, config=self._config)
        return status[0] if status else ""  # without a terminal there is none

    def write(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the outcomes on each device, if there are several or failures, and the notices."""
        if terminalreporter.config.get_verbosity() < 0:
            return
        events = self._config.stash.get(stash.EVENTS, None)
        if events is not None:  # of the controller; it concerns all devices
            self._notices = Counter([*events.take_notices(), *self._notices.elements()])
        is_bad = any(counts[name] for counts in self._outcomes.values() for name in _BAD)
        if len(self._outcomes) > 1 or is_bad or self._notices:
            terminalreporter.section("devices")
            self._write_counts(terminalreporter)
            self._write_notices(terminalreporter)

    def _write_counts(self, reporter: pytest.TerminalReporter) -> None:
        width = max(map(len, self._outcomes), default=0)
        for serial, counts in sorted(self._outcomes.items()):
            write_line(reporter, f"{serial:{width}}  {listed_counts(counts)}")

    def _write_notices(self, reporter: pytest.TerminalReporter) -> None:
        for text, times in list(self._notices.items())[:_SHOWN_NOTICES]:
            write_line(reporter, f"{text} ({times} times)" if times > 1 else text, yellow=True)
        rest = len(self._notices) - _SHOWN_NOTICES
        if rest > 0:
            write_line(reporter, f"... and {rest} more", yellow=True)


def device_lines(
    candidates: Iterable[Candidate], *, profiles: Mapping[str, str] | None = None
) -> list[str]:
    """Describe devices, one line each; ``profiles`` are those of simulated Operators."""
    known = profiles or {}
    return [visible(f"{_PREFIX}{_described(one, known.get(one.serial))}") for one in candidates]


def _header(config: pytest.Config, candidates: Iterable[Candidate]) -> list[str]:
    devices = list(candidates)
    phones = config.stash.get(stash.SIMULATED_PHONES, None)
    profiles = None if phones is None else phones.profiles
    lines = [*device_lines(devices, profiles=profiles), *_output_line(config)]
    tally = config.stash.get(stash.TALLY, None)
    return tally.name([device.serial for device in devices], lines) if tally else lines


def _candidate(activity: ClientActivity) -> Candidate:
    """Return the device of a client, wherever it came from."""
    info, transport = activity.client.device.info, activity.transport
    if transport is None:
        return Candidate(info=info, url=getattr(activity.client.runner, "url", "another host"))
    server = getattr(transport, "server", None)
    return Candidate(info=info, adb=None if server is None else str(server))


def _output_line(config: pytest.Config) -> list[str]:
    """Return the line about the folder for evidence."""
    folder = shown_path(run_folder(config), config.invocation_params.dir)
    return [visible(f"{_PREFIX}evidence of failures goes to {folder}")]


def _described(candidate: Candidate, profile: str | None) -> str:
    """Describe a device; one that the run simulates has a profile of the Operator."""
    if candidate.url is not None:
        return f"{candidate.serial} behind {candidate.url}"
    version = candidate.info.operator_version
    operator = f"Operator {version}" if version else "no Operator"
    if version and not is_supported(version):
        operator += f" (made for {SUPPORTED_VERSION}: expect differences)"
    if profile is not None:
        operator += f" (simulated, profile {profile})"
    return f"{candidate.info}, {operator}" + (f", adb {candidate.adb}" if candidate.adb else "")


_PATHS = tuple(option.flag for option in OPTIONS if option.metavar in ("FILE", "FOLDER"))
# What pytest takes for the top of a project.
_TOPS = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg", "setup.py"),
)


@pytest.hookimpl(tryfirst=True)  # pytest prints the last result first
def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return a line for each option whose value pytest took for a test, and moved its rootdir.

    pytest chooses its rootdir and its ini file before it knows the options of plugins. So the
    file of ``--claw-operator-apk ~/Downloads/x.apk`` counts as a test; that of
    ``--claw-operator-apk=~/Downloads/x.apk`` does not.
    """
    if is_worker(config) or config.getoption("rootdir") or config.getoption("inifilename", None):
        return []
    top = _top_of(config.invocation_params.dir)
    if config.rootpath == top:
        return []
    return [
        visible(
            f"clawperator: the rootdir is {config.rootpath} and not {top}, because pytest takes"
            f" {value} for a place of tests: write {flag}={value}"
        )
        for flag, value in pairwise(map(str, config.invocation_params.args))
        if flag in _PATHS and (path := config.invocation_params.dir / value).exists()
        if not path.resolve().is_relative_to(top)
    ]


def _top_of(start: Path) -> Path:
    """Return the folder that pytest would take for the top of the project without the options."""
    within = (start, *start.parents)
    return next(
        (folder for folder in within if any((folder / name).is_file() for name in _TOPS)), start
    )


_SLOWEST_PER_TEST, _SLOWEST_PER_RUN = 3, 5
# Shorter actions are not worth a line.
_SLOW = 1.0


def add_slowest(item: pytest.Item, report: pytest.TestReport) -> None:
    """Add the slowest actions to the last report of a test."""
    if report.when == "teardown" and (clients := clients_of(item)):
        timed = [one for client in clients for one in client.timed]
        slowest = sorted(timed, key=lambda one: one.seconds, reverse=True)[:_SLOWEST_PER_TEST]
        setattr(report, failures.SLOWEST, [[one.seconds, one.label] for one in slowest])


class Summary:
    """Collects evidence and slow actions from reports, and prints them."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[str]] = {}
        self._crashes: dict[str, list[str]] = {}
        self._failed: set[str] = set()
        self._slowest: list[tuple[float, str, str]] = []

    def add(self, report: pytest.TestReport) -> None:
        """Collect what a report has."""
        folder = getattr(report, failures.EVIDENCE_FOLDER, None)
        if folder is not None:
            folders = self._evidence.setdefault(report.nodeid, [])
            folders += [folder] if folder not in folders else []
            crashes = self._crashes.setdefault(folder, [])
            found = getattr(report, failures.CRASHES, ())
            crashes += [crash for crash in found if crash not in crashes]
            if getattr(report, failures.HAS_FAILED, False):
                self._failed.add(report.nodeid)
        timed = getattr(report, failures.SLOWEST, ())
        self._slowest += [(seconds, label, report.nodeid) for seconds, label in timed]

    def write(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the slowest actions, and where the evidence is."""
        verbosity = terminalreporter.config.get_verbosity()
        if verbosity < 0:
            return
        least = 0.0 if verbosity > 0 else _SLOW
        slowest = sorted((one for one in self._slowest if one[0] >= least), reverse=True)
        if slowest:
            terminalreporter.section("slowest actions")
            for seconds, label, test in slowest[:_SLOWEST_PER_RUN]:
                write_line(terminalreporter, f"{seconds:6.2f}s {label}  ({test})")
        self._write_evidence(terminalreporter)

    def _write_evidence(self, reporter: pytest.TerminalReporter) -> None:
        """List the folders of tests that failed below that of the run, and count the others."""
        found = self._found(reporter.config.invocation_params.dir)
        if not found:
            return
        reporter.section("evidence")
        failed: dict[str, list[str]] = {}
        for test in [test for test in found if test in self._failed]:
            for folder in found.pop(test):
                failed.setdefault(_run_of(folder, reporter.config), []).append(folder)
        passed = Counter(_run_of(folders[0], reporter.config) for folders in found.values())
        for place in dict.fromkeys([*failed, *passed]):
            write_line(reporter, place)
            self._write_folders(reporter, place, failed.get(place, []))
            if count := passed[place]:
                write_line(reporter, f"  {count} test{'s' * (count > 1)} that did not fail")

    def _write_folders(
        self, reporter: pytest.TerminalReporter, place: str, folders: Sequence[str]
    ) -> None:
        for folder in folders:
            write_line(reporter, f"  {Path(folder).relative_to(place)}")
            for crash in self._crashes[folder]:
                write_line(reporter, f"    {crash}", red=True)

    def _found(self, start: Path) -> dict[str, list[str]]:
        """Return the folders of each test that still exist."""
        there = {
            test: [folder for folder in folders if (start / folder).is_dir()]
            for test, folders in self._evidence.items()
        }
        return {test: folders for test, folders in there.items() if folders}


def _run_of(folder: str, config: pytest.Config) -> str:
    """Return the folder of the run that the folder of a test is in."""
    name = run_id(config)
    return next((str(place) for place in Path(folder).parents if place.name == name), folder)


#: What the last line of the run counts the other tests as.
CATEGORY = "same error"


class SharedFailures:
    """Prints a failure that many tests share only once.

    The first such test is an error like any other; the others are counted beside it. Reports in
    files have the reason with each test.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._others: dict[str, set[str]] = {}

    def status(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Count a test beside the first that failed for the same cause."""
        cause = getattr(report, failures.SHARED_FAILURE, None)
        if cause is None or not report.failed:
            return None
        if self._first.setdefault(cause, report.nodeid) == report.nodeid:
            return None
        self._others.setdefault(cause, set()).add(report.nodeid)
        return CATEGORY, "E", "ERROR"

    def write(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write how many tests share each cause."""
        if not self._others:
            return
        terminalreporter.section(CATEGORY)
        for cause, others in self._others.items():
            text = f"{self._first[cause]} and {len(others)} more: {cause.splitlines()[0]}"
            write_line(terminalreporter, text, red=True)
