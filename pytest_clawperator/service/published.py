"""The API of the published host program: executions, emulators and skills."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.contracts.ecmascript import to_string
from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.emulators import EmulatorProfile, Emulators
from pytest_clawperator.emulators.avd import PLAY_STORE
from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    DispatchError,
    EnvelopeTimeoutError,
    ErrorCode,
    ExecutionConflictError,
    LogcatError,
    PayloadError,
    SkillError,
)
from pytest_clawperator.redaction import hide
from pytest_clawperator.service.endpoints import (
    TEXT,
    Api,
    Refused,
    Schema,
    a_list,
    an_object,
    endpoint,
    error_object,
    failed,
    failure,
    json_answer,
    read_object,
    read_optional,
    status_of,
    succeeded,
    text_field,
)
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.station import Station
from pytest_clawperator.service.tunnel import LEASE_HEADER
from pytest_clawperator.skills.registry import Registry, find_registry, read_registry
from pytest_clawperator.skills.run import run_skill

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

_RUNNING: Mapping[str, Any] = {
    "is_body_required": True,
    "answer": {"envelope": {"type": "object"}, "deviceId": TEXT, "terminalSource": TEXT},
    "statuses": (400, 403, 404, 413, 423, 500, 504),
}


class Executions(Api):
    """Run executions, and publish them as events.

    ``folder`` is the only place where clients may have screenshots written; None allows any
    place, for a service that only this machine can reach.
    """

    def __init__(self, rack: Rack, *, folder: Path | None = None) -> None:
        self._rack = rack
        self._folder = folder

    @endpoint(
        "GET",
        "/devices",
        answer={"devices": a_list(an_object(("serial", "state"), serial=TEXT, state=TEXT))},
    )
    async def devices(self, request: Request) -> Response:
        """List the connected devices with their states; without adb none, with a warning."""
        try:
            found = await self._rack.devices()
        except AdbUnavailableError as error:
            return succeeded(devices=[], warning=error_object(error))
        return succeeded(devices=[{"serial": one, "state": state} for one, state in found])

    @endpoint("POST", "/execute", body=_EXECUTE, **_RUNNING)
    async def execute(self, request: Request) -> Response:
        """Run an execution, and return its envelope."""
        given = await read_object(request)
        if given.get("execution") in (None, "", 0, False):
            raise Refused(400, "MISSING_EXECUTION", "Missing 'execution' in body")
        return await self._run(request, given, given["execution"])

    @endpoint("POST", "/snapshot", "/observe/snapshot", body=_ASKED, **_RUNNING)
    async def snapshot(self, request: Request) -> Response:
        """Capture the UI hierarchy."""
        given = await read_object(request)
        action = {"id": "snap", "type": "snapshot_ui"}
        return await self._run(request, given, _observation("serve-snap", action))

    @endpoint("POST", "/screenshot", "/observe/screenshot", body=_PATH, **_RUNNING)
    async def screenshot(self, request: Request) -> Response:
        """Capture the screen into a file."""
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
            # A JSON string is not a payload, even if it contains JSON.
            raw = json.dumps(payload) if isinstance(payload, str) else payload
            execution = validate_execution(raw)
        except PayloadError as error:
            if asked:
                self._publish(asked, payload, failure(error))
            return failed(error)
        self._check_paths(execution)
        try:
            station = await self._rack.station(asked)
        except ClawperatorError as error:
            if asked:
                self._publish(asked, execution.to_wire(), failure(error))
            return failed(error)
        return await self._run_on(station, execution, package, request.headers.get(LEASE_HEADER))

    async def _run_on(
        self, station: Station, execution: Execution, package: str | None, token: str | None
    ) -> Response:
        serial = station.serial
        # The first request publishes the result, even if its client has disconnected.
        is_again = self._rack.running_on(serial) == execution
        try:
            result = await self._rack.run(station, execution, package=package, token=token)
        except ClawperatorError as error:
            envelope = _failed_envelope(execution, error) if _was_sent(error) else None
            body, status = failure(error, serial=serial), status_of(error)
        else:
            envelope, source, status = result.to_wire(), result.terminal_source, 200
            body = {"ok": True, "envelope": envelope, "deviceId": serial, "terminalSource": source}
        answer = json_answer(body, status=status)
        if not is_again:
            if envelope is not None:
                about = {"deviceId": serial, "envelope": envelope}
                self._rack.events.publish("clawperator:result", about)
            self._publish(serial, execution.to_wire(), body)
        return answer

    def _publish(self, serial: str, payload: Any, result: dict[str, Any]) -> None:
        self._rack.events.publish(
            "clawperator:execution", {"deviceId": serial, "input": payload, "result": result}
        )

    def _check_paths(self, execution: Execution) -> None:
        """Refuse paths on this machine outside the folder for screenshots."""
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
    """Return the serial and the Operator package that a body names."""
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
    """Whether an execution failed after it was sent to the Operator."""
    is_sent = isinstance(error, DispatchError | LogcatError)
    return is_sent and not isinstance(error, ExecutionConflictError)


def _failed_envelope(execution: Execution, error: ClawperatorError) -> dict[str, Any]:
    """Return the envelope that replaces a missing one."""
    envelope: dict[str, Any] = {
        "commandId": execution.command_id,
        "taskId": execution.task_id,
        "status": "failed",
        "stepResults": [],
        "error": str(error.code),
    }
    is_late = isinstance(error, EnvelopeTimeoutError) and error.hint
    return {**envelope, "hint": error.hint} if is_late else envelope


#: Makes the emulators of a profile, None for the default one.
Factory = Callable[[EmulatorProfile | None], Emulators]

_FLAG: Schema = {"type": "boolean"}

_AVD: Mapping[str, Schema] = {"name": TEXT, "exists": _FLAG, "running": _FLAG, "supported": _FLAG}

_READY: Mapping[str, Schema] = {"avdName": TEXT, "serial": TEXT}

_CREATE = an_object(
    name=TEXT, apiLevel={"type": "integer"}, abi=TEXT, deviceProfile=TEXT, playStore=_FLAG
)

_AVDS: Mapping[str, Schema] = {"avds": a_list(an_object((), **_AVD))}

_DEVICES: Mapping[str, Schema] = {"devices": a_list(an_object(serial=TEXT))}

_ALL, _ONE = "/android/emulators", "/android/emulators/{name}"

_EMULATOR_STATUSES = (400, 404, 409, 500)


class EmulatorApi(Api):
    """List, create, start, stop and delete emulators; ``running`` comes before the names."""

    def __init__(self, rack: Rack, factory: Factory) -> None:
        self._rack = rack
        self._factory = factory

    @endpoint("GET", _ALL, answer=_AVDS, statuses=_EMULATOR_STATUSES)
    async def list_all(self, request: Request) -> Response:
        """List the virtual devices."""
        return await self._answer(
            request, lambda all_: {"avds": [avd.to_dict(all_.profile) for avd in all_.list()]}
        )

    @endpoint("GET", f"{_ALL}/running", answer=_DEVICES, statuses=_EMULATOR_STATUSES)
    async def running(self, request: Request) -> Response:
        """List the emulators that run."""

        def ask(all_: Emulators) -> dict[str, Any]:
            found = [(one, all_.inspect(one.avd_name)) for one in all_.status()]
            return {"devices": [one.to_dict(avd, all_.profile) for one, avd in found]}

        return await self._answer(request, ask)

    @endpoint("GET", _ONE, answer=_AVD, statuses=_EMULATOR_STATUSES)
    async def inspect(self, request: Request) -> Response:
        """Describe a virtual device."""
        name = request.path_params["name"]
        return await self._answer(request, lambda all_: all_.inspect(name).to_dict(all_.profile))

    @endpoint("POST", f"{_ALL}/create", answer=_AVD, body=_CREATE, statuses=_EMULATOR_STATUSES)
    async def create(self, request: Request) -> Response:
        """Make a virtual device; fields of a wrong type count as missing."""
        given = await read_optional(request) or {}

        def ask(all_: Emulators) -> dict[str, Any]:
            made = self._factory(_wanted(given, all_.profile))
            name = given.get("name")
            avd = made.create(name if isinstance(name, str) and name else None)
            return avd.to_dict(all_.profile)

        return await self._answer(request, ask, is_read=True)

    @endpoint("POST", f"{_ONE}/start", answer=_READY, statuses=_EMULATOR_STATUSES)
    async def start(self, request: Request) -> Response:
        """Start an emulator, and wait until it has booted."""

        def ask(all_: Emulators) -> dict[str, Any]:
            started = all_.start(request.path_params["name"])
            ready = {"avdName": started.avd_name, "serial": started.serial, "booted": True}
            return {"type": "emulator", **ready}

        return await self._answer(request, ask)

    @endpoint("POST", f"{_ONE}/stop", answer={"avdName": TEXT}, statuses=_EMULATOR_STATUSES)
    async def stop(self, request: Request) -> Response:
        """Stop an emulator."""
        name = request.path_params["name"]
        return await self._answer(
            request, lambda all_: all_.stop(name), {"avdName": name, "stopped": True}
        )

    @endpoint("DELETE", _ONE, answer={"avdName": TEXT}, statuses=_EMULATOR_STATUSES)
    async def delete(self, request: Request) -> Response:
        """Delete a virtual device."""
        name = request.path_params["name"]
        return await self._answer(
            request, lambda all_: all_.delete(name), {"avdName": name, "deleted": True}
        )

    @endpoint("POST", "/android/provision/emulator", answer=_READY, statuses=_EMULATOR_STATUSES)
    async def provision(self, request: Request) -> Response:
        """Return a ready emulator: a running, a stopped or a new one."""
        return await self._answer(request, lambda all_: all_.provision().to_dict())

    async def _answer(
        self,
        request: Request,
        ask: Callable[[Emulators], dict[str, Any] | None],
        done: dict[str, Any] | None = None,
        *,
        is_read: bool = False,
    ) -> Response:
        """Call ``ask`` in a thread and answer; an error has its code, message and hint."""
        if request.method != "GET" and not is_read:
            await read_optional(request)  # malformed JSON is refused everywhere
        try:
            found = await self._rack.in_thread(lambda: ask(self._factory(None)))
        except ClawperatorError as error:
            is_coded = error.code != ErrorCode.UNKNOWN
            code = str(error.code) if is_coded else "INTERNAL_ERROR"
            about = {"code": code, "message": hide(error.message), "hint": hide(error.hint or "")}
            return json_answer({"ok": False, "error": about}, status=status_of(error))
        return succeeded(found or done)


def _wanted(given: dict[str, Any], base: EmulatorProfile) -> EmulatorProfile:
    """Return the profile that a body asks for."""
    wanted: dict[str, Any] = {}
    level = given.get("apiLevel")
    if isinstance(level, int) and not isinstance(level, bool):
        wanted["api"] = level
    for name, field in (("abi", "abi"), ("deviceProfile", "device")):
        if isinstance(given.get(name), str) and given[name]:
            wanted[field] = given[name]
    if given.get("playStore") is False:
        wanted["image"] = "google_apis"
    elif given.get("playStore") is True:
        wanted["image"] = PLAY_STORE
    return replace(base, **wanted)


_LONGEST_MS = 24 * 3600 * 1000

_SKILL: Schema = an_object(id=TEXT, applicationId=TEXT, intent=TEXT, summary=TEXT)

_RUN = an_object(
    deviceId=TEXT,
    args={"type": "array"},
    timeoutMs={"type": "integer", "minimum": 1},
    expectContains=TEXT,
)


class SkillApi(Api):
    """List skills, and run their scripts."""

    def __init__(self, rack: Rack, environment: Mapping[str, str] = os.environ) -> None:
        self._rack = rack
        self._environment = environment

    @endpoint(
        "GET",
        "/skills",
        query={"app": TEXT, "intent": TEXT, "keyword": TEXT},
        answer={"skills": a_list(_SKILL), "count": {"type": "integer"}},
        statuses=(500,),
    )
    async def list_all(self, request: Request) -> Response:
        """List skills, of an app, an intent or with a keyword."""
        asked = {name: request.query_params.get(name, "") for name in ("app", "intent", "keyword")}
        registry = await self._registry()
        found = [dict(skill.entry) for skill in registry.search(**asked)]
        return succeeded(skills=found, count=len(found))

    @endpoint("GET", "/skills/{skill}", answer={"skill": _SKILL}, statuses=(404, 500))
    async def describe(self, request: Request) -> Response:
        """Describe a skill."""
        registry = await self._registry()
        try:
            skill = registry.get(request.path_params["skill"])
        except SkillError as error:
            raise _refused(error) from error
        return succeeded(skill=dict(skill.entry))

    @endpoint(
        "POST",
        "/skills/{skill}/run",
        body=_RUN,
        is_body_required=True,
        answer={"skillId": TEXT, "output": TEXT, "exitCode": {"type": "integer"}},
        statuses=(400, 404, 413, 500),
    )
    async def run(self, request: Request) -> Response:
        """Run the script of a skill with the device and the arguments; return what it printed."""
        given = await read_object(request, message="Request body must be a JSON object")
        serial = text_field(given, "deviceId", "INVALID_DEVICE_ID", blank=True)
        wanted = text_field(given, "expectContains", "INVALID_EXPECT_CONTAINS", blank=True)
        arguments, timeout = _arguments(given), _timeout(given)
        registry = await self._registry()
        try:
            done = await self._rack.in_thread(
                lambda: run_skill(
                    registry,
                    request.path_params["skill"],
                    [*([serial] if serial else []), *arguments],
                    timeout=None if timeout is None else timeout / 1000,
                    wanted=wanted,
                )
            )
        except SkillError as error:
            raise _refused(error) from error
        more: dict[str, Any] = {"durationMs": round(done.elapsed * 1000)}
        if timeout is not None:
            more["timeoutMs"] = timeout
        if wanted is not None:
            more["expectedSubstring"] = wanted
        return succeeded(skillId=done.skill_id, output=hide(done.output), exitCode=0, **more)

    async def _registry(self) -> Registry:
        """Read the registry."""
        try:
            return await self._rack.in_thread(
                lambda: read_registry(find_registry(self._environment))
            )
        except SkillError as error:
            raise _refused(error) from error


def _refused(error: SkillError) -> Refused:
    """Return the answer for an error, with its details beside the code, as published."""
    statuses = {ErrorCode.SKILL_NOT_FOUND: 404, ErrorCode.REGISTRY_READ_FAILED: 500}
    status = statuses.get(ErrorCode(error.code), 400)
    refusal = Refused(status, str(error.code), hide(error.message), error.hint and hide(error.hint))
    details = error.details if status == 400 else {}
    refusal.error |= {k: hide(v) if isinstance(v, str) else v for k, v in details.items()}
    return refusal


def _arguments(given: Mapping[str, Any]) -> list[str]:
    arguments = given.get("args", [])
    if not isinstance(arguments, list):
        raise Refused(400, "INVALID_ARGS", "'args' must be an array")
    return [to_string(one) for one in arguments]


def _timeout(given: Mapping[str, Any]) -> int | None:
    if "timeoutMs" not in given:
        return None
    value = given["timeoutMs"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= _LONGEST_MS or value != int(value):
        raise Refused(400, "INVALID_TIMEOUT_MS", "'timeoutMs' must be a positive integer")
    return int(value)
