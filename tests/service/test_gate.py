"""Which requests the service accepts."""

from __future__ import annotations

import socket

import pytest

from pytest_clawperator.service.endpoints import Refused
from pytest_clawperator.service.gate import Gate, is_loopback, new_token

HERE = {"host": "127.0.0.1:3000"}


def refusal(gate: Gate, headers: dict[str, str], *, path: str = "/devices") -> str | None:
    """Return the code with which a request is refused; None if it passes."""
    try:
        gate.check("GET", path, headers)
    except Refused as refused:
        return str(refused.error["code"])
    return None


def test_only_names_and_addresses_of_this_machine_pass() -> None:
    """A page of another site may have its name lead here; allowed names pass, too."""
    for host in ("localhost:3000", "127.0.0.1", "[::1]:3000", "10.0.0.7:80", socket.gethostname()):
        assert refusal(Gate(), {"host": host}) is None, host
    for host in ("evil.example", "evil.example:3000", "", "127.0.0.1.evil.example"):
        assert refusal(Gate(), {"host": host}) == "HOST_NOT_ALLOWED", host
    assert refusal(Gate(hosts=frozenset({"lab.example"})), {"host": "LAB.example:1"}) is None


def test_a_page_of_another_site_is_refused() -> None:
    """With or without an Origin header; a link opens only the page, which has no data."""
    gate = Gate()
    link = {**HERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert refusal(gate, {**HERE, "origin": "http://evil.example"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "origin": "null"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "sec-fetch-site": "cross-site"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "origin": "http://127.0.0.1:3000"}) is None
    assert refusal(gate, link, path="/") is None
    assert refusal(gate, link, path="/v1/devices") == "ORIGIN_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "TOKEN_REQUIRED"),
        ("Bearer wrong", "TOKEN_WRONG"),
        ("Basic correct-horse", "TOKEN_WRONG"),
        ("Bearer correct-horse2", "TOKEN_WRONG"),
        ("Bearer é", "TOKEN_WRONG"),
        ("bearer  correct-horse", None),
        ("Bearer correct-horse", None),
    ],
)
def test_only_the_token_passes(header: str | None, code: str | None) -> None:
    """Except for the page that asks people for it."""
    gate = Gate("correct-horse")
    headers = HERE if header is None else {**HERE, "authorization": header}

    assert refusal(gate, headers) == code
    assert refusal(gate, HERE, path="/") is None
    assert "correct-horse" not in repr(gate)


def test_tokens_are_long_and_needed_beyond_this_machine() -> None:
    """They differ, and cannot be guessed."""
    assert new_token() != new_token()
    assert len(new_token()) >= 32
    assert all(is_loopback(host) for host in ("127.0.0.1", "localhost", "::1"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "192.168.1.5", "rack-1"))
