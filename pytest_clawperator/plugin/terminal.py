"""The terminal: which devices the run uses, and at its end what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_clawperator.devices.operator import SUPPORTED_VERSION, is_supported
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.plugin.clients import ClientActivity, clients_of
from pytest_clawperator.plugin.device_needs import is_ladder_replaced, uses_device
from pytest_clawperator.plugin.failures import INFRASTRUCTURE, NOTICES, USED_DEVICES
from pytest_clawperator.plugin.leasing import hold_alone
from pytest_clawperator.plugin.matrix import class_of
from pytest_clawperator.plugin.options import OPTIONS
from pytest_clawperator.plugin.phones import PHONES_PLUGIN
from pytest_clawperator.plugin.run import run_folder, show_line, shown_path, write_line
from pytest_clawperator.plugin.stash import (
    DESCRIBED_DEVICES,
    DEVICE_NEEDS,
    DEVICE_POOL,
    EVENTS,
    LEASES_BY_CLASS,
)
from pytest_clawperator.plugin.usage import is_listing
from pytest_clawperator.plugin.worker_input import LEASE, is_worker
from pytest_clawperator.text import visible

_TALLY = "clawperator-tally"

_PREFIX = "clawperator: "

# The outcomes in the order in which they are written, and those that are worth a line.
_BAD = ("failed", "error", "rerun")

_OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "rerun")

_SHOWN_NOTICES = 20


def pytest_configure(config: pytest.Config) -> None:
    """Count, except in workers, whose reports are counted where they arrive."""
    if not is_worker(config):
        config.pluginmanager.register(Tally(config), _TALLY)


def pytest_report_collectionfinish(
    config: pytest.Config, items: Sequence[pytest.Item]
) -> list[str]:
    """Name the device, once it is known that a test uses one."""
    # A worker was handed its device, and nobody reads what it writes.
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


@pytest.hookimpl(optionalhook=True, trylast=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[object]) -> None:
    """Name the devices that the workers are about to be given."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and DEVICE_POOL in config.stash and config.get_verbosity() >= 0:
        for line in _header(config, config.stash[DEVICE_POOL].held):
            write_line(reporter, line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add notices and devices to the report, which also goes from a worker to the controller."""
    report = yield
    events = item.config.stash.get(EVENTS, None)
    if events is not None and (notices := events.take_notices()):
        setattr(report, NOTICES, notices)
    if clients := clients_of(item):
        lines = {one.client.serial: _new_lines(item.config, one) for one in clients}
        setattr(report, USED_DEVICES, lines)
    elif serial := _device_of(item, report):
        setattr(report, USED_DEVICES, {serial: []})
    return report


def _new_lines(config: pytest.Config, activity: ClientActivity) -> list[str]:
    """Describe a device, once: most tests use one that was described before."""
    described = config.stash.setdefault(DESCRIBED_DEVICES, set())
    if activity.client.serial in described:
        return []
    described.add(activity.client.serial)
    return [*device_lines([_candidate(activity)]), *_output_line(config)]


def _device_of(item: pytest.Item, report: pytest.TestReport) -> str | None:
    """Return the device of a test that has no client: it needs none, or did not get that far."""
    device_class = class_of(item)
    label = device_class.label if device_class else None
    lease = item.config.stash.get(LEASES_BY_CLASS, {}).get(label) if uses_device(item) else None
    blamed = getattr(report, INFRASTRUCTURE, None)
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

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a report, and name a device that is new."""
        self._notices.update(getattr(report, NOTICES, ()))
        for serial, lines in (getattr(report, USED_DEVICES, None) or self._lost(report)).items():
            if serial not in self._named:
                self._show(self.name([serial], lines))
            if outcome := self._outcome(report):
                self._outcomes.setdefault(serial, Counter())[outcome] += 1

    def _lost(self, report: pytest.TestReport) -> dict[str, list[str]]:
        """Return the device of a test whose worker crashed, which xdist reports in its place."""
        handed = getattr(getattr(report, "node", None), "workerinput", {}).get(LEASE)
        is_crash = report.when not in ("setup", "call", "teardown")
        if handed and is_crash and report.nodeid in self._config.stash.get(DEVICE_NEEDS, {}):
            return {handed["serial"]: []}
        return {}

    def _outcome(self, report: pytest.TestReport) -> str:
        """Return the word that the last line of the run has for it; most phases have none."""
        hook = self._config.hook.pytest_report_teststatus
        status = hook(report=report, config=self._config)
        return status[0] if status else ""  # without a terminal nobody has a word for it

    def _show(self, lines: Iterable[str]) -> None:
        for line in lines:
            show_line(self._config, line.removeprefix(_PREFIX), alarming=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write how many tests each device ran, where that is news, and the notices."""
        if terminalreporter.config.get_verbosity() < 0:
            return
        events = self._config.stash.get(EVENTS, None)
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
            names = [*_OUTCOMES, *sorted(counts.keys() - set(_OUTCOMES))]
            parts = [_counted(counts[name], name) for name in names if counts[name]]
            write_line(reporter, f"{serial:{width}}  {', '.join(parts)}")

    def _write_notices(self, reporter: pytest.TerminalReporter) -> None:
        for text, times in list(self._notices.items())[:_SHOWN_NOTICES]:
            write_line(reporter, f"{text} ({times} times)" if times > 1 else text, yellow=True)
        rest = len(self._notices) - _SHOWN_NOTICES
        if rest > 0:
            write_line(reporter, f"... and {rest} more", yellow=True)


def _counted(number: int, outcome: str) -> str:
    return f"{number} {outcome}{'s' if outcome == 'error' and number > 1 else ''}"


def device_lines(
    candidates: Iterable[Candidate], *, profiles: Mapping[str, str] | None = None
) -> list[str]:
    """Describe devices, one line each; ``profiles`` are those of simulated Operators."""
    known = profiles or {}
    return [visible(f"{_PREFIX}{_described(one, known.get(one.serial))}") for one in candidates]


def _profiles(config: pytest.Config) -> dict[str, str]:
    """Return the profiles of the phones that this process simulates, by their serials."""
    return getattr(config.pluginmanager.get_plugin(PHONES_PLUGIN), "profiles", {})


def _header(config: pytest.Config, candidates: Iterable[Candidate]) -> list[str]:
    devices = list(candidates)
    lines = [*device_lines(devices, profiles=_profiles(config)), *_output_line(config)]
    tally = config.pluginmanager.get_plugin(_TALLY)
    return tally.name([device.serial for device in devices], lines) if tally else lines


def _candidate(activity: ClientActivity) -> Candidate:
    """Return the device of a client, wherever it came from."""
    info, transport = activity.client.device.info, activity.transport
    if transport is None:
        return Candidate(info=info, url=getattr(activity.client.runner, "url", "another host"))
    server = getattr(transport, "server", None)
    return Candidate(info=info, adb=None if server is None else str(server))


def _output_line(config: pytest.Config) -> list[str]:
    """Return the line that says where evidence goes, should there be any."""
    if not config.pluginmanager.has_plugin("pytest_clawperator.plugin.recorder"):
        return []
    folder = shown_path(config, run_folder(config))
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
    """Return a line for each such option, below that of the rootdir."""
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
        for flag, value in _apart(list(map(str, config.invocation_params.args)))
        if _is_elsewhere(config.invocation_params.dir / value, top)
    ]


def _apart(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options with paths whose value is an argument of its own."""
    for flag, value in pairwise(arguments):
        if flag in _PATHS:
            yield flag, value


def _is_elsewhere(path: Path, top: Path) -> bool:
    return path.exists() and not path.resolve().is_relative_to(top)


def _top_of(start: Path) -> Path:
    """Return the folder that pytest would take for the top of the project without the options."""
    within = (start, *start.parents)
    return next(
        (folder for folder in within if any((folder / name).is_file() for name in _TOPS)), start
    )
