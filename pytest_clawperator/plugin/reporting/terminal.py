"""What the plugin says: which devices the run uses, and at its end what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.evidence.used_clients import clients_of
from pytest_clawperator.plugin.leasing.worker_device import HANDED_LEASE
from pytest_clawperator.plugin.reporting.infrastructure import INFRASTRUCTURE
from pytest_clawperator.plugin.stash import EVENTS, LEASE, NEEDS, POOL, TOLD, UNSAID

if TYPE_CHECKING:
    from pytest_clawperator.devices.pool import Candidate
    from pytest_clawperator.plugin.evidence.client_activity import Watched

# Of a report: what devices were noticed for, and by their serials what is said of those that
# the test uses.
_TROUBLE, _USED = "clawperator_trouble", "clawperator_used"
_TALLY = "clawperator-tally"
_PREFIX = "clawperator: "
_LADDER = ("clawperator_lease", "clawperator_transport", "clawperator_client")
# As they are told, in this order; the rest is as it should be.
_BAD = ("failed", "error", "rerun")
_OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "rerun")
_SHOWN_TROUBLE = 20


def pytest_configure(config: pytest.Config) -> None:
    """Count, except in workers, whose reports are counted where they arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(config), _TALLY)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say what could not be said before there was a terminal."""
    from pytest_clawperator.plugin.reporting.events import show_line

    if not hasattr(session.config, "workerinput"):
        unsaid, session.config.stash[UNSAID] = session.config.stash.get(UNSAID, []), []
        for text in unsaid:
            show_line(session.config, text)


def pytest_report_collectionfinish(
    config: pytest.Config, items: Sequence[pytest.Item]
) -> list[str]:
    """Name the device, once it is known that a test uses one."""
    is_worker = hasattr(config, "workerinput")  # it was handed its device, and nobody reads this
    if is_worker or config.get_verbosity() < 0 or config.option.collectonly:
        return []
    from pytest_clawperator.plugin.leasing.device_needs import uses_device

    users = [item for item in items if uses_device(item)]
    if not users or _is_replaced(config, users):
        return []
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.leasing.held_devices import hold_alone

    try:
        pool = hold_alone(config)
    except ClawperatorError:
        return []  # the fixture says it, to each test that it concerns
    return _header(config, pool.held)


@pytest.hookimpl(optionalhook=True, trylast=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[object]) -> None:
    """Name the devices that the workers are about to be given."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and POOL in config.stash and config.get_verbosity() >= 0:
        for line in _header(config, config.stash[POOL].held):
            reporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let what was noticed travel with the report, also from a worker to the controller."""
    report = yield
    events = item.config.stash.get(EVENTS, None)
    if events is not None and (trouble := events.take_trouble()):
        setattr(report, _TROUBLE, trouble)
    if clients := clients_of(item):
        said = {one.client.serial: _introduced(item.config, one) for one in clients}
        setattr(report, _USED, said)
    elif serial := _wanted(item, report):
        setattr(report, _USED, {serial: []})
    return report


def _introduced(config: pytest.Config, watched: Watched) -> list[str]:
    """Describe a device, once: most tests use one that was described before."""
    told = config.stash.setdefault(TOLD, set())
    if watched.client.serial in told:
        return []
    told.add(watched.client.serial)
    return [*device_lines([_candidate(watched)]), *_output_line(config)]


def _wanted(item: pytest.Item, report: pytest.TestReport) -> str | None:
    """Give the device of a test that has no client: it needs none, or did not get that far."""
    from pytest_clawperator.plugin.leasing.device_needs import uses_device
    from pytest_clawperator.plugin.leasing.matrix import class_of

    device_class = class_of(item)
    label = device_class.label if device_class else None
    lease = item.config.stash.get(LEASE, {}).get(label) if uses_device(item) else None
    blamed = getattr(report, INFRASTRUCTURE, None)
    return getattr(lease, "serial", None) or (blamed if isinstance(blamed, str) else None)


class Tally:
    """Counts what became of the tests on each device, and what devices were noticed for."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[str, Counter[str]] = {}
        self._trouble: Counter[str] = Counter()
        self._named: set[str] = set()

    def name(self, serials: Iterable[str], lines: Sequence[str]) -> list[str]:
        """Give those of the lines about devices that nobody has seen yet."""
        new = [line for line in lines if line not in self._named]
        self._named.update(serials, new)
        return new

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what a report tells, and name a device that is new."""
        self._trouble.update(getattr(report, _TROUBLE, ()))
        for serial, lines in (getattr(report, _USED, None) or self._lost(report)).items():
            if serial not in self._named:
                self._show(self.name([serial], lines))
            if outcome := self._outcome(report):
                self._outcomes.setdefault(serial, Counter())[outcome] += 1

    def _lost(self, report: pytest.TestReport) -> dict[str, list[str]]:
        """Give the device of a test whose worker crashed, which xdist reports in its place."""
        handed = getattr(getattr(report, "node", None), "workerinput", {}).get(HANDED_LEASE)
        is_crash = report.when not in ("setup", "call", "teardown")
        if handed and is_crash and report.nodeid in self._config.stash.get(NEEDS, {}):
            return {handed["serial"]: []}
        return {}

    def _outcome(self, report: pytest.TestReport) -> str:
        """Give the word that the last line of the run has for it; most phases have none."""
        hook = self._config.hook.pytest_report_teststatus
        status = hook(report=report, config=self._config)
        return status[0] if status else ""  # without a terminal nobody has a word for it

    def _show(self, lines: Iterable[str]) -> None:
        from pytest_clawperator.plugin.reporting.events import show_line

        for line in lines:
            show_line(self._config, line.removeprefix(_PREFIX), alarming=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many tests each device ran, where that is news, and what was noticed."""
        if terminalreporter.config.get_verbosity() < 0:
            return
        events = self._config.stash.get(EVENTS, None)
        if events is not None:  # of who hands tests out; it concerns all devices
            self._trouble = Counter([*events.take_trouble(), *self._trouble.elements()])
        is_bad = any(counts[name] for counts in self._outcomes.values() for name in _BAD)
        if len(self._outcomes) > 1 or is_bad or self._trouble:
            terminalreporter.section("devices")
            self._write_counts(terminalreporter)
            self._write_trouble(terminalreporter)

    def _write_counts(self, reporter: pytest.TerminalReporter) -> None:
        width = max(map(len, self._outcomes), default=0)
        for serial, counts in sorted(self._outcomes.items()):
            names = [*_OUTCOMES, *sorted(counts.keys() - set(_OUTCOMES))]
            told = [_counted(counts[name], name) for name in names if counts[name]]
            reporter.line(f"{serial:{width}}  {', '.join(told)}")

    def _write_trouble(self, reporter: pytest.TerminalReporter) -> None:
        for text, times in list(self._trouble.items())[:_SHOWN_TROUBLE]:
            reporter.line(f"{text} ({times} times)" if times > 1 else text, yellow=True)
        rest = len(self._trouble) - _SHOWN_TROUBLE
        if rest > 0:
            reporter.line(f"... and {rest} more", yellow=True)


def _counted(number: int, outcome: str) -> str:
    return f"{number} {outcome}{'s' if outcome == 'error' and number > 1 else ''}"


def device_lines(candidates: Iterable[Candidate]) -> list[str]:
    """Describe devices, one line each."""
    return [f"{_PREFIX}{_described(candidate)}" for candidate in candidates]


def _header(config: pytest.Config, candidates: Iterable[Candidate]) -> list[str]:
    devices = list(candidates)
    lines = [*device_lines(devices), *_output_line(config)]
    tally = config.pluginmanager.get_plugin(_TALLY)
    return tally.name([device.serial for device in devices], lines) if tally else lines


def _candidate(watched: Watched) -> Candidate:
    """Give the device of a client, wherever it came from."""
    from pytest_clawperator.devices.pool import Candidate

    info, transport = watched.client.device.info, watched.transport
    if transport is None:
        return Candidate(info=info, url=getattr(watched.client.runner, "url", "another host"))
    server = getattr(transport, "server", None)
    return Candidate(info=info, adb=None if server is None else str(server))


def _output_line(config: pytest.Config) -> list[str]:
    """Say where evidence goes, should there be any."""
    if not config.pluginmanager.has_plugin("pytest_clawperator.plugin.evidence.on_failure"):
        return []
    from pytest_clawperator.plugin.evidence.on_failure import run_folder, shown

    return [f"{_PREFIX}evidence of failures goes to {shown(config, run_folder(config))}"]


def _described(candidate: Candidate) -> str:
    from pytest_clawperator.devices.operator import SUPPORTED_VERSION, is_supported

    if candidate.url is not None:
        return f"{candidate.serial} behind {candidate.url}"
    version = candidate.info.operator_version
    operator = f"Operator {version}" if version else "no Operator"
    if version and not is_supported(version):
        operator += f" (made for {SUPPORTED_VERSION}: expect differences)"
    return f"{candidate.info}, {operator}" + (f", adb {candidate.adb}" if candidate.adb else "")


def _is_replaced(config: pytest.Config, items: Iterable[pytest.Item]) -> bool:
    """Tell whether a conftest or a test module brings its own way to a device."""
    places: set[object] = {*config.pluginmanager.get_plugins()}
    places.update(getattr(item, "module", None) for item in items)
    mine = "pytest_clawperator.plugin.fixtures"
    return any(
        hasattr(place, name)
        for place in places
        if getattr(place, "__name__", None) != mine
        for name in _LADDER
    )
