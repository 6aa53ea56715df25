"""Skills: ``/skills``, the scripts of a registry on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pytest_clawperator.contracts.text.ecmascript import to_string
from pytest_clawperator.contracts.text.strict_json import parse_json
from pytest_clawperator.errors import UNUSABLE_FILE, file_problem
from pytest_clawperator.service.answers import Refused, json_answer, succeeded
from pytest_clawperator.service.bodies import read_object, text_field
from pytest_clawperator.service.endpoint import TEXT, Endpoint, Schema, a_list, an_object
from pytest_clawperator.service.rack import Rack

REGISTRY_VARIABLE = "CLAWPERATOR_SKILLS_REGISTRY"
_USUAL = Path("skills") / "skills-registry.json"
_TIMEOUT_MS, _LONGEST_MS = 120_000, 24 * 3600 * 1000
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
        found = [skill for skill in self._read()[0] if _fits(skill, asked)]
        return succeeded(skills=found, count=len(found))

    async def describe(self, request: Request) -> Response:
        """Describe a skill."""
        return succeeded(skill=_find(self._read()[0], request.path_params["skill"]))

    async def run(self, request: Request) -> Response:
        """Run a skill; its arguments are the device, if one is given, and those of the body."""
        given = await read_object(request, message="Request body must be a JSON object")
        serial = text_field(given, "deviceId", "INVALID_DEVICE_ID", blank=True)
        wanted = text_field(given, "expectContains", "INVALID_EXPECT_CONTAINS", blank=True)
        arguments, timeout = _arguments(given), _timeout(given)
        skills, folder = self._read()
        skill = _find(skills, request.path_params["skill"])
        script = _script(skill, folder)
        words = [*([serial] if serial else []), *arguments]
        status, told = await self._rack.in_thread(
            lambda: _outcome(skill["id"], script, words, timeout, wanted)
        )
        return json_answer(told, status=status)

    def _read(self) -> tuple[list[dict[str, Any]], Path]:
        """Return the skills of the registry, and the folder where their paths begin."""
        named = self._environment.get(REGISTRY_VARIABLE)
        path = Path(named) if named else Path.cwd() / _USUAL
        try:
            registry = parse_json(path.read_text(encoding="utf-8"))
        except (*UNUSABLE_FILE, RecursionError) as error:
            why = file_problem(error) if isinstance(error, OSError) else str(error)
            place = "configured" if named else "default"
            raise Refused(
                500,
                "REGISTRY_READ_FAILED",
                f"Registry not found at {place} path, or unreadable: {path}: {why}",
                f"Set {REGISTRY_VARIABLE} to the registry of your skills.",
            ) from error
        skills = registry.get("skills") if isinstance(registry, dict) else None
        if not isinstance(skills, list):
            raise Refused(500, "REGISTRY_READ_FAILED", "Invalid registry: skills array required")
        return [one for one in skills if isinstance(one, dict)], path.resolve().parent.parent


def _fits(skill: Mapping[str, Any], asked: Mapping[str, str]) -> bool:
    texts = [str(skill.get(name, "")) for name in ("id", "summary", "applicationId")]
    return (
        asked["app"] in ("", skill.get("applicationId"))
        and asked["intent"] in ("", skill.get("intent"))
        and any(asked["keyword"].lower() in text.lower() for text in texts)
    )


def _find(skills: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    for skill in skills:
        if skill.get("id") == name:
            return skill
    raise Refused(404, "SKILL_NOT_FOUND", f"Skill not found: {name[:200]}")


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


def _script(skill: Mapping[str, Any], folder: Path) -> Path:
    """Return the script of a skill: in JavaScript, else for the shell, else the first."""
    scripts = [one for one in skill.get("scripts") or () if isinstance(one, str)]
    if not scripts:
        raise _failed(skill["id"], "SKILL_SCRIPT_NOT_FOUND", "has no scripts defined")
    chosen = next(
        (one for end in (".js", ".sh", "") for one in scripts if one.endswith(end)), scripts[0]
    )
    path = (folder / chosen).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        raise _failed(skill["id"], "SKILL_SCRIPT_NOT_FOUND", f"has no script {chosen}")
    return path


def _outcome(
    name: str, script: Path, words: list[str], timeout: int | None, wanted: str | None
) -> tuple[int, dict[str, Any]]:
    """Run a script to its end, and return the status and the body of the answer."""
    begin, allowed = time.monotonic(), timeout or _TIMEOUT_MS
    asked: dict[str, Any] = {} if timeout is None else {"timeoutMs": timeout}
    if wanted is not None:
        asked["expectedSubstring"] = wanted
    try:
        code, output, complaints = _executed(script, words, allowed / 1000)
    except UNUSABLE_FILE as error:  # there is no such program, or a word that none can be given
        return _answer(name, "SKILL_EXECUTION_FAILED", f"cannot be run: {error}", asked)
    about = {**asked, "stdout": output, "stderr": complaints}
    if code is None:
        return _answer(name, "SKILL_EXECUTION_TIMEOUT", f"timed out after {allowed}ms", about)
    if code != 0:
        about["exitCode"] = code
        return _answer(name, "SKILL_EXECUTION_FAILED", f"exited with code {code}", about)
    if wanted is not None and wanted not in output:
        lacking = {**asked, "output": output}
        return _answer(name, "SKILL_OUTPUT_ASSERTION_FAILED", "printed something else", lacking)
    took = round((time.monotonic() - begin) * 1000)
    told = {"skillId": name, "output": output, "exitCode": 0, "durationMs": took, **asked}
    return 200, {"ok": True, **told}


def _executed(script: Path, words: list[str], seconds: float) -> tuple[int | None, str, str]:
    """Return the exit code, or None if the time was over, and what was printed."""
    program = ["node", str(script)] if script.suffix == ".js" else [str(script)]
    process = subprocess.Popen(  # noqa: S603 - a script that the owner of the machine registered
        [*program, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # what it starts ends with it
    )
    try:
        output, complaints = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        output, complaints = _ended(process)
        return None, output, complaints
    return process.returncode, output, complaints


def _ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """End a script with all that it started, and return what it had printed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=2.0)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    return process.communicate()


def _failed(name: str, code: str, why: str) -> Refused:
    refusal = Refused(400, code, f"Skill {name} {why}")
    refusal.error["skillId"] = name
    return refusal


def _answer(name: str, code: str, why: str, about: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    error = {"code": code, "message": f"Skill {name} {why}", "skillId": name, **about}
    return 400, {"ok": False, "error": error}
