"""Answers of the service: JSON with ``ok``, and the HTTP status of each error code."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from pytest_clawperator.errors import (
    BroadcastError,
    ClawperatorError,
    EnvelopeTimeoutError,
    ErrorCode,
)
from pytest_clawperator.redaction.redaction import hide

JSON_TYPE = "application/json; charset=utf-8"

# What is not here is a fault of the lab, and answered with 500.
_STATUSES: Mapping[str, int] = {
    ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT: 423,
    ErrorCode.DEVICE_LEASED: 423,
    ErrorCode.DEVICE_NOT_FOUND: 404,
    ErrorCode.NO_DEVICES: 404,
    ErrorCode.EMULATOR_NOT_FOUND: 404,
    ErrorCode.EMULATOR_NOT_RUNNING: 404,
    ErrorCode.FILE_UNAVAILABLE: 404,
    ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED: 400,
    ErrorCode.EXECUTION_VALIDATION_FAILED: 400,
    ErrorCode.CONFIGURATION_INVALID: 400,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.RESULT_ENVELOPE_TIMEOUT: 504,
    ErrorCode.TRANSPORT_TIMEOUT: 504,
    ErrorCode.EMULATOR_UNSUPPORTED: 409,
    ErrorCode.EMULATOR_ALREADY_RUNNING: 409,
}
# The published program has these beside the code, and not among the details.
_BESIDE_CODE = ("lastCorrelatedEvents", "broadcastDispatchStatus", "operatorPackage")


class Refused(Exception):
    """A request that is refused, with its answer."""

    def __init__(self, status: int, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"code": code, "message": message}
        if hint is not None:
            self.error["hint"] = hint

    @property
    def body(self) -> dict[str, Any]:
        """The answer."""
        return {"ok": False, "error": self.error}


def succeeded(fields: Mapping[str, Any] | None = None, /, **more: Any) -> Response:
    """Return a positive answer with these fields."""
    return json_answer({"ok": True, **(fields or {}), **more})


def failed(error: ClawperatorError, *, serial: str | None = None) -> Response:
    """Return the answer for an error; ``serial`` is the device that was found for the request."""
    return json_answer(failure(error, serial=serial), status=status_of(error))


def failure(error: ClawperatorError, *, serial: str | None = None) -> dict[str, Any]:
    """Return the body of the answer for an error."""
    body: dict[str, Any] = {"ok": False, "error": error_object(error)}
    return body if serial is None else {**body, "deviceId": serial}


def status_of(error: ClawperatorError) -> int:
    """Return the HTTP status of an error."""
    return _STATUSES.get(str(error.code), 500)


def error_object(error: ClawperatorError) -> dict[str, Any]:
    """Return an error as the published program writes it, with what to do next."""
    details = {**_also_told(error), **error.details}
    beside = {key: details.pop(key) for key in _BESIDE_CODE if key in details}
    if beside and error.serial is not None:
        beside["deviceId"] = error.serial
    told: dict[str, Any] = {"code": str(error.code), "message": hide(error.message), **beside}
    if error.hint is not None:
        told["hint"] = hide(error.hint)
    return {**told, "details": details} if details else told


def _also_told(error: ClawperatorError) -> dict[str, Any]:
    """Return what the published program tells besides, of some errors."""
    if error.code == ErrorCode.OPERATOR_NOT_INSTALLED:
        serial = shlex.quote(error.serial or "SERIAL")
        install = f"clawperator-py operator setup --apk APK --device {serial}"
        about = {"checkId": "readiness.apk.presence", "summary": "Operator APK not installed."}
        return {**about, "detail": hide(error.message), "installCommand": install}
    if isinstance(error, BroadcastError):
        return {"lastCorrelatedEvents": []}
    if isinstance(error, EnvelopeTimeoutError):
        caveat = "payload-last only; Android execution position is unknown"
        return {"lastActionCaveat": caveat}
    return {}


def json_answer(body: Any, *, status: int = 200) -> Response:
    """Return any body as JSON."""
    return Response(to_json(body), status_code=status, headers={"content-type": JSON_TYPE})


def to_json(body: Any) -> bytes:
    """Return JSON in ASCII: it may hold half characters, which UTF-8 cannot."""
    return json.dumps(body, default=str, separators=(",", ":")).encode("ascii")


def plain_answer(refusal: Refused) -> bytes:
    """Return the answer of a refusal as it stands on the wire."""
    body = to_json(refusal.body)
    about = f"content-type: {JSON_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"HTTP/1.1 {refusal.status} Refused\r\n{about}\r\n\r\n".encode() + body
