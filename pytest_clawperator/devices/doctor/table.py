"""A report as people read it: a table that fits their terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_clawperator.devices.doctor.report import ByHand, Finding, Report, Status
from pytest_clawperator.remedies import Wording, for_scripts
from pytest_clawperator.text import visible_line

#: How the status of a check is shown, and in terminals that know ASCII only.
SYMBOLS: dict[Status, str] = {"pass": "✓", "warn": "!", "fail": "✗"}
ASCII_SYMBOLS: dict[Status, str] = {"pass": "+", "warn": "!", "fail": "x"}

_NARROWEST = 50
_SHORTEST_ID = 20


@dataclass(frozen=True)
class Line:
    """One line, and the status that it is about, for those who show it in colours."""

    text: str
    status: Status | None = None


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a table is written: for how many columns, in which characters and words."""

    width: int = 80
    is_ascii: bool = False
    wording: Wording = for_scripts

    def symbol(self, status: Status) -> str:
        """Return the sign of a status."""
        return (ASCII_SYMBOLS if self.is_ascii else SYMBOLS)[status]

    @property
    def arrow(self) -> str:
        """The sign before a step that mends something."""
        return "->" if self.is_ascii else "→"


def can_show(encoding: str | None) -> bool:
    """Whether a terminal of this encoding has the signs of the table."""
    try:
        "".join([*SYMBOLS.values(), "→"]).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def table(reports: Sequence[Report], style: Style) -> list[Line]:
    """Return the lines for one device with all its checks, or for several with their troubles.

    Devices with the same trouble stand together, so that forty of them are no forty pages.
    """
    if len(reports) == 1:
        (report,) = reports
        return [Line(_title(report)), *_rows(report, report.findings, style)]
    return [
        *_host_rows(reports, style),
        *_device_rows(reports, style),
        *_trouble_rows(reports, style),
    ]


def verdict(reports: Sequence[Report]) -> Line:
    """Return one line about all devices: whether they are fit for tests."""
    states = [worst(report.findings) for report in reports]
    if len(reports) == 1:
        return Line(f"{_counts(reports[0].findings)}.", states[0])
    words: dict[Status, str] = {"pass": "healthy", "warn": "with warnings", "fail": "unfit"}
    counted = [f"{states.count(one)} {word}" for one, word in words.items() if one in states]
    whole = worst([finding for report in reports for finding in report.findings])
    return Line(f"{len(reports)} devices: {', '.join(counted)}.", whole)


def worst(findings: Sequence[Finding]) -> Status:
    """Return the worst status among findings."""
    found = {finding.status for finding in findings}
    return "fail" if "fail" in found else "warn" if "warn" in found else "pass"


def _own(report: Report) -> list[Finding]:
    return [one for one in report.findings if not one.id.startswith("host.")]


def _host_rows(reports: Sequence[Report], style: Style) -> Iterator[Line]:
    """Show the checks of this computer once, though each report has them."""
    first = next(iter(reports), None)
    host = [one for one in first.findings if one.id.startswith("host.")] if first else []
    if first is not None and host:
        yield Line("This computer")
        yield from _rows(first, host, style)
        yield Line("")
        yield Line("Devices")


def _device_rows(reports: Sequence[Report], style: Style) -> Iterator[Line]:
    """Show each device in one row; one with a long name leaves the others in their columns."""
    counts = max((len(_counts(_own(report))) for report in reports), default=0)
    names = (len(_name(report)) for report in reports)
    name = max((length for length in names if length <= style.width // 2), default=0)
    for report in reports:
        status = worst(_own(report))
        told = f"{_name(report):<{name}}  {_counts(_own(report)):<{counts}}"
        row = f"  {style.symbol(status)} {told}  {visible_line(report.about)}".rstrip()
        yield Line(_cut(row, style), status)


def _trouble_rows(reports: Sequence[Report], style: Style) -> Iterator[Line]:
    """Show each trouble once, under the names of the devices that have it; failures first."""
    having: dict[tuple[object, ...], list[int]] = {}
    findings: dict[tuple[object, ...], Finding] = {}
    for place, report in enumerate(reports):
        for one in _own(report):
            if one.status != "pass":
                having.setdefault(_kind(one), []).append(place)
                findings.setdefault(_kind(one), one)
    blocks: dict[tuple[int, ...], list[Finding]] = {}
    for kind, places in having.items():
        blocks.setdefault(tuple(places), []).append(findings[kind])
    for devices, shared in sorted(blocks.items(), key=lambda block: worst(block[1]) != "fail"):
        first = reports[devices[0]]
        names = ", ".join(_name(reports[place]) for place in devices)
        if len(devices) == len(reports):
            names = "All devices"
        yield Line("")
        yield from _wrapped("", names, None, style)
        shown = first if len(devices) == 1 else replace(first, serial="SERIAL")
        yield from _rows(shown, shared, style)


def _kind(one: Finding) -> tuple[object, ...]:
    """Return what findings of several devices have in common if they are the same."""
    return one.id, one.status, one.code, one.summary, one.detail, one.fix, one.guidance


def _name(report: Report) -> str:
    return visible_line(report.serial or "no device")


def _title(report: Report) -> str:
    about = f" ({visible_line(report.about)})" if report.about else ""
    return f"{_name(report)}{about}"


def _counts(findings: Sequence[Finding]) -> str:
    failures = sum(one.status == "fail" for one in findings)
    warnings = sum(one.status == "warn" for one in findings)
    if not failures and not warnings:
        return f"{_plural(len(findings), 'check')} passed"
    return ", ".join(filter(None, [_plural(failures, "failure"), _plural(warnings, "warning")]))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count > 1 else ''}" if count else ""


def _rows(report: Report, findings: Sequence[Finding], style: Style) -> Iterator[Line]:
    column = max([_SHORTEST_ID, *(len(finding.id) for finding in findings)])
    for finding in findings:
        start = f"  {style.symbol(finding.status)} {finding.id:<{column}}  "
        yield from _wrapped(start, finding.summary, finding.status, style)
        if finding.status != "pass":
            yield from _explained(report, finding, style)


def _explained(report: Report, finding: Finding, style: Style) -> Iterator[Line]:
    """Show what is behind a trouble, and what mends it."""
    code = f"{finding.code}" if finding.code else ""
    for text in filter(None, [": ".join(filter(None, [code, finding.detail]))]):
        yield from _wrapped("      ", text, None, style)
    for step in finding.fix.steps if finding.fix else ():
        words = report.step_in_words(step, style.wording)
        if isinstance(step, ByHand):
            yield from _wrapped(f"      {style.arrow} ", words, None, style)
        else:  # one line, so that it can be copied
            yield Line(f"      {style.arrow} {visible_line(words)}")
    for words in finding.guidance.steps if finding.guidance else ():
        yield from _wrapped(f"      {style.arrow} ", words, None, style)


def _wrapped(start: str, text: str, status: Status | None, style: Style) -> Iterator[Line]:
    width = max(style.width, _NARROWEST, len(start) + _SHORTEST_ID)
    pieces = textwrap.wrap(
        visible_line(text),
        width - len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
    for number, piece in enumerate(pieces or [""]):
        before = start if number == 0 else " " * len(start)
        yield Line(f"{before}{piece}".rstrip(), status)


def _cut(text: str, style: Style) -> str:
    width = max(style.width, _NARROWEST)
    return text if len(text) <= width else text[: width - 3] + "..."
