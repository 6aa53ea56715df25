"""Commands, settings and files of a device over HTTP."""

from __future__ import annotations

import httpx
import pytest

from pytest_clawperator.simulator import Simulator
from tests.doubles.service import running_service


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
