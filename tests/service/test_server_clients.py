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
from tests.service.conftest import execution
from tests.service.test_server import NAP


def talk(url: str, *pieces: bytes, half_close: bool = False) -> bytes:
    """Send bytes to the service, and return its whole answer."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        for piece in pieces:
            connection.sendall(piece)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(65536):
            answer += data
        return answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: " + b"b" * 40_000, 431),
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400),
        (b"GET /devices HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: x\r\n\r\n", 400),
        (b"POST /execute HTTP/1.0\r\ncontent-type: application/json\r\n\r\n", 421),
    ],
    ids=["long-head", "nonsense", "tls", "bad-length", "no-host"],
)
def test_a_malformed_request_is_refused(
    service: RunningService, http: httpx.Client, sent: bytes, status: int
) -> None:
    """With a status, and the service goes on."""
    answer = talk(service.url, sent, half_close=status == 421)

    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert http.get("/v1").status_code == 200


def test_a_request_that_never_comes_whole_is_ended(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that says nothing, or half a request, does not stay."""
    monkeypatch.setattr(server, "HEAD_WITHIN", 0.05)

    assert talk(service.url).startswith(b"HTTP/1.1 408 ")
    assert talk(service.url, b"GET /devices HT").startswith(b"HTTP/1.1 408 ")


def test_a_half_closed_request_is_survived(service: RunningService, http: httpx.Client) -> None:
    """A client that stops within the body, or after it, harms nobody."""
    head = b"POST /execute HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"

    talk(service.url, head + b"content-length: 100\r\n\r\n{", half_close=True)
    talk(service.url, head + b"content-length: 2\r\nconnection: close\r\n\r\n{}", half_close=True)

    assert http.get("/v1").status_code == 200


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


def test_a_slow_body_is_not_waited_for(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next piece must come in time."""
    monkeypatch.setattr("pytest_clawperator.service.endpoints.PATIENCE", 0.05)
    head = b"POST /execute HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"

    answer = talk(service.url, head + b"content-length: 100\r\n\r\n{")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "REQUEST_TIMEOUT"


ABOUT = b"GET /v1 HTTP/1.1\r\nhost: 127.0.0.1\r\n"

POST = b"POST /execute HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"


@contextmanager
def connection_to(service: RunningService) -> Iterator[socket.socket]:
    """Connect to the service."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        yield connection


def reset(connection: socket.socket) -> None:
    """End a connection as a machine does that loses power and comes back."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_later_request_that_never_comes_whole_is_ended(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that was kept does not stay with half a request either."""
    monkeypatch.setattr(server, "HEAD_WITHIN", 0.05)

    together = talk(service.url, ABOUT + b"\r\nGET /devices HT")
    with connection_to(service) as connection:
        connection.sendall(ABOUT + b"\r\n")
        apart = connection.recv(65536)
        connection.sendall(b"GET /devices HT")
        while data := connection.recv(65536):
            apart += data

    for answers in (together, apart):
        assert answers.count(b"HTTP/1.1 200 ") == 1, answers
        assert answers.count(b"HTTP/1.1 408 ") == 1, answers


def test_requests_in_one_packet_are_answered_in_their_order(service: RunningService) -> None:
    """A client that does not wait for answers gets all of them."""
    last = b"GET /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"

    answers = talk(service.url, (ABOUT + b"\r\n") * 3 + last)

    statuses = [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"200", b"200", b"404"]


@pytest.mark.parametrize(
    "rest",
    [
        b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffffff\r\n{}",
        b"transfer-encoding: gzip\r\n\r\n{}",
        b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        b"content-length: -2\r\n\r\n{}",
        b"na\x00me: x\r\n\r\n",
        b"name : x\r\n\r\n",
    ],
    ids=["chunk", "huge-chunk", "coding", "two-lengths", "negative", "nul", "space"],
)
def test_a_body_or_header_that_lies_is_refused(
    service: RunningService, http: httpx.Client, rest: bytes
) -> None:
    """What two programs could read differently is read by none."""
    answer = talk(service.url, POST + rest, half_close=True)

    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 ")), answer
    assert http.get("/v1").status_code == 200


@pytest.mark.parametrize("path", ["/events", "/v1/rack/events", "/v1/devices/SERIAL/log?follow=1"])
def test_who_asks_for_the_head_of_a_stream_gets_that(
    service: RunningService, serial: str, path: str
) -> None:
    """The answer ends, the connection can be used again, and nobody listens."""
    asked = b"HEAD %b HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" % path.replace("SERIAL", serial).encode()
    last = ABOUT + b"connection: close\r\n\r\n"

    answers = talk(service.url, asked + last)

    assert answers.count(b"HTTP/1.1 200 ") == 2, answers
    assert b"pytest-clawperator" in answers
    rack = service.service.rack
    assert (rack.events.listeners, service.service.watch.events.listeners) == (0, 0)


def test_an_upgrade_that_is_not_offered_is_an_ordinary_request(service: RunningService) -> None:
    """Who asks for a web socket gets the answer to the request without it."""
    wish = b"connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n"

    answer = talk(service.url, ABOUT + wish, half_close=True)

    assert answer.startswith(b"HTTP/1.1 200 "), answer


def test_a_client_whose_machine_fails_leaves_the_device_usable(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """A connection that is reset within an execution does not end the execution."""
    body = json.dumps({"execution": execution(NAP, command_id="lost"), "deviceId": serial})
    station = service.service.rack.station_of(serial)
    with connection_to(service) as connection:
        connection.sendall(POST + f"content-length: {len(body)}\r\n\r\n{body}".encode())
        assert eventually(lambda: station.running == "lost")
        reset(connection)

    assert eventually(lambda: station.running is None)
    again = http.post("/execute", json={"execution": execution(), "deviceId": serial})
    assert again.json()["ok"], again.text


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


def test_a_listener_that_never_reads_keeps_nobody_waiting(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """Its answers pile up at most as far as its connection takes them."""
    events = service.service.rack.events
    snapshot = {"id": "s", "type": "snapshot_ui"}
    with connection_to(service) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert eventually(lambda: events.listeners > 0)
        for number in range(20):
            body = {"execution": execution(snapshot, command_id=f"n{number}"), "deviceId": serial}
            assert http.post("/execute", json=body).json()["ok"]

    assert eventually(lambda: events.listeners == 0)
