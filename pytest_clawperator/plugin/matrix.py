"""A matrix: each test that uses a device is collected once for each class of devices.

The class is a parameter of ``clawperator_lease``. In one process pytest therefore brings the
tests of a class together, and sets up all fixtures that use the device again for the next.
What pytest cannot multiply runs once, on any device: methods of ``unittest.TestCase``, and
tests that ask for their device only while they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import DevicePool
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.plugin.failures import CLASS_PROPERTY, DEVICE_PROPERTY
from pytest_clawperator.plugin.markers import ASK_FOR_DEVICE
from pytest_clawperator.plugin.run import write_line
from pytest_clawperator.plugin.stash import DEVICE_CLASSES
from pytest_clawperator.plugin.worker_input import CLASSES, worker_input

_LEASE = "clawperator_lease"


def classes_of(config: pytest.Config) -> tuple[DeviceClass, ...]:
    """Return the classes of the matrix; none without a matrix."""
    if DEVICE_CLASSES not in config.stash:
        handed = worker_input(config).get(CLASSES)
        if handed is None:
            return ()
        config.stash[DEVICE_CLASSES] = tuple(DeviceClass.from_dict(one) for one in handed)
    return config.stash[DEVICE_CLASSES]


def class_of(item: pytest.Item) -> DeviceClass | None:
    """Return the class that the test was collected for, if any."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    found = params.get(_LEASE)
    return found if found is not None and found in classes_of(item.config) else None


def is_in_class(config: pytest.Config, label: str, device: DeviceInfo) -> bool:
    """Whether the device belongs to the class of this label."""
    return any(one.label == label and one.holds(device) for one in classes_of(config))


def why_class_is_empty(device_class: DeviceClass, devices: Sequence[DeviceInfo]) -> str:
    """Return why the tests of a class cannot run: none of the devices belongs to it."""
    return f"--claw-matrix: {device_class.missing(devices)}"


def empty_classes(classes: Iterable[DeviceClass], pool: DevicePool) -> dict[str, str]:
    """Return the classes that no device of the run belongs to, and why."""
    found = [one.info for one in pool.candidates]
    return {
        one.label: f"--claw-matrix: every device that is {one.label} is held by another run"
        if any(map(one.holds, found))
        else why_class_is_empty(one, found)
        for one in classes
        if not any(one.holds(held.info) for held in pool.held)
    }


@pytest.hookimpl(tryfirst=True)  # so that ids begin with the class: test_login[api35-phone-alice]
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Collect a test that uses a device once for each class."""
    classes = classes_of(metafunc.config)
    if not classes or not _uses_device(metafunc) or _has_own_device(metafunc):
        return
    if _LEASE not in metafunc.fixturenames:
        metafunc.fixturenames.append(_LEASE)  # markers bring it, once tests are collected
    labels = [one.label for one in classes]
    metafunc.parametrize(_LEASE, classes, ids=labels, indirect=True, scope="session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the class to every report of the test, even if the test ends early."""
    device_class = class_of(item)
    if device_class is not None:
        item.user_properties.append((CLASS_PROPERTY, device_class.label))


def _uses_device(metafunc: pytest.Metafunc) -> bool:
    if _LEASE in metafunc.fixturenames:
        return True
    if not any(metafunc.definition.get_closest_marker(name) for name in ASK_FOR_DEVICE):
        return False
    fixtures = metafunc.definition.session._fixturemanager
    info = fixtures.getfixtureinfo(metafunc.definition, _with_client, None)
    return _LEASE in info.names_closure


def _with_client(clawperator: object) -> None:
    """Stand in for a test whose markers will bring it a client."""


def _has_own_device(metafunc: pytest.Metafunc) -> bool:
    """Whether the test or a conftest chooses the device itself."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if _LEASE in (names.replace(",", " ").split() if isinstance(names, str) else names):
            return True
    fixtures = metafunc.definition.session._fixturemanager
    found = fixtures.getfixturedefs(_LEASE, metafunc.definition) or ()
    # A fixture that builds on the one that it replaces still gets its device by class.
    return any(one.params is not None for one in found) or any(
        _LEASE not in one.argnames for one in found[1:]
    )


_SHOWN_TESTS = 30
_SHOWN_NAMES = 3
_BAD = ("failed", "error")
_FIRST = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "rerun")


class Outcome(NamedTuple):
    """The outcome of a test as pytest names it: ``failed`` and ``F``, for example."""

    category: str
    letter: str


Row = Mapping[str, Outcome]
_NOTHING = Outcome("-", "-")


class MatrixTable:
    """Collects the outcome of each test in each class, and prints the table."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[str, dict[str, Outcome]] = {}
        self._seconds: dict[str, float] = {}
        self._begun: set[str] = set()
        self._without_class: dict[str, None] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Count a report."""
        label = self._label_of(report)
        if label is None:
            return
        self._seconds[label] = self._seconds.get(label, 0.0) + report.duration
        if report.when not in ("setup", "teardown"):
            self._begun.add(label)
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        outcome = Outcome(*status[:2])
        if outcome.category in ("", "rerun"):
            return
        row = self._outcomes.setdefault(without_class(report.nodeid, label), {})
        if row.get(label, _NOTHING).category not in _BAD:  # a failure stays one
            row[label] = outcome

    def _label_of(self, report: pytest.TestReport) -> str | None:
        properties = dict(report.user_properties)
        if CLASS_PROPERTY in properties:
            return str(properties[CLASS_PROPERTY])
        if DEVICE_PROPERTY in properties and classes_of(self._config):
            self._without_class[report.nodeid] = None
        if report.when in ("setup", "call", "teardown"):
            return None
        # Reported for a worker that died in the test: only the id has the class.
        labels = sorted((one.label for one in classes_of(self._config)), key=len, reverse=True)
        named = (label for label in labels if without_class(report.nodeid, label) != report.nodeid)
        return next(named, None)

    def write(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the tests on which classes differ, and the totals of each class."""
        verbosity = self._config.get_verbosity()
        if verbosity < 0 or not (self._outcomes or self._without_class):
            return
        terminalreporter.section("matrix")
        if self._outcomes:
            rows = _Rows(self._outcomes, self._labels(), begun=self._begun)
            limit = len(self._outcomes) if verbosity > 0 else _SHOWN_TESTS
            rows.write(terminalreporter, limit=limit, every=verbosity > 0)
            rows.write_totals(terminalreporter, self._seconds)
        self._write_without_class(terminalreporter)

    def _labels(self) -> list[str]:
        """Return the classes that had tests, in the order of the matrix."""
        known = [one.label for one in classes_of(self._config)]
        found = {label for row in self._outcomes.values() for label in row}
        return [label for label in known if label in found] + sorted(found.difference(known))

    def _write_without_class(self, reporter: pytest.TerminalReporter) -> None:
        names = list(self._without_class)
        if not names:
            return
        write_line(
            reporter,
            "without a class, on whichever device was there (unittest.TestCase, getfixturevalue,"
            " or a clawperator_lease of your own):",
        )
        for name in names[:_SHOWN_NAMES]:
            write_line(reporter, f"  {name}")
        rest = len(names) - _SHOWN_NAMES
        if rest > 0:
            write_line(reporter, f"  ... and {rest} more")


class _Rows:
    """The outcomes of tests by class, and how they are laid out."""

    def __init__(
        self, outcomes: Mapping[str, Row], labels: Sequence[str], *, begun: Collection[str]
    ) -> None:
        self._outcomes = outcomes
        self._labels = labels
        self._counts = {
            label: Counter(row[label].category for row in outcomes.values() if label in row)
            for label in labels
        }
        # A class in which no test could begin, perhaps without a device, is not compared.
        self._compared = [label for label in labels if label in begun]
        self._is_numbered = False

    def write(self, reporter: pytest.TerminalReporter, *, limit: int, every: bool) -> None:
        """Write the tests on which the classes differ, or else every test with these on top."""
        rows = sorted(self._outcomes.items(), key=lambda row: (self._rank(row[1]), row[0]))
        different = [row for row in rows if self._rank(row[1]) < 2]
        write_line(reporter, self._headline(len(different)))
        shown = (rows if every else different)[:limit]
        if shown:
            self._write_rows(reporter, shown)
        rest = len(rows if every else different) - len(shown)
        if rest > 0:
            write_line(reporter, f"... and {rest} more (-v shows them)")

    def write_totals(self, reporter: pytest.TerminalReporter, seconds: Mapping[str, float]) -> None:
        """Write a line for each class: the outcomes of its tests, and how long they took."""
        width = max(map(len, self._labels))
        for number, label in enumerate(self._labels, 1):
            counts = self._counts[label]
            line = f"{label:{width}}  {listed_counts(counts)} in {seconds[label]:.1f}s"
            if self._is_numbered:
                line = f"{number:>2}  {line}"
            if label not in self._compared:
                line += " (no test could begin)"
            write_line(reporter, line, **_colour(counts))

    def _rank(self, row: Row) -> int:
        """Return the rank of a test: 0 differs and failed, 1 differs, 2 the same in all classes."""
        found = {row[label].category for label in self._compared if label in row}
        return 2 if len(found) < 2 else 1 if found.isdisjoint(_BAD) else 0

    def _headline(self, different: int) -> str:
        count, classes = len(self._outcomes), len(self._compared)
        tests = f"{count} test{'' if count == 1 else 's'}"
        if classes < 2:
            return f"{tests}, {classes or 'no'} device class: nothing to compare"
        if not different:
            return f"{tests}, alike on all {classes} device classes"
        return f"{tests}, {different} with different outcomes on {classes} device classes:"

    def _write_rows(
        self, reporter: pytest.TerminalReporter, rows: Sequence[tuple[str, Row]]
    ) -> None:
        """Write a column for each class: in words, or numbered if words do not fit."""
        cells = [[row.get(label, _NOTHING) for label in self._labels] for _, row in rows]
        texts = [[outcome.category for outcome in line] for line in cells]
        heads = list(self._labels)
        widths = [max(map(len, column)) + 1 for column in zip(heads, *texts, strict=True)]
        room = reporter.config.get_terminal_writer().fullwidth
        if sum(widths) + len(widths) + max(len(test) for test, _ in rows) > room:
            self._is_numbered = True
            texts = [[outcome.letter for outcome in line] for line in cells]
            heads = [str(number) for number in range(1, len(heads) + 1)]
            widths = [max(2, len(head)) for head in heads]
        write_line(reporter, _joined(heads, widths, "").rstrip())
        for (test, _), line, words in zip(rows, cells, texts, strict=True):
            colour = _colour(Counter(outcome.category for outcome in line))
            write_line(reporter, _joined(words, widths, test), **colour)


def without_class(nodeid: str, label: str) -> str:
    """Return the id of a test without its class."""
    for found, left in (("[{}]", ""), ("[{}-", "["), ("-{}]", "]"), ("-{}-", "-")):
        if found.format(label) in nodeid:
            return nodeid.replace(found.format(label), left, 1)
    return nodeid


def _joined(cells: Sequence[str], widths: Sequence[int], test: str) -> str:
    padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return " ".join([*padded, "", test])


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return how often each outcome occurred: ``3 passed, 2 errors``."""
    names = [name for name in _FIRST if counts.get(name)]
    names += sorted(name for name in counts if counts[name] and name not in _FIRST)
    plural = {"error": "errors"}
    return ", ".join(
        f"{counts[name]} {plural.get(name, name) if counts[name] > 1 else name}" for name in names
    )


def _colour(counts: Mapping[str, int]) -> dict[str, bool]:
    if any(counts.get(name) for name in _BAD):
        return {"red": True}
    return {"green": True} if set(counts) == {"passed"} else {"yellow": True}
