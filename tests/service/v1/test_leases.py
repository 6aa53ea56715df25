"""Leases over HTTP: taken, renewed, released, and gone when their time is over."""

from __future__ import annotations

import httpx

from tests.doubles.adb_server import eventually


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
