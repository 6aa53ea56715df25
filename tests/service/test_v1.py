"""The API under /v1: devices, leases, shell, files and settings."""

from __future__ import annotations

import httpx
import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import eventually
from tests.doubles.service import running_service
from tests.service.conftest import execution


def error_of(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of an answer that is an error."""
    return answer.status_code, answer.json()["error"]["code"]


def test_devices_are_described(http: httpx.Client, simulator: Simulator) -> None:
    """What each is and who has it, with all properties; a missing one is named."""
    found = {one["serial"]: one for one in http.get("/v1/devices").json()["devices"]}
    for serial in simulator.serials:
        assert found[serial]["state"] == "device"
        assert found[serial]["info"]["manufacturer"] == "Google"
        assert found[serial]["info"]["operator_version"]
        assert found[serial]["holder"] is None
    properties = http.get(f"/v1/devices/{simulator.serials[0]}/properties").json()["properties"]
    assert properties["ro.product.manufacturer"] == "Google"

    missing = http.get("/v1/devices/R58/properties")
    assert error_of(missing) == (404, "DEVICE_NOT_FOUND")
    assert missing.json()["error"]["details"]["connected"]


def test_a_picture_of_the_screen_is_shared(http: httpx.Client, serial: str) -> None:
    """Several clients that ask together get the same picture."""
    one, two = (http.get(f"/v1/devices/{serial}/screen.png") for _ in range(2))

    assert one.content.startswith(b"\x89PNG")
    assert one.headers["content-type"] == "image/png"
    assert one.content == two.content


def test_the_log_is_read_from_a_position(http: httpx.Client, serial: str) -> None:
    """An answer states where the next one begins."""
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


def test_a_lease_is_taken_renewed_and_released(http: httpx.Client, serial: str) -> None:
    """Only its holder gets the token and uses the device; others get the holder's name."""
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "ada"}).json()["lease"]
    listed = http.get("/v1/leases")
    body = {"deviceId": serial}
    own = http.post("/snapshot", json=body, headers={"clawperator-lease": lease})
    others = http.post("/snapshot", json=body)
    renewed = http.post(f"/v1/leases/{lease}/renew", json={"busyMs": 10})
    released = http.delete(f"/v1/leases/{lease}")

    assert [lease["owner"] for lease in listed.json()["leases"]] == ["ada"]
    assert lease not in listed.text
    assert (own.status_code, others.status_code) == (200, 423)
    assert "ada" in others.json()["error"]["message"]
    assert (renewed.status_code, released.status_code) == (200, 200)
    assert http.get("/v1/leases").json()["leases"] == []
    assert http.post(f"/v1/leases/{lease}/renew").status_code == 423
    for wrong in ({}, {"serial": serial}, {"serial": serial, "owner": "x", "ttlMs": 1}):
        assert http.post("/v1/leases", json=wrong).status_code == 400
    assert http.post("/v1/leases", json={"serial": "none", "owner": "x"}).status_code == 404


def test_a_lease_ends_when_its_time_is_over(http: httpx.Client, serial: str) -> None:
    """A client that died keeps no device."""
    http.post("/v1/leases", json={"serial": serial, "owner": "ada", "ttlMs": 1000})

    assert eventually(lambda: http.get("/v1/leases").json()["leases"] == [])


def test_an_allowed_command_runs_as_its_words(
    http: httpx.Client, simulator: Simulator, serial: str
) -> None:
    """No word can bring another command with it; others run only if the service allows them."""
    path = f"/v1/devices/{serial}/shell"
    words = ["echo", "a b", "; rm -rf /", "$(id)", "'"]

    done = http.post(path, json={"command": words}).json()

    assert (done["stdout"], done["exitCode"]) == ("a b ; rm -rf / $(id) '\n", 0)
    assert error_of(http.post(path, json={"command": ["id"]})) == (403, "COMMAND_NOT_ALLOWED")
    for command in (None, "id", [], [1], ["echo", "\0"]):
        assert error_of(http.post(path, json={"command": command})) == (400, "INVALID_COMMAND")
    with running_service(simulator, more_commands=("id",)) as service:
        allowed = httpx.post(f"{service.url}{path}", json={"command": ["id"]})
    assert allowed.status_code == 200


def test_a_setting_is_made_and_read(http: httpx.Client, serial: str) -> None:
    """In its namespace; a strange name never reaches the device's shell."""
    base = f"/v1/devices/{serial}/settings"
    path = f"{base}/system/screen_brightness"

    assert http.put(path, json={"value": "77"}).json()["ok"]
    assert http.get(path).json()["value"] == "77"
    for place in ("other/name", "system/a;reboot", "system/--user", "global/$(id)"):
        assert error_of(http.get(f"{base}/{place}")) == (400, "INVALID_SETTING")


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 1000])
def test_a_file_travels_both_ways(http: httpx.Client, serial: str, content: bytes) -> None:
    """As it is, whatever is in it."""
    path = f"/v1/devices/{serial}/file?path=/sdcard/a%20b.bin"

    written = http.put(path, content=content)

    assert written.json() == {"ok": True, "path": "/sdcard/a b.bin", "bytes": len(content)}
    assert http.get(path).content == content
    assert http.get(f"/v1/devices/{serial}/file?path=relative").status_code == 400
    assert http.get(f"/v1/devices/{serial}/file?path=/sdcard/none").status_code == 404
