"""Clients that stop, hurry, lie or vanish: each costs nobody but itself."""

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
from tests.service.test_front import talk
from tests.service.test_server import NAP

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
