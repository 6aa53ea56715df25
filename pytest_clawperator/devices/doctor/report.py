"""What was found out about a device, and what mends it: as data, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_clawperator.contracts.device_info import OPERATOR_PACKAGE
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.remedies import Hint, Wording, for_scripts, in_words, parts_of
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
    """How a trouble is mended; steps that are not by hand are taken if that is asked for."""

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


def warned(
    id: str,
    code: ErrorCode | str,
    summary: str,
    *,
    detail: str = "",
    fix: Fix | None = None,
    **evidence: Any,
) -> Finding:
    """Return the finding of a check that found what may disturb tests."""
    return Finding(
        id=id,
        status="warn",
        code=code,
        summary=summary,
        detail=detail,
        fix=fix,
        evidence=_known(evidence),
    )


def failed(
    id: str,
    code: ErrorCode | str,
    summary: str,
    *,
    detail: str = "",
    fix: Fix | None = None,
    guidance: Guidance | None = None,
    **evidence: Any,
) -> Finding:
    """Return the finding of a check that found what keeps tests from working."""
    return Finding(
        id=id,
        status="fail",
        code=code,
        summary=summary,
        detail=detail,
        fix=fix,
        guidance=guidance,
        evidence=_known(evidence),
    )


def _known(evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in evidence.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Report:
    """The findings about one device, in the order of the checks.

    ``serial`` is None where no device was found or chosen. ``about`` describes the device,
    ``adb`` is the command that reaches its adb server, and ``changes`` are what was done to
    mend it.
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
