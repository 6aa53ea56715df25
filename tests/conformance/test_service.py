"""Our service answers as the published server does."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from pytest_clawperator.service.events import EventStream
from pytest_clawperator.service.gate import Gate
from pytest_clawperator.service.page import RackPage
from pytest_clawperator.service.published import EmulatorApi, Executions, SkillApi
from pytest_clawperator.service.rack import Rack
from pytest_clawperator.service.server import make_app
from tests.conformance.vectors import emulators_of, rows
from tests.doubles.asgi import Answered, ask
from tests.doubles.scenario_rack import ScenarioConnector
from tests.doubles.scenario_sdk import ScenarioSdk

# What a placeholder of the vectors stands for.
_PLACES = {"ID>": r"[\w-]+", "TS>": r"\d+", "int>": r"\d+"}
# Wordings of the published program, and a file that only it writes.
_ITS_OWN = ("reason", "message", "hint", "logPath", "detail", "summary", "installCommand")


class Bench:
    """A service on the devices and the SDK of a row."""

    def __init__(self, row: dict[str, Any], home: Path) -> None:
        self._home = home
        self.connector = ScenarioConnector(row["scenario"], row["env"])
        self.rack = Rack(self.connector)
        apis = (
            RackPage(),
            Executions(self.rack),
            EmulatorApi(
                self.rack, partial(emulators_of, row, _EndingSdk(row["scenario"], home=home), home)
            ),
            SkillApi(self.rack),
            EventStream(self.rack.events),
        )
        endpoints = [endpoint for api in apis for endpoint in api.endpoints()]
        self.app: Starlette = make_app(endpoints, gate=Gate())

    async def ask(self, request: dict[str, Any]) -> Answered:
        """Send the request of a row."""
        # A folder of the machine where the row was made.
        body = (request["rawBody"] or "").replace("/tmp/research/tmp", str(self._home)) or None
        headers = request["headers"]
        return await ask(self.app, request["method"], request["path"], body=body, headers=headers)

    async def execute(self, command_id: str) -> Answered:
        """Run an execution with this id."""
        action = {"id": "z", "type": "sleep", "params": {"durationMs": 1}}
        execution = {
            "commandId": command_id,
            "taskId": "task-1",
            "source": "http",
            "expectedFormat": "android-ui-automator",
            "timeoutMs": 30000,
            "actions": [action],
        }
        return await ask(self.app, "POST", "/execute", body={"execution": execution})


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep leases and flight locks in a folder of the test's own."""
    folder = tmp_path / "locks"
    folder.mkdir()
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(folder))


@pytest.mark.parametrize("row", rows("serve_api"))
def test_a_request_is_answered_as_published(row: dict[str, Any], tmp_path: Path) -> None:
    """The status, the error's code and details, the fields, and the events."""
    if isinstance(row["body"], str) and row["status"] == 404:
        check_page(row, tmp_path)
    elif row["category"] == "sse":
        check_events(row, tmp_path)
    else:
        answered = asyncio.run(answer_of(row, tmp_path))
        if row["name"] == "execute/adb_missing":  # reported as what it is
            assert (answered.status, answered.json["error"]["code"]) == (500, "ADB_NOT_FOUND")
            return
        assert answered.status == row["status"], answered.body
        assert answered.headers["content-type"] == row["contentType"]
        assert meaning(answered.json, row["body"]) == without_wording(row["body"])


async def answer_of(row: dict[str, Any], home: Path) -> Answered:
    """Return our answer to a row; two of them come while another execution is in flight."""
    bench = Bench(row, home)
    first = None
    if row["scenario"].get("streamDelayMs"):
        first = asyncio.ensure_future(bench.execute("first"))
        while bench.rack.station_of("emulator-5554").running is None:
            await asyncio.sleep(0)
        if "released" in row["name"]:
            assert (await bench.execute("second")).status == 423
            bench.connector.transports["emulator-5554"].released.set()
            await first
    answered = await bench.ask(row["request"])
    if first is not None:
        bench.connector.open("emulator-5554")
        bench.connector.transports["emulator-5554"].released.set()
        assert (await first).status == 200
    await bench.rack.close()
    return answered


def check_page(row: dict[str, Any], home: Path) -> None:
    """Check that there is a route, or JSON, where the published program has a page in HTML."""
    answered = asyncio.run(answer_of(row, home))
    known = {"/observe/snapshot": 200, "/": 200}
    assert answered.status == known.get(row["request"]["path"], 404)
    if answered.status == 404:
        assert answered.json["error"]["code"] == "ROUTE_NOT_FOUND"


def check_events(row: dict[str, Any], home: Path) -> None:
    """Check that a listener gets the events that the published program sends."""
    expected = frames(row["body"])
    execution = next(data for name, data in expected if name == "clawperator:execution")

    async def listen() -> Answered:
        bench = Bench(row, home)
        listening = asyncio.ensure_future(
            ask(bench.app, "GET", "/events", until=lambda it: has(it, "clawperator:execution"))
        )
        while bench.rack.events.listeners == 0:
            await asyncio.sleep(0)
        body = {"execution": execution["input"], "deviceId": execution["deviceId"]}
        await ask(bench.app, "POST", "/execute", body=body)
        answered = await listening
        await bench.rack.close()
        return answered

    answered = asyncio.run(listen())

    assert answered.headers["content-type"] == row["contentType"]
    assert row["headers"].items() <= answered.headers.items()
    ours = frames(answered.body.decode())
    assert [name for name, _ in ours] == [name for name, _ in expected]
    for (_, one), (_, published) in zip(ours, expected, strict=True):
        assert meaning(one, published) == without_wording(published)


def has(answered: Answered, name: str) -> bool:
    """Whether an event of this name came."""
    return f"event: {name}\n".encode() in answered.body


def frames(stream: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the data of each event."""
    found = re.findall(r"event: (.*)\ndata: (.*)\n", stream)
    return [(name, json.loads(data)) for name, data in found]


def meaning(ours: Any, published: Any) -> Any:
    """Return of our answer what the published one has; a text that fits a placeholder is it."""
    if isinstance(ours, dict) and isinstance(published, dict):
        return {
            key: meaning(ours.get(key), value)
            for key, value in published.items()
            if key not in _ITS_OWN
        }
    if isinstance(ours, list) and isinstance(published, list) and len(ours) == len(published):
        return [meaning(one, other) for one, other in zip(ours, published, strict=True)]
    if isinstance(published, str) and re.search(r"<[\w-]*(ID|TS|int)>|/tmp/research", published):
        return published if fits(str(ours), published) else ours
    return ours


def fits(ours: str, published: str) -> bool:
    """Whether a text is one that a text with placeholders stands for."""
    name = published.rpartition("/")[2]  # folders of screenshots are our own
    pattern = re.sub(r"<(?:[\w-]*-)?(\w+>)", lambda place: _PLACES[place[1]], name)
    return re.fullmatch(pattern, ours.rpartition("/")[2]) is not None


def without_wording(published: Any) -> Any:
    """Return a published answer without what is the program's own."""
    if isinstance(published, dict):
        return {k: without_wording(v) for k, v in published.items() if k not in _ITS_OWN}
    if isinstance(published, list):
        return [without_wording(one) for one in published]
    return published


class _EndingSdk(ScenarioSdk):
    """An SDK whose emulators are gone once they were killed."""

    is_ended = False

    def console(self, serial: str, command: str) -> str:
        """Answer as ``adb emu``."""
        self.is_ended = self.is_ended or command == "kill"
        return super().console(serial, command)

    def devices(self) -> list[tuple[str, str]]:
        """List what ``adb devices`` lists."""
        return [] if self.is_ended else super().devices()
