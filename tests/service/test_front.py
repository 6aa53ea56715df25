"""The first bytes of a connection: slow, broken, huge and half-closed ones are survived."""

from __future__ import annotations

import json
import socket

import httpx
import pytest

from pytest_clawperator.service import server
from tests.doubles.service import RunningService


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
