"""The running service: executions, events, leases, its end, and who may reach it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

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
from tests.service.conftest import execution

NAP = {"id": "nap", "type": "sleep", "params": {"durationMs": 400}}


def test_both_paths_of_a_snapshot_answer(http: httpx.Client, serial: str) -> None:
    """The documented one, and that of the newer program."""
    for path in ("/snapshot", "/observe/snapshot"):
        answer = http.post(path, json={"deviceId": serial}).json()
        assert answer["ok"], answer
        assert answer["envelope"]["stepResults"][0]["data"]["text"].startswith("<")


@pytest.mark.parametrize("path", ["/devices/", "/v1/devices/"])
def test_a_slash_at_the_end_changes_nothing(http: httpx.Client, path: str) -> None:
    """The published program allows it, too."""
    assert http.get(path).status_code == 200


def test_what_to_do_is_told_in_the_words_of_the_service(simulator: Simulator, serial: str) -> None:
    """Clients of any language are not told what to write in Python."""
    body = {"execution": execution(), "deviceId": serial, "operatorPackage": "com.example.absent"}
    with running_service(simulator, wording=for_command_line) as service:
        answer = httpx.post(f"{service.url}/execute", json=body, trust_env=False).json()
        emulator = httpx.delete(f"{service.url}/android/emulators/ghost", trust_env=False).json()

    assert "clawperator-py operator setup" in answer["error"]["hint"]
    for told in (answer, emulator):
        assert "(" not in told["error"]["hint"], told


def test_the_operator_of_the_service_is_that_of_requests_without_one(
    simulator: Simulator, serial: str
) -> None:
    """A request may name another."""
    asked = {"execution": execution(), "deviceId": serial}
    own = {**asked, "operatorPackage": "com.clawperator.operator"}
    with running_service(simulator, operator_package="com.example.absent") as service:
        answers = [
            httpx.post(f"{service.url}/execute", json=body, trust_env=False).json()
            for body in (asked, own)
        ]
        told = httpx.get(f"{service.url}/v1/devices/{serial}", trust_env=False).json()

    assert answers[0]["error"]["code"] == "OPERATOR_NOT_INSTALLED"
    assert answers[1]["ok"], answers[1]
    assert told["device"]["info"]["operator_package"] == "com.example.absent"


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
        told = http.get(f"/v1/devices/{serial}").json()["device"]

    assert [answer.status_code for answer in answers] == [423] * 5
    assert all("run nightly" in answer.json()["error"]["message"] for answer in answers)
    assert "run nightly" in told["holder"]


def test_a_second_execution_is_told_of_the_first(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """423, unless it is the same one again: that gets the answer of the first."""
    # Long enough that a busy machine asks while it runs.
    long_nap = {**NAP, "params": {"durationMs": 40_000}}
    sent = {**execution(long_nap, command_id="first"), "timeoutMs": 120_000}
    first = {"execution": sent, "deviceId": serial}
    answers: list[httpx.Response] = []
    station = service.service.rack.station_of(serial)
    again = [threading.Thread(target=_post, args=(service.url, first, answers)) for _ in range(2)]
    for thread in again:
        thread.start()
    assert eventually(lambda: station.running == "first")

    other = http.post("/execute", json={"execution": execution(), "deviceId": serial})

    for thread in again:
        thread.join()
    assert other.status_code == 423
    assert other.json()["error"]["details"]["running"] == "first"
    assert [answer.json()["envelope"]["commandId"] for answer in answers] == ["first", "first"]


def test_an_execution_that_is_sent_again_is_told_once(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """It ran once, so listeners hear of it once."""
    long_nap = {**NAP, "params": {"durationMs": 9000}}
    twin = {"execution": execution(long_nap, command_id="twin"), "deviceId": serial}
    answers: list[httpx.Response] = []
    station = service.service.rack.station_of(serial)
    with http.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: heartbeat"
        again = [threading.Thread(target=_post, args=(service.url, twin, answers)) for _ in "12"]
        for thread in again:
            thread.start()
        for thread in again:
            thread.join()
        last: dict[str, object] = {"execution": execution(command_id="last"), "deviceId": serial}
        _post(service.url, last, answers)
        heard = _until(lines, f'data: {{"deviceId":"{serial}","envelope":{{"commandId":"last"')

    assert [past.execution.command_id for past in station.past[:2]] == ["last", "twin"]
    assert len(answers) == 3
    assert heard.count("event: clawperator:result") == 2
    assert heard.count("event: clawperator:execution") == 1


def test_a_client_that_goes_away_leaves_the_device_usable(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """Its execution goes on to its end, and then comes the next one."""
    body = json.dumps({"execution": execution(NAP, command_id="gone"), "deviceId": serial})
    host, port = service.url.removeprefix("http://").split(":")
    station = service.service.rack.station_of(serial)
    with socket.create_connection((host, int(port)), 20) as connection:
        head = "POST /execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
        assert eventually(lambda: station.running == "gone")

    assert eventually(lambda: station.running is None)
    answer = http.post("/execute", json={"execution": execution(), "deviceId": serial})
    assert answer.json()["ok"], answer.text
    assert station.past[1].envelope is not None


def test_events_are_heard_and_continued(service: RunningService, serial: str) -> None:
    """Over a real connection, and after it broke."""
    with httpx.Client(base_url=service.url, trust_env=False, timeout=30) as http:
        with http.stream("GET", "/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: heartbeat"
            body = {"execution": execution(), "deviceId": serial}
            assert httpx.post(f"{service.url}/execute", json=body).json()["ok"]
            seen = _until(lines, "id: ")
        last = seen[-1].removeprefix("id: ")
        with http.stream("GET", "/events", headers={"last-event-id": last}) as stream:
            rest = _until(stream.iter_lines(), "id: ")

    assert "event: clawperator:result" in seen
    assert "event: clawperator:execution" in rest


def test_the_end_lets_a_running_execution_end(simulator: Simulator, serial: str) -> None:
    """Streams are ended at once, the execution gets its answer."""
    answers: list[httpx.Response] = []
    with running_service(simulator) as service:
        body = {"execution": execution(NAP, command_id="last"), "deviceId": serial}
        posting = threading.Thread(target=_post, args=(service.url, body, answers))
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
    """Each path answers 401 without it."""
    with (
        running_service(simulator, token="correct-horse") as service,
        httpx.Client(base_url=service.url, trust_env=False) as http,
    ):
        paths = [one.path for one in service.service.endpoints if one.method == "GET"]
        codes = {path: http.get(path).status_code for path in paths}
        allowed = http.get("/devices", headers={"authorization": "Bearer correct-horse"})

    assert {codes.pop(path) for path in OPEN_PATHS} == {200}
    assert set(codes.values()) == {401}
    assert allowed.status_code == 200


def test_clients_elsewhere_write_into_one_folder_only(
    simulator: Simulator, serial: str, tmp_path: Path
) -> None:
    """A screenshot goes to the folder for them, or nowhere."""
    inside, outside = tmp_path / "shots" / "a.png", tmp_path / "b.png"
    inside.parent.mkdir()
    with running_service(simulator, folder=inside.parent) as service:
        paths = (inside, outside, inside.parent / ".." / "b.png")
        answers = [
            httpx.post(f"{service.url}/screenshot", json={"deviceId": serial, "path": str(path)})
            for path in paths
        ]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert (inside.exists(), outside.exists()) == (True, False)


def test_without_a_folder_clients_elsewhere_write_into_the_default_one(
    simulator: Simulator, serial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where other machines can reach the service, the documented default folder is the limit."""
    monkeypatch.chdir(tmp_path)
    inside, outside = tmp_path / "clawperator-screenshots" / "a.png", tmp_path / "b.png"
    inside.parent.mkdir()
    with running_service(simulator, host="0.0.0.0") as service:
        answers = [
            httpx.post(f"{service.url}/screenshot", json={"deviceId": serial, "path": str(path)})
            for path in (inside, outside)
        ]

    assert [answer.status_code for answer in answers] == [200, 403]
    assert (inside.exists(), outside.exists()) == (True, False)


def test_a_port_that_is_taken_is_named() -> None:
    """The error says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=str(port)) as caught:
            open_listener(ServiceOptions(port=port))

    assert "--port" in (caught.value.hint or "")


@pytest.mark.parametrize("host", ["203.0.113.9", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_named(host: str) -> None:
    """The error is about the address, and not about the port."""
    with pytest.raises(ConfigurationError, match=host) as caught:
        open_listener(ServiceOptions(host=host, port=0))

    assert "--host" in (caught.value.hint or "")


def _post(url: str, body: dict[str, object], answers: list[httpx.Response]) -> None:
    answers.append(httpx.post(f"{url}/execute", json=body, trust_env=False, timeout=30))


def _until(lines: Iterator[str], start: str) -> list[str]:
    """Return the lines up to one that begins so."""
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if line.startswith(start):
            break
    return seen
