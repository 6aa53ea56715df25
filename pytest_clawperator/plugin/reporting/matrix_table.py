"""At the end of a run with a matrix: what became of the tests in each class of devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pytest

from pytest_clawperator.plugin.leasing.matrix import classes_of
from pytest_clawperator.plugin.session.report_fields import CLASS_PROPERTY, DEVICE_PROPERTY
from pytest_clawperator.plugin.session.terminal_lines import write_line
from pytest_clawperator.plugin.worker_input import is_worker

_SHOWN_TESTS = 30
_SHOWN_NAMES = 3
_BAD = ("failed", "error")
_FIRST = ("passed", "failed", "error", "skipped")


class Outcome(NamedTuple):
    """What became of a test, in pytest's words: ``failed`` or ``F``, for one."""

    category: str
    letter: str


Row = Mapping[str, Outcome]
_NOTHING = Outcome("-", "-")


def pytest_configure(config: pytest.Config) -> None:
    """Add up, except in workers, whose reports are added up where they arrive."""
    if not is_worker(config):
        config.pluginmanager.register(MatrixTable(config), "clawperator-matrix-table")


class MatrixTable:
    """Collects what became of each test in each class, and prints it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[str, dict[str, Outcome]] = {}
        self._seconds: dict[str, float] = {}
        self._begun: set[str] = set()
        self._without_class: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
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

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show where the classes differ, and then what became of each."""
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
        # Where no test could begin, for want of a device say, there is nothing to compare.
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
        """Write a line for each class: what became of its tests, and how long they took."""
        width = max(map(len, self._labels))
        for number, label in enumerate(self._labels, 1):
            counts = self._counts[label]
            parts = [f"{counts[name]} {_plural(name, counts[name])}" for name in _ordered(counts)]
            line = f"{label:{width}}  {', '.join(parts)} in {seconds[label]:.1f}s"
            if self._is_numbered:
                line = f"{number:>2}  {line}"
            if label not in self._compared:
                line += " (no test could begin)"
            write_line(reporter, line, **_colour(counts))

    def _rank(self, row: Row) -> int:
        """Return how far up a test belongs: 0 differs and failed, 1 differs, 2 ended alike."""
        found = {row[label].category for label in self._compared if label in row}
        return 2 if len(found) < 2 else 1 if found.isdisjoint(_BAD) else 0

    def _headline(self, different: int) -> str:
        count, classes = len(self._outcomes), len(self._compared)
        tests = f"{count} test{'' if count == 1 else 's'}"
        if classes < 2:
            return f"{tests}, {classes or 'no'} class of devices: nothing to compare"
        if not different:
            return f"{tests}, alike on all {classes} classes of devices"
        return f"{tests}, {different} not alike on all {classes} classes of devices:"

    def _write_rows(
        self, reporter: pytest.TerminalReporter, rows: Sequence[tuple[str, Row]]
    ) -> None:
        """Write a column for each class: in words, or by number if these do not fit."""
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


def _plural(name: str, count: int) -> str:
    return "errors" if name == "error" and count > 1 else name


def _ordered(counts: Mapping[str, int]) -> list[str]:
    return [*(name for name in _FIRST if name in counts), *sorted(set(counts).difference(_FIRST))]


def _colour(counts: Mapping[str, int]) -> dict[str, bool]:
    if any(counts.get(name) for name in _BAD):
        return {"red": True}
    return {"green": True} if set(counts) == {"passed"} else {"yellow": True}
