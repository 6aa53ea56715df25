"""Skills over HTTP: listed, described, and run on the machine of the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.service.gate import Gate
from pytest_clawperator.service.published import SkillApi
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.server import make_app
from tests.doubles.asgi import Answered, ask
from tests.doubles.shown_rack import ShownDevices

SKILLS = [
    {
        "id": "com.example.shop.buy",
        "applicationId": "com.example.shop",
        "intent": "buy",
        "summary": "Buy something",
        "scripts": ["skills/buy/run.sh"],
    },
    {"id": "com.example.mail.read", "applicationId": "com.example.mail", "intent": "read"},
    {"id": "outside", "scripts": ["../outside.sh"]},
]


Asking = Callable[..., Answered]


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    """Return what asks a service whose registry has some skills."""
    script = tmp_path / "skills" / "buy" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\nprintf "%s|" "$@"\n[ "$2" = fail ] && exit 3\n'
                      '[ "$2" = wait ] && sleep 60\nexit 0\n')  # fmt: skip
    script.chmod(0o755)
    registry = tmp_path / "skills" / "skills-registry.json"
    registry.write_text(json.dumps({"skills": SKILLS}))
    environment = {"CLAWPERATOR_SKILLS_REGISTRY": str(registry)}

    def send(method: str, path: str, body: Any = None) -> Answered:
        async def sent() -> Answered:
            rack = Rack(ShownDevices({}))
            app = make_app(SkillApi(rack, environment).endpoints(), gate=Gate())
            try:
                return await ask(app, method, path, body=body)
            finally:
                await rack.close()

        return asyncio.run(sent())

    return send


QUERIES = {
    "": 3,
    "?app=": 3,
    "?app=com.example.shop": 1,
    "?intent=read": 1,
    "?keyword=SOMETHING": 1,
    "?keyword=example&intent=buy": 1,
    "?app=com.other": 0,
}


def test_skills_are_found_described_and_run(asking: Asking) -> None:
    """By app, intent and keyword; arguments become text as in JavaScript, without a shell."""
    for query, count in QUERIES.items():
        found = asking("GET", f"/skills{query}").json
        assert (found["count"], len(found["skills"])) == (count, count), query
    assert asking("GET", "/skills/com.example.shop.buy").json["skill"] == SKILLS[0]
    missing = asking("GET", "/skills/other")
    assert (missing.status, missing.json["error"]["code"]) == (404, "SKILL_NOT_FOUND")

    body = {"deviceId": "PH1", "args": ["a b", 1.0, True, "$(id)"], "expectContains": "a b"}
    done = asking("POST", "/skills/com.example.shop.buy/run", body).json
    assert done["output"] == "PH1|a b|1|true|$(id)|"
    assert (done["ok"], done["exitCode"], done["expectedSubstring"]) == (True, 0, "a b")


FAILED: list[tuple[str, Any, int, str]] = [
    ("com.example.shop.buy", {"deviceId": "x", "args": ["fail"]}, 400, "SKILL_EXECUTION_FAILED"),
    ("com.example.shop.buy", {"deviceId": "x", "args": ["wait"], "timeoutMs": 50}, 400,
     "SKILL_EXECUTION_TIMEOUT"),
    ("com.example.shop.buy", {"expectContains": "never"}, 400, "SKILL_OUTPUT_ASSERTION_FAILED"),
    ("com.example.shop.buy", {"args": ["\0"]}, 400, "SKILL_EXECUTION_FAILED"),
    ("com.example.shop.buy", {"args": "x"}, 400, "INVALID_ARGS"),
    ("com.example.shop.buy", {"deviceId": 5}, 400, "INVALID_DEVICE_ID"),
    ("com.example.shop.buy", {"timeoutMs": 0}, 400, "INVALID_TIMEOUT_MS"),
    ("com.example.shop.buy", '{"timeoutMs": 1e999}', 400, "INVALID_TIMEOUT_MS"),
    ("com.example.shop.buy", {"expectContains": 5}, 400, "INVALID_EXPECT_CONTAINS"),
    ("com.example.shop.buy", None, 400, "INVALID_BODY"),
    ("com.example.mail.read", {}, 400, "SKILL_SCRIPT_NOT_FOUND"),
    ("outside", {}, 400, "SKILL_SCRIPT_NOT_FOUND"),
    ("other", {}, 404, "SKILL_NOT_FOUND"),
]  # fmt: skip


def test_a_failed_run_has_its_code(asking: Asking) -> None:
    """Of the script, or of what is wrong with the request."""
    for skill, body, status, code in FAILED:
        answered = asking("POST", f"/skills/{skill}/run", body)
        assert (answered.status, answered.json["error"]["code"]) == (status, code), (skill, body)


def test_a_registry_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing, not JSON, or without skills."""
    paths = [tmp_path / name for name in ("missing", "broken", "empty")]
    paths[1].write_text("{")
    paths[2].write_text("{}")
    codes = []
    for path in paths:
        api = SkillApi(Rack(ShownDevices({})), {"CLAWPERATOR_SKILLS_REGISTRY": str(path)})
        app = make_app(api.endpoints(), gate=Gate())
        answered = asyncio.run(ask(app, "GET", "/skills"))
        codes.append((answered.status, answered.json["error"]["code"]))

    assert codes == [(500, "REGISTRY_READ_FAILED")] * 3
