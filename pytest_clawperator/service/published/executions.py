"""Devices and executions: ``/devices``, ``/execute``, ``/snapshot`` and ``/screenshot``."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    DispatchError,
    EnvelopeTimeoutError,
    ExecutionConflictError,
    LogcatError,
    PayloadError,
)
from pytest_clawperator.service.answers import (
    Refused,
    error_object,
    failed,
    failure,
    json_answer,
    status_of,
    succeeded,
)
from pytest_clawperator.service.bodies import read_object, text_field
from pytest_clawperator.service.endpoint import (
    TEXT,
    Endpoint,
    Handler,
    Schema,
    a_list,
    an_object,
)
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import Station

LEASE_HEADER = "clawperator-lease"
_TIMEOUT_MS = 30_000
_ASKED = an_object(deviceId=TEXT, operatorPackage=TEXT)
_PATH = an_object(deviceId=TEXT, operatorPackage=TEXT, path=TEXT)
_EXECUTION = an_object(
    ("commandId", "taskId", "source", "expectedFormat", "timeoutMs", "actions"),
    commandId={"type": "string", "minLength": 1, "maxLength": 128},
    taskId={"type": "string", "minLength": 1, "maxLength": 128},
    source={"type": "string", "minLength": 1, "maxLength": 64},
    expectedFormat={"const": "android-ui-automator"},
    timeoutMs={"type": "number", "minimum": 1000, "maximum": 120000},
    actions={
        "type": "array",
        "minItems": 1,
        "maxItems": 50,
        "items": an_object(("id", "type"), id=TEXT, type=TEXT, params={"type": "object"}),
    },
)
_EXECUTE = an_object(("execution",), execution=_EXECUTION, deviceId=TEXT, operatorPackage=TEXT)
_RESULT = {"envelope": {"type": "object"}, "deviceId": TEXT, "terminalSource": TEXT}
_STATUSES = (400, 403, 404, 413, 423, 500, 504)


class Executions:
    """Runs executions, and tells of them in events.

    ``folder`` is where clients may have screenshots written; None stands for anywhere, for a
    service that only this machine reaches.
    """

    def __init__(self, rack: Rack, *, folder: Path | None = None) -> None:
        self._rack = rack
        self._folder = folder

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        devices = Endpoint(
            method="GET",
            path="/devices",
            handle=self.devices,
            summary="List the connected devices with their states.",
            answer={"devices": a_list(an_object(("serial", "state"), serial=TEXT, state=TEXT))},
        )
        rows: list[tuple[str, Handler, str, Schema]] = [
            ("/execute", self.execute, "Run an execution, and return its envelope.", _EXECUTE),
            ("/snapshot", self.snapshot, "Capture the UI hierarchy.", _ASKED),
            ("/observe/snapshot", self.snapshot, "Capture the UI hierarchy.", _ASKED),
            ("/screenshot", self.screenshot, "Capture the screen into a file.", _PATH),
            ("/observe/screenshot", self.screenshot, "Capture the screen into a file.", _PATH),
        ]
        running = [
            Endpoint(
                method="POST",
                path=path,
                handle=handle,
                summary=summary,
                body=body,
                is_body_required=True,
                answer=_RESULT,
                statuses=_STATUSES,
            )
            for path, handle, summary, body in rows
        ]
        return [devices, *running]

    async def devices(self, request: Request) -> Response:
        """List the connected devices; where adb is missing there are none, and a warning."""
        try:
            found = await self._rack.devices()
        except AdbUnavailableError as error:
            return succeeded(devices=[], warning=error_object(error))
        return succeeded(devices=[{"serial": one, "state": state} for one, state in found])

    async def execute(self, request: Request) -> Response:
        """Run the execution of the body."""
        given = await read_object(request)
        if given.get("execution") in (None, "", 0, False):
            raise Refused(400, "MISSING_EXECUTION", "Missing 'execution' in body")
        return await self._run(request, given, given["execution"])

    async def snapshot(self, request: Request) -> Response:
        """Run one ``snapshot_ui``."""
        given = await read_object(request)
        action = {"id": "snap", "type": "snapshot_ui"}
        return await self._run(request, given, _observation("serve-snap", action))

    async def screenshot(self, request: Request) -> Response:
        """Run one ``take_screenshot``."""
        given = await read_object(request)
        _asked_device(given)
        params = {}
        if "path" in given:
            path = given["path"]
            if not isinstance(path, str) or not path.strip():
                raise Refused(400, "INVALID_PATH", "'path' must be a non-empty string")
            params["path"] = path
        action = {"id": "shot", "type": "take_screenshot", "params": params}
        return await self._run(request, given, _observation("serve-shot", action))

    async def _run(self, request: Request, given: dict[str, Any], payload: Any) -> Response:
        asked, package = _asked_device(given)
        try:
            # What is JSON text here is a JSON string, and no payload.
            raw = json.dumps(payload) if isinstance(payload, str) else payload
            execution = validate_execution(raw)
        except PayloadError as error:
            if asked:
                self._tell(asked, payload, failure(error))
            return failed(error)
        self._check_paths(execution)
        try:
            station = await self._rack.station(asked)
        except ClawperatorError as error:
            if asked:
                self._tell(asked, execution.to_wire(), failure(error))
            return failed(error)
        return await self._run_on(station, execution, package, request.headers.get(LEASE_HEADER))

    async def _run_on(
        self, station: Station, execution: Execution, package: str | None, token: str | None
    ) -> Response:
        serial = station.serial
        # Who sent it first tells of it, also if that client has gone meanwhile.
        is_again = self._rack.running_on(serial) == execution
        try:
            result = await self._rack.run(station, execution, package=package, token=token)
        except ClawperatorError as error:
            envelope = _failed_envelope(execution, error) if _was_sent(error) else None
            told, status = failure(error, serial=serial), status_of(error)
        else:
            envelope, source, status = result.to_wire(), result.terminal_source, 200
            told = {"ok": True, "envelope": envelope, "deviceId": serial, "terminalSource": source}
        answer = json_answer(told, status=status)
        if not is_again:
            if envelope is not None:
                about = {"deviceId": serial, "envelope": envelope}
                self._rack.events.publish("clawperator:result", about)
            self._tell(serial, execution.to_wire(), told)
        return answer

    def _tell(self, serial: str, payload: Any, result: dict[str, Any]) -> None:
        self._rack.events.publish(
            "clawperator:execution", {"deviceId": serial, "input": payload, "result": result}
        )

    def _check_paths(self, execution: Execution) -> None:
        """Refuse to write files of this machine outside the folder for them."""
        if self._folder is None:
            return
        for path in _screenshot_paths(execution):
            if not Path(path).resolve().is_relative_to(self._folder.resolve()):
                raise Refused(
                    403,
                    "PATH_NOT_ALLOWED",
                    f"screenshots are written into {self._folder} and nowhere else",
                    "Leave the path out, and fetch the picture:"
                    " GET /v1/devices/SERIAL/executions/COMMAND_ID/screenshot.png.",
                )


def _asked_device(given: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the serial and the Operator's package that a body names."""
    serial = text_field(given, "deviceId", "INVALID_DEVICE_ID", blank=True)
    return serial or None, text_field(given, "operatorPackage", "INVALID_OPERATOR_PACKAGE")


def _observation(kind: str, action: dict[str, Any]) -> dict[str, Any]:
    name = f"{kind}-{round(time.time() * 1000)}"
    return {
        "commandId": name,
        "taskId": name,
        "source": "serve-api",
        "expectedFormat": "android-ui-automator",
        "timeoutMs": _TIMEOUT_MS,
        "actions": [action],
    }


def _screenshot_paths(execution: Execution) -> Sequence[str]:
    taking = (one for one in execution.actions if one.type == "take_screenshot" and one.params)
    return [one.params.path for one in taking if one.params is not None and one.params.path]


def _was_sent(error: ClawperatorError) -> bool:
    """Whether an execution failed after it was on its way to the Operator."""
    is_sent = isinstance(error, DispatchError | LogcatError)
    return is_sent and not isinstance(error, ExecutionConflictError)


def _failed_envelope(execution: Execution, error: ClawperatorError) -> dict[str, Any]:
    """Return the envelope that stands for one that did not come."""
    envelope: dict[str, Any] = {
        "commandId": execution.command_id,
        "taskId": execution.task_id,
        "status": "failed",
        "stepResults": [],
        "error": str(error.code),
    }
    is_late = isinstance(error, EnvelopeTimeoutError) and error.hint
    return {**envelope, "hint": error.hint} if is_late else envelope
