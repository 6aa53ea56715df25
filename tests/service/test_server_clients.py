"""The first bytes of a connection: slow, broken, huge and half-closed ones are survived."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from pytest_clawperator.service import server
from tests.doubles.adb_server import eventually
from tests.doubles.service import RunningService
from tests.service.conftest import NAP, execution

ABOUT = b"GET /v1 HTTP/1.1\r\nhost: 127.0.0.1\r\n"

POST = b"POST /execute HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"


@contextmanager
def connection_to(service: RunningService) -> Iterator[socket.socket]:
    """Connect to the service."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """Read a connection to its end."""
    answer = b""
    while data := connection.recv(65536):
        answer += data
    return answer


def talk(service: RunningService, sent: bytes, *, half_close: bool = False) -> bytes:
    """Send bytes to the service, and return its whole answer."""
    with connection_to(service) as connection:
        connection.sendall(sent)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        return rest_of(connection)


def reset(connection: socket.socket) -> None:
    """End a connection as a machine does that loses power and comes back."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


MALFORMED = [
    (b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: " + b"b" * 40_000, 431),
    (b"nonsense\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400),
    (b"GET /devices HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: x\r\n\r\n", 400),
    (b"POST /execute HTTP/1.0\r\ncontent-type: application/json\r\n\r\n", 421),
    # What two programs could read differently.
    (POST + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400),
    (POST + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffffff\r\n{}", 400),
    (POST + b"transfer-encoding: gzip\r\n\r\n{}", 400),
    (POST + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", 400),
    (POST + b"content-length: -2\r\n\r\n{}", 400),
    (POST + b"na\x00me: x\r\n\r\n", 400),
    (POST + b"name : x\r\n\r\n", 400),
]


def test_a_malformed_request_is_refused(service: RunningService, http: httpx.Client) -> None:
    """With a status, and the service goes on; a client may stop within a body or after it."""
    for sent, status in MALFORMED:
        answer = talk(service, sent, half_close=sent.startswith(b"POST"))
        expected = (400, 501) if status == 400 else (status,)
        assert int(answer[9:12]) in expected, (sent[:200], answer)
    talk(service, POST + b"content-length: 100\r\n\r\n{", half_close=True)
    talk(service, POST + b"content-length: 2\r\nconnection: close\r\n\r\n{}", half_close=True)

    assert http.get("/v1").status_code == 200


def test_what_never_comes_whole_is_ended(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without a request, with half of one, or with a slow body does not stay."""
    monkeypatch.setattr(server, "HEAD_WITHIN", 0.05)
    monkeypatch.setattr("pytest_clawperator.service.endpoints.PATIENCE", 0.05)

    assert talk(service, b"").startswith(b"HTTP/1.1 408 ")
    assert talk(service, b"GET /devices HT").startswith(b"HTTP/1.1 408 ")
    slow = talk(service, POST + b"content-length: 100\r\n\r\n{")
    assert slow.startswith(b"HTTP/1.1 408 ")
    assert json.loads(slow.partition(b"\r\n\r\n")[2])["error"]["code"] == "REQUEST_TIMEOUT"
    together = talk(service, ABOUT + b"\r\nGET /devices HT")
    with connection_to(service) as connection:
        connection.sendall(ABOUT + b"\r\n")
        apart = connection.recv(65536)
        connection.sendall(b"GET /devices HT")
        apart += rest_of(connection)
    for answers in (together, apart):
        assert answers.count(b"HTTP/1.1 200 ") == 1, answers
        assert answers.count(b"HTTP/1.1 408 ") == 1, answers


def test_a_body_that_is_too_large_is_refused(http: httpx.Client) -> None:
    """By its declared length, and by what comes."""
    declared = http.post("/execute", content=b"x" * 200_000)
    pieces = http.post(
        "/execute",
        content=(b"x" * 1000 for _ in range(200)),
        headers={"content-type": "application/json"},
    )

    for answer in (declared, pieces):
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"


def test_requests_in_one_packet_are_answered_in_their_order(service: RunningService) -> None:
    """A client that does not wait for answers gets all; an upgrade that is not offered is none."""
    last = b"GET /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    wish = b"connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n"

    answers = talk(service, (ABOUT + b"\r\n") * 3 + last)

    statuses = [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"200", b"404"]
    assert talk(service, ABOUT + wish, half_close=True).startswith(b"HTTP/1.1 200 ")


def test_the_head_of_a_stream_is_an_answer_that_ends(service: RunningService, serial: str) -> None:
    """The connection can be used again, and there is no listener."""
    running = service.service
    before = running.rack.events.listeners, running.watch.events.listeners
    for path in ("/events", "/v1/rack/events", f"/v1/devices/{serial}/log?follow=1"):
        asked = b"HEAD %b HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" % path.encode()
        answers = talk(service, asked + ABOUT + b"connection: close\r\n\r\n")
        assert answers.count(b"HTTP/1.1 200 ") == 2, answers
        assert b"pytest-clawperator" in answers
    assert (running.rack.events.listeners, running.watch.events.listeners) == before


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_a_client_that_goes_away_leaves_the_device_usable(
    service: RunningService, http: httpx.Client, serial: str, is_reset: bool
) -> None:
    """Its execution goes on to its end, and then comes the next one."""
    body = json.dumps({"execution": execution(NAP, command_id="gone"), "deviceId": serial})
    station = service.service.rack.station_of(serial)
    with connection_to(service) as connection:
        connection.sendall(POST + f"content-length: {len(body)}\r\n\r\n{body}".encode())
        assert eventually(lambda: station.running == "gone")
        if is_reset:
            reset(connection)

    assert eventually(lambda: station.running is None)
    again = http.post("/execute", json={"execution": execution(), "deviceId": serial})
    assert again.json()["ok"], again.text
    assert station.past[1].envelope is not None


@pytest.mark.parametrize("path", ["/events", "/v1/rack/events"])
def test_listeners_that_vanish_are_forgotten(service: RunningService, path: str) -> None:
    """Whether they close their connection or lose it, nothing of them stays."""
    running = service.service
    events = running.rack.events if path == "/events" else running.watch.events
    before = events.listeners
    with connection_to(service) as polite, connection_to(service) as rude:
        for connection in (polite, rude):
            connection.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        assert eventually(lambda: events.listeners == before + 2)
        reset(rude)

    assert eventually(lambda: events.listeners == before)


def test_a_listener_that_never_reads_keeps_no_client_waiting(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """Its answers pile up at most as far as its connection takes them."""
    events = service.service.rack.events
    before = events.listeners
    with connection_to(service) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert eventually(lambda: events.listeners > before)
        for number in range(20):
            snapshot = execution({"id": "s", "type": "snapshot_ui"}, command_id=f"n{number}")
            body = {"execution": snapshot, "deviceId": serial}
            assert http.post("/execute", json=body).json()["ok"]

    assert eventually(lambda: events.listeners == before)
