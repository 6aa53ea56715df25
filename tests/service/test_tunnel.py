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
def lease(http: httpx.Client, serial: str) -> Iterator[str]:
    """Lease the phone."""
    lease = http.post("/v1/leases", json={"serial": serial, "owner": "test"}).json()["lease"]
    yield lease
    http.delete(f"/v1/leases/{lease}")


def test_the_server_tells_of_its_devices_without_a_lease(
    service: RunningService, serial: str
) -> None:
    """What is harmless needs none."""
    server = ServiceAdb.at(service.url, token=None)

    assert (serial, "device") in server.devices()
    assert server.state(serial) == "device"
    assert "shell_v2" in server.features(serial)


def test_a_device_needs_its_own_lease(
    service: RunningService, simulator: Simulator, lease: str
) -> None:
    """Without one, and with that of another device, nothing is let through."""
    one, other = simulator.serials
    for server, serial in (
        (ServiceAdb.at(service.url, token=None), one),
        (ServiceAdb.at(service.url, token=None, lease=lease), other),
    ):
        with pytest.raises(TransportError, match="needs a lease"):
            server.open(serial, "exec:id")


@pytest.mark.parametrize("request_", ["reboot:", "root:", "tcpip:5555", "remount:", "usb:"])
def test_what_tests_do_not_do_is_not_offered(
    service: RunningService, serial: str, lease: str, request_: str
) -> None:
    """A device cannot be taken from the rack."""
    server = ServiceAdb.at(service.url, token=None, lease=lease)

    with pytest.raises(TransportError, match="not offered"):
        server.open(serial, request_)


@pytest.mark.parametrize("question", ["host:kill", "host:connect:10.0.0.1:5555", "host:tport:any"])
def test_the_adb_server_is_not_changed(service: RunningService, lease: str, question: str) -> None:
    """No client ends it, or connects it to other machines."""
    with pytest.raises(TransportError, match="not offered"):
        ServiceAdb.at(service.url, token=None, lease=lease).ask(question)


SMUGGLED = [
    "host-serial:{serial}:transport-any:get-state",
    "host-serial:{serial}:tport:any:features",
    "host-serial:{serial}:forward:localfilesystem:{file};tcp:1:get-state",
    "host-serial:{serial}\n:get-state",
    "host-serial:nobody:get-state",
]


@pytest.mark.parametrize("request_", SMUGGLED)
def test_no_request_hides_in_the_place_of_a_serial(
    service: RunningService, serial: str, tmp_path: Path, request_: str
) -> None:
    """Only a serial that adb lists may stand there; adb never sees anything else."""
    file = tmp_path / "kept"
    file.write_text("precious")
    with ServiceAdb.at(service.url, token=None)._connect(20) as connection:
        connection.sendall(as_request(request_.format(serial=serial, file=file)))

        answer = read_rest(connection, deadline=DEADLINE)

    assert answer.startswith(b"FAIL")
    assert b"not found" in answer
    assert file.read_text() == "precious"


@pytest.mark.parametrize("first", ["host:version", "host-serial:{serial}:get-state"])
def test_nothing_is_passed_on_after_a_request_to_the_server(
    service: RunningService, serial: str, first: str
) -> None:
    """A second request behind the first, in one packet or later, reaches nothing."""
    smuggled = as_request(f"host:transport:{serial}") + as_request("shell:echo smuggled")
    for pieces in ([smuggled], [b"", smuggled]):
        with ServiceAdb.at(service.url, token=None)._connect(20) as connection:
            connection.sendall(as_request(first.format(serial=serial)) + pieces[0])
            answer = connection.recv(4)
            with contextlib.suppress(ConnectionError):  # the answer may have ended it already
                for piece in pieces[1:]:
                    connection.sendall(piece)
                answer += read_rest(connection, deadline=DEADLINE)

        assert answer.startswith(b"OKAY")
        assert b"smuggled" not in answer


@pytest.mark.parametrize("length", [b" 00c", b"+00c", b"0_0c", b"0x0c"])
def test_a_length_is_four_hexadecimal_digits(service: RunningService, length: bytes) -> None:
    """What Python would also read as a number is no length."""
    with ServiceAdb.at(service.url, token=None)._connect(20) as connection:
        connection.sendall(length + b"host:version")

        assert read_rest(connection, deadline=DEADLINE).startswith(b"FAIL")


def as_request(text: str) -> bytes:
    """Return a request as it is sent."""
    return b"%04x%b" % (len(text.encode()), text.encode())


def test_a_leased_device_is_used_as_over_adb(
    service: RunningService, serial: str, lease: str
) -> None:
    """Its shell, its files and its log."""
    transport = AdbTransport(ServiceAdb.at(service.url, token=None, lease=lease), serial)
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


def test_a_tunnel_needs_the_token(simulator: Simulator) -> None:
    """It is behind the same gate as the rest."""
    with running_service(simulator, token="correct-horse") as service:
        with pytest.raises(AdbUnavailableError) as caught:
            ServiceAdb.at(service.url, token="wrong").devices()
        assert caught.value.code == "TOKEN_WRONG"
        assert ServiceAdb.at(service.url, token="correct-horse").devices()


def test_what_is_no_service_is_named() -> None:
    """Another server, or none, is told with what it said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ClawperatorError):
            ServiceAdb.at(url, token=None)._connect(0.05)
    with pytest.raises(AdbUnavailableError) as caught:
        ServiceAdb.at(url, token=None).devices()
    assert caught.value.code == ErrorCode.REMOTE_HOST_UNREACHABLE


def test_a_tunnel_that_asks_for_nothing_is_closed(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it belongs to a lease, which ends in its own time."""
    monkeypatch.setattr("pytest_clawperator.service.tunnel.ASKED_WITHIN", 0.01)

    with ServiceAdb.at(service.url, token=None)._connect(20) as connection:
        assert connection.recv(100) == b""


def test_garbage_in_a_tunnel_is_refused(service: RunningService) -> None:
    """The service goes on."""
    connection = ServiceAdb.at(service.url, token=None)._connect(20)
    with connection:
        connection.sendall(b"zzzz")
        assert connection.recv(100).startswith(b"FAIL")
