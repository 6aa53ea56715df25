"""What the plugin says: which devices the run uses, and at its end what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_clawperator.plugin.health import INFRASTRUCTURE
from pytest_clawperator.plugin.stash import EVENTS, POOL

if TYPE_CHECKING:
    from pytest_clawperator.devices.pool import Candidate

#: The property of a test, in reports too, that says which device it ran on.
DEVICE_PROPERTY = "clawperator_device"

_TROUBLE = "clawperator_trouble"
_LADDER = ("clawperator_lease", "clawperator_transport", "clawperator_client")
_OUTCOMES = ("passed", "failed", "errors", "skipped", "rerun")
_SHOWN_TROUBLE = 20


def pytest_configure(config: pytest.Config) -> None:
    """Count, except in workers, whose reports are counted where they arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(), "clawperator-tally")


def pytest_report_collectionfinish(
    config: pytest.Config, items: Sequence[pytest.Item]
) -> list[str]:
    """Name the device, once it is known that a test uses one."""
    if config.get_verbosity() < 0 or config.option.collectonly:
        return []
    users = [item for item in items if "clawperator_lease" in getattr(item, "fixturenames", ())]
    if not users or _is_replaced(config, users):
        return []
    from pytest_clawperator.errors import ClawperatorError
    from pytest_clawperator.plugin.leasing import lease_of, pool_of

    try:
        lease_of(config)
    except ClawperatorError:
        return []  # the fixture says it, to each test that it concerns
    return [*device_lines(pool_of(config).taken.values()), *_output_line(config)]


@pytest.hookimpl(optionalhook=True, trylast=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[object]) -> None:
    """Name the devices that the workers are about to be given."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and POOL in config.stash and config.get_verbosity() >= 0:
        devices = device_lines(config.stash[POOL].candidates[: len(specs)])
        for line in [*devices, *_output_line(config)]:
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
    return report


class Tally:
    """Counts what became of the tests on each device, and what devices were noticed for."""

    def __init__(self) -> None:
        self._outcomes: dict[str, Counter[str]] = {}
        self._trouble: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what a report tells."""
        self._trouble.update(getattr(report, _TROUBLE, ()))
        serial = dict(report.user_properties).get(DEVICE_PROPERTY)
        if serial is None or (report.when != "call" and report.passed):
            return
        is_error = report.when != "call" or getattr(report, INFRASTRUCTURE, False)
        outcome = "errors" if report.failed and is_error else report.outcome
        self._outcomes.setdefault(str(serial), Counter())[outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many tests each device ran, and what it was noticed for."""
        if terminalreporter.config.get_verbosity() < 0:
            return
        if len(self._outcomes) > 1 or self._trouble:
            terminalreporter.section("devices")
            self._write_counts(terminalreporter)
            self._write_trouble(terminalreporter)

    def _write_counts(self, reporter: pytest.TerminalReporter) -> None:
        width = max(map(len, self._outcomes), default=0)
        for serial, counts in sorted(self._outcomes.items()):
            told = [f"{counts[name]} {name}" for name in _OUTCOMES if counts[name]]
            reporter.line(f"{serial:{width}}  {', '.join(told)}")

    def _write_trouble(self, reporter: pytest.TerminalReporter) -> None:
        for text, times in list(self._trouble.items())[:_SHOWN_TROUBLE]:
            reporter.line(f"{text} ({times} times)" if times > 1 else text, yellow=True)
        rest = len(self._trouble) - _SHOWN_TROUBLE
        if rest > 0:
            reporter.line(f"... and {rest} more", yellow=True)


def device_lines(candidates: Iterable[Candidate]) -> list[str]:
    """Describe devices, one line each."""
    return [f"clawperator: {_described(candidate)}" for candidate in candidates]


def _output_line(config: pytest.Config) -> list[str]:
    """Say where evidence goes, should there be any."""
    if not config.pluginmanager.has_plugin("pytest_clawperator.plugin.recording"):
        return []
    from pytest_clawperator.plugin.recording import run_folder, shown

    return [f"clawperator: evidence of failures goes to {shown(config, run_folder(config))}"]


def _described(candidate: Candidate) -> str:
    from pytest_clawperator.devices.operator import SUPPORTED_VERSION, is_supported

    if candidate.url is not None:
        return f"{candidate.serial} behind {candidate.url}"
    version = candidate.info.operator_version
    operator = f"Operator {version}" if version else "no Operator"
    if version and not is_supported(version):
        operator += f" (made for {SUPPORTED_VERSION}: expect differences)"
    return f"{candidate.info}, {operator}, adb {candidate.adb}"


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
