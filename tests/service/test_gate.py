"""Who may ask the service."""

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


@pytest.mark.parametrize(
    "host", ["localhost:3000", "127.0.0.1", "[::1]:3000", "10.0.0.7:80", socket.gethostname()]
)
def test_names_and_addresses_of_this_machine_pass(host: str) -> None:
    """Addresses cannot be made to lead elsewhere, and the machine knows its own name."""
    assert refusal(Gate(), {"host": host}) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:3000", "", "127.0.0.1.evil.example"]
)
def test_a_name_of_somebody_else_is_refused(host: str) -> None:
    """A page of another site may have its name lead here."""
    assert refusal(Gate(), {"host": host}) == "HOST_NOT_ALLOWED"
    assert refusal(Gate(hosts=frozenset({"evil.example"})), {"host": "EVIL.example:1"}) is None


def test_a_page_of_another_site_is_refused() -> None:
    """Whatever it asks for, with or without an Origin header."""
    gate = Gate()

    assert refusal(gate, {**HERE, "origin": "http://evil.example"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "origin": "null"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "sec-fetch-site": "cross-site"}) == "ORIGIN_NOT_ALLOWED"
    assert refusal(gate, {**HERE, "origin": "http://127.0.0.1:3000"}) is None


def test_a_link_from_another_site_opens_the_page() -> None:
    """Only the page itself: it has no data."""
    link = {**HERE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert refusal(Gate(), link, path="/") is None
    assert refusal(Gate(), link, path="/v1/devices") == "ORIGIN_NOT_ALLOWED"


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
def test_who_knows_the_token_passes(header: str | None, code: str | None) -> None:
    """Nobody else does, but for the page that asks people for it."""
    gate = Gate("correct-horse")
    headers = HERE if header is None else {**HERE, "authorization": header}

    assert refusal(gate, headers) == code
    assert refusal(gate, HERE, path="/") is None
    assert "correct-horse" not in repr(gate)


def test_tokens_differ_and_are_long() -> None:
    """Nobody can guess one."""
    assert new_token() != new_token()
    assert len(new_token()) >= 32


@pytest.mark.parametrize(
    ("host", "is_here"), [("127.0.0.1", True), ("localhost", True), ("::1", True),
                          ("0.0.0.0", False), ("192.168.1.5", False), ("rack-1", False)]
)  # fmt: skip
def test_what_only_this_machine_reaches_is_known(host: str, is_here: bool) -> None:
    """Beyond that a token is needed."""
    assert is_loopback(host) is is_here
