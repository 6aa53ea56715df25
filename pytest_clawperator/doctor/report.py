"""What was found out about a device, and what fixes it: as data, as JSON, and as a table."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.remedies import Hint, Wording, for_scripts, in_words, parts_of
from pytest_clawperator.text import visible_line
from pytest_clawperator.transport.server import DEFAULT_PORT
from pytest_clawperator.transport.wire import AdbServer

LOOPBACK = ("127.0.0.1", "localhost", "::1")


Status = Literal["pass", "warn", "fail"]


@dataclass(frozen=True)
class DeviceCommand:
    """A step that runs a command in the device's shell."""

    command: str


@dataclass(frozen=True)
class Regrant:
    """A step that gives the Operator what it needs and waits until it answers."""


@dataclass(frozen=True)
class Reconnect:
    """A step that asks adb to connect to the device again."""


@dataclass(frozen=True)
class ByHand:
    """A step that only a person can take."""

    what: Hint


Step = DeviceCommand | Regrant | Reconnect | ByHand


@dataclass(frozen=True)
class Fix:
    """How a problem is fixed; steps that are not by hand are taken if asked."""

    title: str
    steps: tuple[Step, ...]

    @property
    def is_automatic(self) -> bool:
        """Whether any step can be taken without a person."""
        return any(not isinstance(step, ByHand) for step in self.steps)


@dataclass(frozen=True)
class Guidance:
    """What to do on the device itself: on which screen, step by step."""

    screen: str
    steps: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found."""

    id: str
    status: Status
    summary: str
    code: ErrorCode | str | None = None
    detail: str = ""
    fix: Fix | None = None
    guidance: Guidance | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


def passed(id: str, summary: str, **evidence: Any) -> Finding:
    """Return the finding of a check that found nothing wrong."""
    return Finding(id=id, status="pass", summary=summary, evidence=_known(evidence))


def _trouble(
    status: Status,
    id: str,
    code: ErrorCode | str,
    summary: str,
    *,
    detail: str = "",
    fix: Fix | None = None,
    guidance: Guidance | None = None,
    **evidence: Any,
) -> Finding:
    return Finding(
        id=id,
        status=status,
        code=code,
        summary=summary,
        detail=detail,
        fix=fix,
        guidance=guidance,
        evidence=_known(evidence),
    )


#: Make the finding of a check that found what may disturb tests, or keeps them from working.
warned, failed = partial(_trouble, "warn"), partial(_trouble, "fail")


def _known(evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in evidence.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Report:
    """The findings about one device, in the order of the checks.

    ``serial`` is None where no device was found or chosen. ``about`` describes the device,
    ``adb`` is the command that reaches its adb server, and ``changes`` are what was done to
    fix it.
    """

    operator_package: str
    findings: tuple[Finding, ...]
    serial: str | None = None
    about: str = ""
    adb: str = "adb"
    changes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing keeps tests from working."""
        return all(finding.status != "fail" for finding in self.findings)

    @property
    def troubles(self) -> tuple[Finding, ...]:
        """What was found that is not as it should be."""
        return tuple(finding for finding in self.findings if finding.status != "pass")

    def step_in_words(self, step: Step, wording: Wording = for_scripts) -> str:
        """Return a step as a person takes it: a command to type, or what to do."""
        if isinstance(step, ByHand):
            return in_words(parts_of(step.what), wording) or ""
        if isinstance(step, Reconnect):
            return f"{self.adb} reconnect offline"
        serial = shlex.quote(self.serial or "SERIAL")
        if isinstance(step, DeviceCommand):
            return f"{self.adb} -s {serial} shell {step.command}"
        is_usual = self.operator_package == OPERATOR_PACKAGE
        package = "" if is_usual else f" --operator-package {self.operator_package}"
        return f"clawperator-py grant-device-permissions --device {serial}{package}"

    def to_json(self, wording: Wording = for_scripts) -> dict[str, Any]:
        """Return the report in the form of the published doctor, with the changes made."""
        document: dict[str, Any] = {"ok": self.ok, "criticalOk": self.ok}
        if self.serial is not None:
            document["deviceId"] = self.serial
        document["operatorPackage"] = self.operator_package
        document["checks"] = [self._finding_as_json(one, wording) for one in self.findings]
        actions = list(dict.fromkeys(self._next_actions(wording)))
        if actions:
            document["nextActions"] = actions
        if self.changes:
            document["changes"] = list(self.changes)
        return document

    def _finding_as_json(self, finding: Finding, wording: Wording) -> dict[str, Any]:
        document: dict[str, Any] = {"id": finding.id, "status": finding.status}
        if finding.code is not None:
            document["code"] = str(finding.code)
        document["summary"] = finding.summary
        if finding.detail:
            document["detail"] = finding.detail
        if finding.fix is not None:
            document["fix"] = {
                "title": finding.fix.title,
                "platform": "any",
                "steps": [
                    {
                        "kind": "manual" if isinstance(step, ByHand) else "shell",
                        "value": self.step_in_words(step, wording),
                    }
                    for step in finding.fix.steps
                ],
            }
        if finding.guidance is not None:
            document["deviceGuidance"] = {
                "screen": finding.guidance.screen,
                "steps": list(finding.guidance.steps),
            }
        if finding.evidence:
            document["evidence"] = dict(finding.evidence)
        return document

    def _next_actions(self, wording: Wording) -> Iterator[str]:
        for finding in self.troubles:
            for step in finding.fix.steps if finding.fix else ():
                yield self.step_in_words(step, wording)
            if finding.guidance is not None:
                yield from finding.guidance.steps


def adb_command(server: AdbServer) -> str:
    """Return how adb is called so that it asks this server."""
    if server.path is not None:
        return f"adb -L localfilesystem:{server.path}"
    host = "" if server.host in LOOPBACK else f" -H {server.host}"
    port = "" if server.port == DEFAULT_PORT else f" -P {server.port}"
    return f"adb{host}{port}"


def all_as_json(reports: Sequence[Report], wording: Wording = for_scripts) -> dict[str, Any]:
    """Return the reports about several devices as one document."""
    ok = all(report.ok for report in reports)
    devices = [report.to_json(wording) for report in reports]
    return {"ok": ok, "criticalOk": ok, "devices": devices}


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
        """The sign before a step that fixes something."""
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

    Devices with the same problem are listed together, so that forty do not fill forty pages.
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
    host = [one for one in reports[0].findings if one.id.startswith("host.")] if reports else []
    if host:
        yield Line("This computer")
        yield from _rows(reports[0], host, style)
        yield Line("")
        yield Line("Devices")


def _device_rows(reports: Sequence[Report], style: Style) -> Iterator[Line]:
    """Show each device in one row; one with a long name leaves the others in their columns."""
    counts = max((len(_counts(_own(report))) for report in reports), default=0)
    names = (len(_name(report)) for report in reports)
    name = max((length for length in names if length <= style.width // 2), default=0)
    for report in reports:
        status = worst(_own(report))
        reported = f"{_name(report):<{name}}  {_counts(_own(report)):<{counts}}"
        row = f"  {style.symbol(status)} {reported}  {visible_line(report.about)}".rstrip()
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
    """Show the cause of a problem, and what fixes it."""
    if text := ": ".join(str(one) for one in (finding.code, finding.detail) if one):
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
