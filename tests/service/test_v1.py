"""The API under /v1: devices, leases, shell, files and settings."""

from __future__ import annotations

import httpx
import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import eventually
from tests.doubles.service import running_service
from tests.service.conftest import execution


def test_all_devices_are_described(http: httpx.Client, simulator: Simulator) -> None:
    """What each is, who has it, and what it does."""
    told = {one["serial"]: one for one in http.get("/v1/devices").json()["devices"]}

    for serial in simulator.serials:
        assert told[serial]["state"] == "device"
        assert told[serial]["info"]["manufacturer"] == "Google"
        assert told[serial]["info"]["operator_version"]
        assert told[serial]["holder"] is None


def test_the_properties_of_a_device_are_read(http: httpx.Client, serial: str) -> None:
    """All of them."""
    told = http.get(f"/v1/devices/{serial}/properties").json()["properties"]

    assert told["ro.product.manufacturer"] == "Google"


def test_a_picture_of_the_screen_is_shared(http: httpx.Client, serial: str) -> None:
    """Several who look at once get the same picture."""
    one, two = (http.get(f"/v1/devices/{serial}/screen.png") for _ in range(2))

    assert one.content.startswith(b"\x89PNG")
    assert one.headers["content-type"] == "image/png"
    assert one.content == two.content


def test_the_log_is_read_from_a_position(http: httpx.Client, serial: str) -> None:
    """An answer says where the next one begins."""
    first = http.get(f"/v1/devices/{serial}/log")
    end = first.headers["clawperator-log-end"]
    http.post(f"/v1/devices/{serial}/shell", json={"command": ["log", "-t", "here", "hi there"]})

    with http.stream("GET", f"/v1/devices/{serial}/log?since={end}&follow=1") as stream:
        line = next(line for line in stream.iter_lines() if "hi there" in line)

    assert "here" in line
    assert "hi there" not in first.text
    assert http.get(f"/v1/devices/{serial}/log?since=x").status_code == 400


def test_what_an_execution_left_is_fetched(http: httpx.Client, serial: str) -> None:
    """Its envelope, its screenshot and its log."""
    shot = {"id": "s", "type": "take_screenshot"}
    http.post("/execute", json={"execution": execution(shot, command_id="pic"), "deviceId": serial})
    base = f"/v1/devices/{serial}/executions"

    assert http.get(base).json()["executions"][0]["commandId"] == "pic"
    assert http.get(f"{base}/pic").json()["execution"]["envelope"]["status"] == "success"
    assert http.get(f"{base}/pic/screenshot.png").content.startswith(b"\x89PNG")
    assert "commandId=pic" in http.get(f"{base}/pic/log").text
    assert http.get(f"{base}/other").status_code == 404


def test_a_device_that_is_not_there_is_named(http: httpx.Client) -> None:
    """With those that are."""
    answer = http.get("/v1/devices/R58/properties")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "DEVICE_NOT_FOUND"
    assert answer.json()["error"]["details"]["connected"]


def test_a_lease_is_taken_renewed_and_released(http: httpx.Client, serial: str) -> None:
    """Its token is told to who took it, and to nobody else."""
    taken = http.post("/v1/leases", json={"serial": serial, "owner": "ada"}).json()
    listed = http.get("/v1/leases")
    renewed = http.post(f"/v1/leases/{taken['lease']}/renew", json={"busyMs": 10})
    released = http.delete(f"/v1/leases/{taken['lease']}")

    assert [lease["owner"] for lease in listed.json()["leases"]] == ["ada"]
    assert taken["lease"] not in listed.text
    assert (renewed.status_code, released.status_code) == (200, 200)
    assert http.get("/v1/leases").json()["leases"] == []
    assert http.post(f"/v1/leases/{taken['lease']}/renew").status_code == 423


def test_the_holder_alone_uses_the_device(http: httpx.Client, serial: str) -> None:
    """With the header; everybody else is told who has it."""
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "ada"}).json()["lease"]
    own = {"clawperator-lease": lease}
    body = {"deviceId": serial}

    mine = http.post("/snapshot", json=body, headers=own)
    others = http.post("/snapshot", json=body)

    http.delete(f"/v1/leases/{lease}")
    assert mine.status_code == 200
    assert others.status_code == 423
    assert "ada" in others.json()["error"]["message"]


def test_a_lease_ends_when_its_time_is_over(http: httpx.Client, serial: str) -> None:
    """A client that died keeps no device."""
    http.post("/v1/leases", json={"serial": serial, "owner": "ada", "ttlMs": 1000})

    assert eventually(lambda: http.get("/v1/leases").json()["leases"] == [])


def test_what_is_wrong_with_a_request_is_told(http: httpx.Client, serial: str) -> None:
    """Fields that are missing or out of their limits."""
    for body in ({}, {"serial": serial}, {"serial": serial, "owner": "x", "ttlMs": 1}):
        assert http.post("/v1/leases", json=body).status_code == 400
    assert http.post("/v1/leases", json={"serial": "none", "owner": "x"}).status_code == 404


def test_an_allowed_command_runs_as_its_words(http: httpx.Client, serial: str) -> None:
    """No word can bring another command with it."""
    words = ["echo", "a b", "; rm -rf /", "$(id)", "'"]

    told = http.post(f"/v1/devices/{serial}/shell", json={"command": words}).json()

    assert (told["stdout"], told["exitCode"]) == ("a b ; rm -rf / $(id) '\n", 0)


def test_a_command_that_is_not_allowed_is_refused(simulator: Simulator, serial: str) -> None:
    """Unless the service was started so."""
    body, path = {"command": ["id"]}, f"/v1/devices/{serial}/shell"
    with running_service(simulator) as service:
        answer = httpx.post(f"{service.url}{path}", json=body)
    with running_service(simulator, more_commands=("id",)) as service:
        allowed = httpx.post(f"{service.url}{path}", json=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "COMMAND_NOT_ALLOWED")
    assert allowed.status_code == 200


@pytest.mark.parametrize("command", [None, "id", [], [1], ["echo", "\0"]])
def test_a_command_is_a_list_of_words(http: httpx.Client, serial: str, command: object) -> None:
    """Anything else is refused."""
    answer = http.post(f"/v1/devices/{serial}/shell", json={"command": command})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_COMMAND")


def test_a_setting_is_made_and_read(http: httpx.Client, serial: str) -> None:
    """In its namespace."""
    path = f"/v1/devices/{serial}/settings/system/screen_brightness"

    assert http.put(path, json={"value": "77"}).json()["ok"]
    assert http.get(path).json()["value"] == "77"


@pytest.mark.parametrize(
    "place", ["other/name", "system/a;reboot", "system/--user", "global/$(id)"]
)
def test_a_setting_with_a_strange_name_is_refused(
    http: httpx.Client, serial: str, place: str
) -> None:
    """It never reaches the device's shell."""
    answer = http.get(f"/v1/devices/{serial}/settings/{place}")

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_SETTING")


def test_a_file_travels_both_ways(http: httpx.Client, serial: str) -> None:
    """As it is, whatever is in it."""
    content = bytes(range(256)) * 1000
    path = f"/v1/devices/{serial}/file?path=/sdcard/a%20b.bin"

    written = http.put(path, content=content)

    assert written.json() == {"ok": True, "path": "/sdcard/a b.bin", "bytes": len(content)}
    assert http.get(path).content == content
    assert http.get(f"/v1/devices/{serial}/file?path=relative").status_code == 400
    assert http.get(f"/v1/devices/{serial}/file?path=/sdcard/none").status_code == 404
