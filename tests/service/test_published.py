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


@pytest.mark.parametrize(
    ("query", "count"),
    [("", 3), ("?app=", 3), ("?app=com.example.shop", 1), ("?intent=read", 1),
     ("?keyword=SOMETHING", 1), ("?keyword=example&intent=buy", 1), ("?app=com.other", 0)],
)  # fmt: skip
def test_skills_are_found_by_what_is_asked(asking: Asking, query: str, count: int) -> None:
    """By app, intent and keyword; an empty filter is none."""
    told = asking("GET", f"/skills{query}").json

    assert (told["count"], len(told["skills"])) == (count, count)


def test_one_skill_is_described(asking: Asking) -> None:
    """As it stands in the registry."""
    assert asking("GET", "/skills/com.example.shop.buy").json["skill"] == SKILLS[0]
    missing = asking("GET", "/skills/other")
    assert (missing.status, missing.json["error"]["code"]) == (404, "SKILL_NOT_FOUND")


def test_a_skill_gets_the_device_and_its_arguments(asking: Asking) -> None:
    """Arguments are made text as in JavaScript; no shell reads them."""
    body = {"deviceId": "PH1", "args": ["a b", 1.0, True, "$(id)"], "expectContains": "a b"}

    told = asking("POST", "/skills/com.example.shop.buy/run", body).json

    assert told["output"] == "PH1|a b|1|true|$(id)|"
    assert (told["ok"], told["exitCode"], told["expectedSubstring"]) == (True, 0, "a b")


@pytest.mark.parametrize(
    ("skill", "body", "status", "code"),
    [
        ("buy", {"deviceId": "x", "args": ["fail"]}, 400, "SKILL_EXECUTION_FAILED"),
        ("buy", {"deviceId": "x", "args": ["wait"], "timeoutMs": 50}, 400,
         "SKILL_EXECUTION_TIMEOUT"),
        ("buy", {"expectContains": "never"}, 400, "SKILL_OUTPUT_ASSERTION_FAILED"),
        ("buy", {"args": ["\0"]}, 400, "SKILL_EXECUTION_FAILED"),
        ("buy", {"args": "x"}, 400, "INVALID_ARGS"),
        ("buy", {"deviceId": 5}, 400, "INVALID_DEVICE_ID"),
        ("buy", {"timeoutMs": 0}, 400, "INVALID_TIMEOUT_MS"),
        ("buy", '{"timeoutMs": 1e999}', 400, "INVALID_TIMEOUT_MS"),
        ("buy", {"expectContains": 5}, 400, "INVALID_EXPECT_CONTAINS"),
        ("buy", None, 400, "INVALID_BODY"),
        ("mail", {}, 400, "SKILL_SCRIPT_NOT_FOUND"),
        ("outside", {}, 400, "SKILL_SCRIPT_NOT_FOUND"),
        ("other", {}, 404, "SKILL_NOT_FOUND"),
    ],
)  # fmt: skip
def test_a_run_that_fails_is_told_with_its_code(
    asking: Asking, skill: str, body: Any, status: int, code: str
) -> None:
    """And with what the script had printed."""
    names = {"buy": "com.example.shop.buy", "mail": "com.example.mail.read"}

    answered = asking("POST", f"/skills/{names.get(skill, skill)}/run", body)

    assert (answered.status, answered.json["error"]["code"]) == (status, code)


def test_a_registry_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing, no JSON, or without skills."""
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
