"""The page and its data over HTTP, on simulated phones."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from pytest_clawperator.service.gate import OPEN_PATHS
from pytest_clawperator.service.page import FILES
from tests.doubles.adb_server import eventually
from tests.doubles.service import RunningService
from tests.service.conftest import execution

MISSING = {"id": "m", "type": "click", "params": {"matcher": {"textEquals": "nowhere"}}}


def test_the_page_may_use_nothing_but_this_service(http: httpx.Client) -> None:
    """Its policy names no other host and allows no markup; it is small, open and without data."""
    for path in FILES:
        answer = http.get(path)
        policy = answer.headers["content-security-policy"]
        assert answer.status_code == 200
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert not {"http:", "https:", "unsafe-inline", "unsafe-eval", "*"} & set(policy.split())
    assert frozenset(FILES) == OPEN_PATHS
    folder = Path(__file__).parents[2] / "pytest_clawperator" / "service" / "files"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 40_000


def test_executions_are_shown_with_their_result(http: httpx.Client, serial: str) -> None:
    """The newest first, with what failed and why."""
    for number, actions in enumerate(([], [MISSING])):
        body = {"deviceId": serial, "execution": execution(*actions, command_id=f"r{number}")}
        assert http.post("/execute", json=body).status_code == 200

    shown = next(one for one in http.get("/v1/rack").json()["devices"] if one["serial"] == serial)

    failed, succeeded = shown["executions"][:2]
    assert (succeeded["ok"], succeeded["code"], succeeded["actions"]) == (True, None, ["sleep"])
    assert (failed["ok"], failed["actions"]) == (False, ["click"])
    assert failed["code"]
    assert failed["message"]
    assert failed["elapsedMs"] >= 0


def test_a_picture_is_sent_once(http: httpx.Client, serial: str) -> None:
    """A client that has the newest one gets 304; a device that is not there has none."""
    ask = httpx.Request("GET", http.base_url.join("/v1/rack/picture"), params={"serial": serial})
    http.get("/v1/rack")
    assert eventually(lambda: http.send(ask).status_code == 200)
    first = http.send(ask)

    again = http.get(ask.url, headers={"if-none-match": first.headers["etag"]})

    assert first.content.startswith(b"\xff\xd8")
    assert (again.status_code, again.content) == (304, b"")
    for absent in ("", "nowhere", "../../etc/passwd", "x" * 5000):
        assert http.get("/v1/rack/picture", params={"serial": absent}).status_code == 204


def test_changes_are_streamed(service: RunningService, http: httpx.Client, serial: str) -> None:
    """An execution on a device is sent to those who look."""
    with http.stream("GET", "/v1/rack/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: heartbeat"
        body = {"deviceId": serial, "execution": execution(command_id="streamed")}
        assert httpx.post(f"{service.url}/execute", json=body, trust_env=False).json()["ok"]
        for line in lines:
            if line.startswith("data: ") and '"streamed"' in line:
                change = json.loads(line.removeprefix("data: "))
                break

    assert serial in [one["serial"] for one in change["devices"]]
