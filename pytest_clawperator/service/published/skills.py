"""Skills: ``/skills``, the scripts of a registry on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.contracts.ecmascript import to_string
from pytest_clawperator.errors import ErrorCode, SkillError
from pytest_clawperator.redaction import hide
from pytest_clawperator.service.answers import Refused, succeeded
from pytest_clawperator.service.bodies import read_object, text_field
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.skills.registry import Registry, find_registry, read_registry
from pytest_clawperator.skills.run import run_skill

_LONGEST_MS = 24 * 3600 * 1000
_SKILL: Schema = an_object(id=TEXT, applicationId=TEXT, intent=TEXT, summary=TEXT)
_RUN = an_object(
    deviceId=TEXT,
    args={"type": "array"},
    timeoutMs={"type": "integer", "minimum": 1},
    expectContains=TEXT,
)


class SkillApi:
    """Lists skills, and runs their scripts."""

    def __init__(self, rack: Rack, environment: Mapping[str, str] = os.environ) -> None:
        self._rack = rack
        self._environment = environment

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        return [
            Endpoint(
                method="GET",
                path="/skills",
                handle=self.list_all,
                summary="List skills, of an app, an intent or with a keyword.",
                query={"app": TEXT, "intent": TEXT, "keyword": TEXT},
                answer={"skills": a_list(_SKILL), "count": {"type": "integer"}},
                statuses=(500,),
            ),
            Endpoint(
                method="GET",
                path="/skills/{skill}",
                handle=self.describe,
                summary="Describe a skill.",
                answer={"skill": _SKILL},
                statuses=(404, 500),
            ),
            Endpoint(
                method="POST",
                path="/skills/{skill}/run",
                handle=self.run,
                summary="Run the script of a skill, and return what it printed.",
                body=_RUN,
                is_body_required=True,
                answer={"skillId": TEXT, "output": TEXT, "exitCode": {"type": "integer"}},
                statuses=(400, 404, 413, 500),
            ),
        ]

    async def list_all(self, request: Request) -> Response:
        """List the skills that fit."""
        asked = {name: request.query_params.get(name, "") for name in ("app", "intent", "keyword")}
        registry = await self._registry()
        found = [dict(skill.entry) for skill in registry.search(**asked)]
        return succeeded(skills=found, count=len(found))

    async def describe(self, request: Request) -> Response:
        """Describe a skill."""
        registry = await self._registry()
        try:
            skill = registry.get(request.path_params["skill"])
        except SkillError as error:
            raise _refused(error) from error
        return succeeded(skill=dict(skill.entry))

    async def run(self, request: Request) -> Response:
        """Run a skill; its arguments are the device, if one is given, and those of the body."""
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
        told: dict[str, Any] = {"durationMs": round(done.elapsed * 1000)}
        if timeout is not None:
            told["timeoutMs"] = timeout
        if wanted is not None:
            told["expectedSubstring"] = wanted
        return succeeded(skillId=done.skill_id, output=hide(done.output), exitCode=0, **told)

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
    told = error.details if status == 400 else {}
    refusal.error |= {k: hide(v) if isinstance(v, str) else v for k, v in told.items()}
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
