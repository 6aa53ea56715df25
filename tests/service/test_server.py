"""The running service: executions, events, leases, its end, and who may reach it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from pytest_clawperator.cli.output import for_command_line
from pytest_clawperator.devices.lease import open_leases
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.service.gate import OPEN_PATHS
from pytest_clawperator.service.server import ServiceOptions, chosen_token, open_listener
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import eventually
from tests.doubles.service import RunningService, running_service
from tests.service.conftest import NAP, execution


def post(url: str, body: dict[str, Any], path: str = "/execute") -> httpx.Response:
    """Send a body to the service."""
    return httpx.post(f"{url}{path}", json=body, trust_env=False, timeout=30)


def lines_until(lines: Iterator[str], start: str) -> list[str]:
    """Return the lines up to one that begins so."""
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if line.startswith(start):
            break
    return seen


def test_paths_have_several_spellings(http: httpx.Client, serial: str) -> None:
    """The documented ones, those of the newer program, and with a slash at the end."""
    for path in ("/snapshot", "/observe/snapshot"):
        answer = http.post(path, json={"deviceId": serial}).json()
        assert answer["ok"], answer
        assert answer["envelope"]["stepResults"][0]["data"]["text"].startswith("<")
    for path in ("/devices/", "/v1/devices/"):
        assert http.get(path).status_code == 200


def test_options_of_the_service_apply_to_requests(simulator: Simulator, serial: str) -> None:
    """Its Operator unless a request names another, and hints in its words, not in Python."""
    asked = {"execution": execution(), "deviceId": serial}
    own = {**asked, "operatorPackage": "com.clawperator.operator"}
    with running_service(
        simulator, operator_package="com.example.absent", wording=for_command_line
    ) as service:
        absent, found = (post(service.url, body).json() for body in (asked, own))
        device = httpx.get(f"{service.url}/v1/devices/{serial}", trust_env=False).json()["device"]
        emulator = httpx.delete(f"{service.url}/android/emulators/ghost", trust_env=False).json()

    assert absent["error"]["code"] == "OPERATOR_NOT_INSTALLED"
    assert "clawperator-py operator setup" in absent["error"]["hint"]
    for answer in (absent, emulator):
        assert "(" not in answer["error"]["hint"], answer
    assert found["ok"], found
    assert device["info"]["operator_package"] == "com.example.absent"


def test_a_device_that_a_test_run_holds_is_not_touched(
    http: httpx.Client, simulator: Simulator
) -> None:
    """Whatever is asked of it, the answer names the run."""
    serial = simulator.serials[1]
    info = http.get(f"/v1/devices/{serial}").json()["device"]["info"]
    hold = open_leases(run_id="nightly").try_take(info["key"])
    assert hold is not None
    with hold:
        answers = [
            http.post("/execute", json={"execution": execution(), "deviceId": serial}),
            http.post(f"/v1/devices/{serial}/shell", json={"command": ["true"]}),
            http.get(f"/v1/devices/{serial}/screen.png"),
            http.get(f"/v1/devices/{serial}/log"),
            http.post("/v1/leases", json={"serial": serial, "owner": "x"}),
        ]
        device = http.get(f"/v1/devices/{serial}").json()["device"]

    assert [answer.status_code for answer in answers] == [423] * 5
    assert all("run nightly" in answer.json()["error"]["message"] for answer in answers)
    assert "run nightly" in device["holder"]


def test_one_execution_runs_at_a_time_and_a_repeated_one_once(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """Another gets 423 with its id; the same again gets its answer, and one event reports it."""
    nap = {**NAP, "params": {"durationMs": 20_000}}  # long enough to ask while it runs
    twin = {"execution": {**execution(nap, command_id="twin"), "timeoutMs": 120_000}}
    station = service.service.rack.station_of(serial)
    with http.stream("GET", "/events") as stream, ThreadPoolExecutor(2) as threads:
        lines = stream.iter_lines()
        assert next(lines) == "event: heartbeat"
        body = {**twin, "deviceId": serial}
        again: list[Future[httpx.Response]] = [
            threads.submit(post, service.url, body) for _ in range(2)
        ]
        assert eventually(lambda: station.running == "twin")
        other = post(service.url, {"execution": execution(), "deviceId": serial})
        answers = [future.result().json() for future in again]
        post(service.url, {"execution": execution(command_id="last"), "deviceId": serial})
        heard = lines_until(lines, f'data: {{"deviceId":"{serial}","envelope":{{"commandId":"last"')

    assert (other.status_code, other.json()["error"]["details"]["running"]) == (423, "twin")
    assert [answer["envelope"]["commandId"] for answer in answers] == ["twin", "twin"]
    assert [past.execution.command_id for past in station.past[:2]] == ["last", "twin"]
    events = [name for name, data in pairwise(heard) if '"commandId":"twin"' in data]
    assert sorted(events) == ["event: clawperator:execution", "event: clawperator:result"]


def test_events_are_heard_and_continued(service: RunningService, serial: str) -> None:
    """Over a real connection, and after it broke."""
    with httpx.Client(base_url=service.url, trust_env=False, timeout=30) as http:
        with http.stream("GET", "/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: heartbeat"
            assert post(service.url, {"execution": execution(), "deviceId": serial}).json()["ok"]
            seen = lines_until(lines, "id: ")
        last = seen[-1].removeprefix("id: ")
        with http.stream("GET", "/events", headers={"last-event-id": last}) as stream:
            rest = lines_until(stream.iter_lines(), "id: ")

    assert "event: clawperator:result" in seen
    assert "event: clawperator:execution" in rest


def test_the_end_lets_a_running_execution_end(simulator: Simulator, serial: str) -> None:
    """Streams are ended immediately, the execution gets its answer."""
    answers: list[httpx.Response] = []
    with running_service(simulator) as service:
        body = {"execution": execution(NAP, command_id="last"), "deviceId": serial}
        posting = threading.Thread(target=lambda: answers.append(post(service.url, body)))
        with httpx.stream("GET", f"{service.url}/events", trust_env=False) as stream:
            posting.start()
            station = service.service.rack.station_of(serial)
            assert eventually(lambda: station.running == "last")
            service.stop()
            assert "CONNECTED" in "".join(stream.iter_text())
        posting.join()

    assert answers[0].json()["envelope"]["status"] == "success"
    assert open_leases(run_id="x").holder(station.info.key) is None


def test_a_token_is_needed_beyond_this_machine() -> None:
    """One is made, unless one is given or none is wanted; on localhost none is needed."""
    made, is_new = chosen_token(ServiceOptions(host="0.0.0.0"))

    assert (bool(made), is_new) == (True, True)
    assert chosen_token(ServiceOptions(host="127.0.0.1")) == (None, False)
    assert chosen_token(ServiceOptions(host="0.0.0.0", insecure=True)) == (None, False)
    assert chosen_token(ServiceOptions(token="a-long-token")) == ("a-long-token", False)
    with pytest.raises(ConfigurationError):
        chosen_token(ServiceOptions(token="short"))


def test_everything_but_the_page_asks_for_the_token(simulator: Simulator) -> None:
    """Each path answers 401 without it, and the document describes it."""
    own = {"authorization": "Bearer correct-horse"}
    with (
        running_service(simulator, token="correct-horse") as service,
        httpx.Client(base_url=service.url, trust_env=False) as http,
    ):
        paths = [one.path for one in service.service.endpoints if one.method == "GET"]
        codes = {path: http.get(path).status_code for path in paths}
        allowed = http.get("/devices", headers=own)
        document = http.get("/openapi.json", headers=own).json()

    assert {codes.pop(path) for path in OPEN_PATHS} == {200}
    assert set(codes.values()) == {401}
    assert allowed.status_code == 200
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


@pytest.mark.parametrize(
    ("options", "folder"),
    [({"folder": "shots"}, "shots"), ({"host": "0.0.0.0"}, "clawperator-screenshots")],
    ids=["given", "default"],
)
def test_clients_elsewhere_write_into_one_folder_only(
    simulator: Simulator,
    serial: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    folder: str,
) -> None:
    """A screenshot goes to that folder, or nowhere."""
    monkeypatch.chdir(tmp_path)
    inside, outside = tmp_path / folder / "a.png", tmp_path / "b.png"
    inside.parent.mkdir()
    if "folder" in options:
        options = {"folder": tmp_path / folder}
    with running_service(simulator, **options) as service:
        answers = [
            post(service.url, {"deviceId": serial, "path": str(path)}, "/screenshot")
            for path in (inside, outside, inside.parent / ".." / "b.png")
        ]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert (inside.exists(), outside.exists()) == (True, False)


def test_an_address_that_cannot_be_used_is_named() -> None:
    """A taken port or the address of another machine, each with its option."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for options, name, option in (
            (ServiceOptions(port=port), str(port), "--port"),
            (ServiceOptions(host="203.0.113.9", port=0), "203.0.113.9", "--host"),
            (ServiceOptions(host="no-such-host.invalid", port=0), "no-such-host", "--host"),
        ):
            with pytest.raises(ConfigurationError, match=name) as caught:
                open_listener(options)
            assert option in (caught.value.hint or "")
