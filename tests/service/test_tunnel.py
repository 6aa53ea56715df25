"""The tunnel to adb: only with a lease, only to its device, only for what tests do."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    ErrorCode,
    LeaseError,
    TransportError,
)
from pytest_clawperator.remote.tunnel import ServiceAdb
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import read_rest
from tests.doubles.service import RunningService, running_service

DEADLINE = 1e9


@pytest.fixture
def adb(service: RunningService) -> ServiceAdb:
    """Return the tunnel without a lease."""
    return ServiceAdb.at(service.url, token=None)


@pytest.fixture
def leased(service: RunningService, http: httpx.Client, serial: str) -> Iterator[ServiceAdb]:
    """Return the tunnel with a lease of the phone."""
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "test"}).json()["lease"]
    yield ServiceAdb.at(service.url, token=None, lease=lease)
    http.delete(f"/v1/leases/{lease}")


def as_request(text: str) -> bytes:
    """Return a request as it is sent."""
    return b"%04x%b" % (len(text.encode()), text.encode())


def answer_to(adb: ServiceAdb, sent: bytes) -> bytes:
    """Send bytes through the tunnel, and return the whole answer."""
    with adb._connect(20) as connection:
        connection.sendall(sent)
        return read_rest(connection, deadline=DEADLINE)


def test_a_device_needs_its_own_lease(
    adb: ServiceAdb, leased: ServiceAdb, simulator: Simulator
) -> None:
    """Without one only the server answers; with that of another device nothing else either."""
    one, other = simulator.serials

    assert (one, "device") in adb.devices()
    assert adb.state(one) == "device"
    assert "shell_v2" in adb.features(one)
    for server, serial in ((adb, one), (leased, other)):
        with pytest.raises(TransportError, match="needs a lease"):
            server.open(serial, "exec:id")


def test_what_tests_do_not_do_is_not_offered(leased: ServiceAdb, serial: str) -> None:
    """No client takes a device from the rack, ends adb, or connects it to other machines."""
    for request in ("reboot:", "root:", "tcpip:5555", "remount:", "usb:"):
        with pytest.raises(TransportError, match="not offered"):
            leased.open(serial, request)
    for question in ("host:kill", "host:connect:10.0.0.1:5555", "host:tport:any"):
        with pytest.raises(TransportError, match="not offered"):
            leased.ask(question)


SMUGGLED = [
    "host-serial:{serial}:transport-any:get-state",
    "host-serial:{serial}:tport:any:features",
    "host-serial:{serial}:forward:localfilesystem:{file};tcp:1:get-state",
    "host-serial:{serial}\n:get-state",
    "host-serial:nobody:get-state",
]


@pytest.mark.parametrize("request_", SMUGGLED)
def test_no_request_hides_in_the_place_of_a_serial(
    adb: ServiceAdb, serial: str, tmp_path: Path, request_: str
) -> None:
    """Only a serial that adb lists may stand there; adb never sees anything else."""
    file = tmp_path / "kept"
    file.write_text("precious")

    answer = answer_to(adb, as_request(request_.format(serial=serial, file=file)))

    assert answer.startswith(b"FAIL")
    assert b"not found" in answer
    assert file.read_text() == "precious"


@pytest.mark.parametrize("first", ["host:version", "host-serial:{serial}:get-state"])
def test_nothing_is_passed_on_after_a_request_to_the_server(
    adb: ServiceAdb, serial: str, first: str
) -> None:
    """A second request behind the first, in one packet or later, reaches nothing."""
    smuggled = as_request(f"host:transport:{serial}") + as_request("shell:echo smuggled")
    for pieces in ([smuggled], [b"", smuggled]):
        with adb._connect(20) as connection:
            connection.sendall(as_request(first.format(serial=serial)) + pieces[0])
            answer = connection.recv(4)
            with contextlib.suppress(ConnectionError):  # the answer may have ended it already
                for piece in pieces[1:]:
                    connection.sendall(piece)
                answer += read_rest(connection, deadline=DEADLINE)

        assert answer.startswith(b"OKAY")
        assert b"smuggled" not in answer


def test_garbage_in_a_tunnel_is_refused(adb: ServiceAdb, monkeypatch: pytest.MonkeyPatch) -> None:
    """A length is four hexadecimal digits; a tunnel that asks for nothing is closed."""
    for length in (b" 00c", b"+00c", b"0_0c", b"0x0c", b"zzzz"):
        assert answer_to(adb, length + b"host:version").startswith(b"FAIL"), length
    monkeypatch.setattr("pytest_clawperator.service.tunnel.ASKED_WITHIN", 0.01)
    assert answer_to(adb, b"") == b""


def test_a_leased_device_is_used_as_over_adb(leased: ServiceAdb, serial: str) -> None:
    """Its shell, its files and its log."""
    transport = AdbTransport(leased, serial)
    try:
        transport.push(b"\x00\xff" * 200_000, "/sdcard/big.bin")

        assert transport.shell("echo out; echo err >&2; exit 3").exit_code == 3
        assert transport.pull("/sdcard/big.bin") == b"\x00\xff" * 200_000
        start = transport.log.mark()
        transport.shell("log -t here 'a line'")
        end = transport.log.wait(start, DEADLINE)
        assert any(b"a line" in line for line in transport.log.read(start, end))
    finally:
        transport.close()


def test_a_tunnel_ends_with_its_lease(
    service: RunningService, http: httpx.Client, serial: str
) -> None:
    """What is released is used no longer, and new tunnels are refused."""
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "x"}).json()["lease"]
    server = ServiceAdb.at(service.url, token=None, lease=lease)
    with server.open(serial, "exec:cat") as connection:
        http.delete(f"/v1/leases/{lease}")

        assert read_rest(connection, deadline=DEADLINE) == b""
    with pytest.raises(LeaseError) as caught:
        server.open(serial, "exec:id")
    assert caught.value.code == ErrorCode.DEVICE_LEASED


def test_a_tunnel_needs_a_service_and_its_token(simulator: Simulator) -> None:
    """It is behind the same gate as the rest; another server, or none, is named."""
    with running_service(simulator, token="correct-horse") as service:
        with pytest.raises(AdbUnavailableError) as caught:
            ServiceAdb.at(service.url, token="wrong").devices()
        assert caught.value.code == "TOKEN_WRONG"
        assert ServiceAdb.at(service.url, token="correct-horse").devices()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ClawperatorError):
            ServiceAdb.at(url, token=None)._connect(0.05)
    with pytest.raises(AdbUnavailableError) as caught:
        ServiceAdb.at(url, token=None).devices()
    assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE
