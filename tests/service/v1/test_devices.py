"""What the service tells of devices: what they are, their screens, logs and executions."""

from __future__ import annotations

import httpx

from pytest_clawperator.simulator import Simulator
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
