"""Allure: steps, files, devices and lanes; the only place that imports it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from pytest_clawperator.redaction import SECRETS, hide_in, hide_in_document
from pytest_clawperator.report import trace
from pytest_clawperator.report.sinks import Attachment, ReportSink
from pytest_clawperator.report.trace import Failure, Source, TraceEvent
from pytest_clawperator.text import visible

#: The name of our own finalizers, which do not belong to a fixture.
FINALIZER = "clawperator_fixture_ends"

_PACKAGES = ("allure_commons",)

# Keys by which Allure identifies results and files.
_KEPT = ("uuid", "historyId", "testCaseId", "status", "stage", "source", "type", "children")

_GUARD = "clawperator-guard"

_LONGEST_VALUE = 300

_DIFF = "application/vnd.allure.image.diff"

_COMPARED = re.compile(r"(.+?)(?:\.(actual|difference))?\.png")

# Names that Allure's plugin gives to finalizers of fixtures, which have none.
_NAMELESS_END = re.compile(r"::(?:\d+|<lambda>|finish)$")

Held = tuple[trace.ExecutionBegan, trace.ExecutionEnded | None]


class AllureSink(ReportSink):
    """Write to the results of Allure's own plugin, through its reporter.

    Executions are steps with parameters, inside the steps and expectations of the test.
    ``status_of`` returns the status of a report, if Allure would give it another one by the type
    of its error.
    """

    def __init__(
        self, reporter: Any, *, status_of: Callable[[Any], str | None] = lambda report: None
    ) -> None:
        self._reporter = reporter
        self._status_of = status_of
        self._reset()

    def _reset(self) -> None:
        self._has_failed = False
        self._serials: list[str] = []
        self._open: dict[int, str] = {}
        # The executions of an expectation are reported before the expectation itself.
        self._checks: dict[int, Held] = {}
        self._pictures: dict[str, dict[str, bytes]] = {}

    def write(self, event: TraceEvent) -> None:
        """Begin and end steps, and add devices."""
        if isinstance(event, trace.TraceBegan):
            self._reset()
        elif isinstance(event, trace.DeviceUsed):
            self._serials += [] if event.serial in self._serials else [event.serial]
        elif isinstance(event, trace.StepBegan):
            self._start(event.id, event.at, event.title, _place(event.source))
        elif isinstance(event, trace.StepEnded):
            self._stop(event.id, event.at, event.failure)
        elif isinstance(event, trace.ExecutionBegan):
            self._begin_execution(event)
        elif isinstance(event, trace.ExecutionEnded):
            self._end_execution(event)
        elif isinstance(event, trace.ExpectationEnded):
            self._write_expectation(event)
        elif isinstance(event, trace.TraceEnded):
            self._name_devices()

    def attach(self, attachment: Attachment) -> None:
        """Attach a file to the current test or step; while a test is reported, to the test."""
        kind = {"attachment_type": attachment.mime, "extension": attachment.path.suffix[1:]}
        name = visible(attachment.name)
        _commons().plugin_manager.hook.attach_file(source=str(attachment.path), name=name, **kind)
        if attachment.kind == "picture":
            self._compare(attachment)

    def complete(self, report: Any) -> None:
        """Have Allure say of a failure what everybody else says; the first failure counts."""
        test = self._reporter.get_test(None)
        if test is None or not report.failed or self._has_failed:
            return
        status = self._status_of(report)
        self._has_failed = status != "broken"
        if status is not None and test.status != status:
            test.status = status
            test.statusDetails = test.statusDetails or _commons().model2.StatusDetails(
                message=visible(report.longreprtext.partition("\n")[0]),
                trace=visible(report.longreprtext),
            )

    # Devices

    def _name_devices(self) -> None:
        """Add the devices as labels and parameters that do not change the identity of the test.

        This happens at its end: a retry can use a device before Allure's plugin has begun its
        result. By then the plugin has also named a lane, which is replaced by the device.
        """
        test = self._reporter.get_test(None)
        if test is None:
            return
        models = _commons().model2
        for number, serial in enumerate(map(visible, self._serials), 1):
            name = "device" if number == 1 else f"device {number}"
            test.labels.append(models.Label(name="device", value=serial))
            test.parameters.append(models.Parameter(name=name, value=f"'{serial}'", excluded=True))
        for label in test.labels:
            if label.name == "thread":
                label.value = visible(self._serials[0])

    # Steps

    def _start(self, number: int, at: float, title: str, parameters: Mapping[str, str]) -> None:
        models = _commons().model2
        shown = [
            models.Parameter(name=name, value=visible(one)) for name, one in parameters.items()
        ]
        step = models.TestStepResult(name=visible(title), start=round(at * 1000), parameters=shown)
        self._open[number] = uuid = str(uuid4())
        self._reporter.start_step(None, uuid, step)

    def _stop(self, number: int, at: float, failure: Failure | None) -> None:
        uuid = self._open.pop(number, None)
        if uuid is None or self._reporter.get_item(uuid) is None:
            return
        models, details = _commons().model2, None
        if failure is not None:
            details = models.StatusDetails(message=visible(_worded(failure)))
        status = models.Status.PASSED if failure is None else models.Status.FAILED
        self._reporter.stop_step(uuid, stop=round(at * 1000), status=status, statusDetails=details)

    def _begin_execution(self, event: trace.ExecutionBegan) -> None:
        if event.parent is None or event.parent in self._open:
            self._start(event.id, event.at, event.title, _parameters(event))
        else:
            self._checks[event.id] = event, None

    def _end_execution(self, event: trace.ExecutionEnded) -> None:
        held = self._checks.get(event.id)
        if held is None:
            self._stop(event.id, event.at, event.failure)
        else:
            self._checks[event.id] = held[0], event

    def _write_expectation(self, event: trace.ExpectationEnded) -> None:
        own = [held for held in self._checks.values() if held[0].parent == event.id]
        checks = {"checks": str(len(event.polls))} if event.polls else {}
        parameters = {**checks, **_place(event.source)}
        self._start(event.id, event.at - event.seconds, event.title, parameters)
        for began, ended in own:
            del self._checks[began.id]
            self._start(began.id, began.at, began.title, _parameters(began))
            if ended is not None:
                self._stop(ended.id, ended.at, ended.failure)
        self._stop(event.id, event.at, event.failure)

    # Pictures

    def _compare(self, attachment: Attachment) -> None:
        """Attach golden, screen and difference as one comparison, once all three are there."""
        found = _COMPARED.fullmatch(attachment.name)
        if found is None:
            return
        stem, role = found.groups()
        pictures = self._pictures.setdefault(stem, {})
        pictures[role or "golden"] = attachment.path.read_bytes()
        if pictures.keys() >= {"golden", "actual", "difference"}:
            del self._pictures[stem]
            names = {"expected": "golden", "actual": "actual", "diff": "difference"}
            uris = {
                name: f"data:image/png;base64,{base64.b64encode(pictures[role]).decode('ascii')}"
                for name, role in names.items()
            }
            body = json.dumps(uris)
            kind = {"attachment_type": _DIFF, "extension": "imagediff"}
            _commons().plugin_manager.hook.attach_data(body=body, name=visible(stem), **kind)


def _commons() -> Any:
    """Return Allure's library, an optional dependency."""
    import allure_commons.model2

    return allure_commons


def _parameters(event: trace.ExecutionBegan) -> dict[str, str]:
    """Return the actions that are sent, the device, and the line of the test."""
    found: dict[str, str] = {}
    actions = event.payload.get("actions")
    for number, action in enumerate(actions if isinstance(actions, Sequence) else (), 1):
        name = str(action.get("type", ""))
        params = json.dumps(action.get("params") or {}, ensure_ascii=False)
        found[f"{number}. {name}"] = params[:_LONGEST_VALUE]
    return {**found, "device": event.serial, **_place(event.source)}


def _place(source: Source | None) -> dict[str, str]:
    return {} if source is None else {"line": f"{source.file}:{source.line}"}


def _worded(failure: Failure) -> str:
    return f"{failure.code}: {failure.message}" if failure.code else failure.message


# For the whole run

# Regular expressions of Java and of JavaScript, which have to match the whole of a message.
_CATEGORIES = (
    {
        "name": "Crashes of the app",
        "matchedStatuses": ["failed", "broken"],
        "messageRegex": r"[\s\S]*(APP_CRASHED|APP_NOT_RESPONDING|has stopped"
        r"|keeps stopping)[\s\S]*",
    },
    {
        "name": "Infrastructure: device, adb or Operator",
        "matchedStatuses": ["broken"],
        "messageRegex": r"[\s\S]*\b(?:DeviceError|[A-Za-z]*(?:Device|Lease|Operator|Emulator|Adb"
        r"|Logcat|Transport|Broadcast|Envelope|Conflict)[A-Za-z]*Error)\b[\s\S]*",
    },
    {
        "name": "Timeouts",
        "matchedStatuses": ["failed", "broken"],
        "messageRegex": r"[\s\S]*(TIMEOUT|TIMED_OUT|TimeoutError|timed out)[\s\S]*",
    },
    {"name": "Product defects", "matchedStatuses": ["failed"]},
    {"name": "Broken tests", "matchedStatuses": ["broken"]},
)


def write_run_files(folder: Path, environment: Mapping[str, str]) -> None:
    """Write the environment of a run and the categories of failures for Allure.

    Existing categories and other lines of the environment are kept.
    """
    if not folder.is_dir():
        return
    categories = folder / "categories.json"
    if not categories.exists():
        categories.write_text(json.dumps(_CATEGORIES, indent=2), encoding="utf-8")
    path = folder / "environment.properties"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    ours = {_escaped(name): _escaped(one) for name, one in environment.items()}
    kept = [line for line in lines if line.partition("=")[0].strip() not in ours]
    lines = [f"{name}={one}" for name, one in hide_in(ours).items()]
    path.write_text("\n".join([*kept, *lines, ""]), encoding="utf-8")


def _escaped(text: str) -> str:
    """Escape text for a properties file."""
    escaped = re.sub(r"([\\:=#! ])", r"\\\1", visible(text))
    return escaped.encode("ascii", "backslashreplace").decode("ascii").replace("\\x", "\\u00")


# Secrets, and names of fixtures


def guard() -> None:
    """Hide secrets in everything that Allure writes from now on; further calls do nothing."""
    import allure_commons  # an extra

    manager = allure_commons.plugin_manager
    if manager.has_plugin(_GUARD):
        return

    class Guard:
        @allure_commons.hookimpl(tryfirst=True)
        def report_result(self, result: Any) -> None:
            hide_in(result, packages=_PACKAGES, kept=_KEPT)

        @allure_commons.hookimpl(tryfirst=True)
        def report_container(self, container: Any) -> None:
            _name_fixtures(container)
            hide_in(container, packages=_PACKAGES, kept=_KEPT)

        @allure_commons.hookimpl(hookwrapper=True)
        def report_attached_data(self, file_name: str) -> Generator[None, Any, None]:
            yield
            for writer in manager.get_plugins():
                _hide_in_file(getattr(writer, "_report_dir", None), file_name)

    manager.register(Guard(), _GUARD)


def _name_fixtures(container: Any) -> None:
    """Name finalizers after their fixtures, and leave our own out."""
    ends: dict[str, Any] = {}
    for one in container.afters:
        if one.name.endswith(FINALIZER):
            continue
        one.name = _NAMELESS_END.sub("", one.name)
        first = ends.setdefault(one.name, one)
        if first is not one and first.status == "passed":  # a fixture may end in several parts
            first.status, first.statusDetails, first.stop = one.status, one.statusDetails, one.stop
            first.steps += one.steps
            first.attachments += one.attachments
    container.afters = list(ends.values())


def _hide_in_file(folder: Path | None, name: str) -> None:
    """Hide secrets in a text that a test attached; other files stay as they are."""
    if folder is None or SECRETS.is_empty:
        return
    path = Path(folder) / name
    content = path.read_bytes()
    if b"\0" in content:
        return
    hidden = hide_in_document(content, name=name)
    if hidden != content:
        path.write_bytes(hidden)
