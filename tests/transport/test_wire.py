"""The adb server's protocol: whole requests, answers in any pieces, refusals as our errors."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.wire import (
    AGAIN_WITHIN,
    ANSWER_WITHIN,
    MAX_REQUEST,
    AdbServer,
    Liveness,
)
from tests.doubles.adb_server import DEADLINE, SERIAL, Answer, Conversation, FakeAdb, block, failure
from tests.doubles.clock import FakeTime
from tests.phone_output import ROWS


def in_pieces(data: bytes) -> Answer:
    """Answer byte by byte, so that the client's reads come back short."""

    def answer(conversation: Conversation) -> None:
        for value in data:
            conversation.send(bytes([value]))
            time.sleep(0.0005)  # else the network joins them again
        conversation.close()

    return answer


def dead_address() -> AdbServer:
    """Return an address at which nothing listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return AdbServer(*unused.getsockname())


def test_a_service_is_opened_on_the_chosen_device() -> None:
    """The device is chosen first, then the service; what follows is the service's."""
    with FakeAdb() as adb:
        with adb.server.open(SERIAL, "exec:cat") as connection:
            conversation = adb.next("exec:cat")
            conversation.send(b"hello")
            said = connection.recv(5)

        assert said == b"hello"
        assert adb.requests == [f"host:transport:{SERIAL}", "exec:cat"]


def test_answers_may_come_in_any_pieces() -> None:
    """An answer that trickles in byte by byte is the same answer."""
    long = "x" * 3000
    with FakeAdb({"host:version": in_pieces(block("0029")), "host:long": block(long)}) as adb:
        assert adb.server.version() == 41
        assert adb.server.ask("host:long") == long.encode()


REFUSALS: list[tuple[str, type[errors.ClawperatorError], ErrorCode]] = [
    ("device 'PH1' not found", errors.DeviceNotFoundError, ErrorCode.DEVICE_NOT_FOUND),
    ("no devices/emulators found", errors.DeviceNotFoundError, ErrorCode.DEVICE_NOT_FOUND),
    ("device offline", errors.DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
    ("device still connecting", errors.DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
    (
        "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set",
        errors.DeviceUnavailableError,
        ErrorCode.DEVICE_UNAUTHORIZED,
    ),
    ("device still authorizing", errors.DeviceUnavailableError, ErrorCode.DEVICE_UNAUTHORIZED),
    (
        "insufficient permissions for device: no permissions; see [http://x]",
        errors.DeviceUnavailableError,
        ErrorCode.ADB_NO_USB_PERMISSIONS,
    ),
    ("closed", errors.TransportError, ErrorCode.DEVICE_SHELL_UNAVAILABLE),
    ("", errors.TransportError, ErrorCode.DEVICE_SHELL_UNAVAILABLE),
]


def test_each_refusal_has_its_error() -> None:
    """It names the device, its state and what to do; a refused service is not a missing device."""
    with FakeAdb({"nonsense:": failure("closed")}) as adb:
        with pytest.raises(errors.TransportError, match="adb refused `nonsense:`: closed"):
            adb.server.open(SERIAL, "nonsense:")
        for reason, kind, code in REFUSALS:
            adb.answers["host:transport:"] = failure(reason)
            with pytest.raises(kind) as caught:
                adb.server.open(SERIAL, "exec:ls")

            assert caught.value.code == code
            assert caught.value.serial == SERIAL
            assert caught.value.hint
            assert reason.split("\n")[0] in caught.value.message
            if reason.startswith("device unauthorized"):
                assert "Accept the dialog" in caught.value.hint


def test_a_server_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    """A refused connection, an unknown host and a missing socket have the same error."""
    for server, cause in (
        (dead_address(), ConnectionRefusedError),
        (AdbServer("no such host", 5037), OSError),
        (AdbServer(path=str(tmp_path / "nothing")), OSError),
    ):
        with pytest.raises(errors.AdbUnavailableError) as caught:
            server.version()

        assert caught.value.code == ErrorCode.ADB_SERVER_FAILED
        assert str(server) in caught.value.message
        assert isinstance(caught.value.__cause__, cause)


def test_another_program_or_a_broken_connection_is_reported() -> None:
    """However far an answer got, its sudden end is our error and not a strange one."""
    with FakeAdb() as adb:
        for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", block("nonsense")):
            adb.answers["host:version"] = answer
            with pytest.raises(errors.AdbUnavailableError, match="not an adb server"):
                adb.server.version()
        for answer in (b"", b"OK", b"OKAY", b"OKAY00", b"OKAY0004ab", b"OKAYzzzz"):
            adb.answers["host:x"] = answer
            with pytest.raises(errors.TransportError, match="broke") as caught:
                adb.server.ask("host:x")
            assert caught.value.code == ErrorCode.ADB_SERVER_FAILED


@pytest.mark.parametrize("begun", [b"", b"OK", b"OKAY0010abc"])
def test_silence_ends_at_the_deadline(begun: bytes) -> None:
    """A server that stops in the middle is given up, and the connection closed."""
    said = []

    def stop_talking(conversation: Conversation) -> None:
        conversation.send(begun)
        said.append(conversation.wait_for_close())

    with (
        FakeAdb({"host:x": stop_talking}) as adb,
        pytest.raises(errors.TransportTimeoutError) as caught,
    ):
        adb.server.ask("host:x", timeout=0.05)

    assert caught.value.code == ErrorCode.TRANSPORT_TIMEOUT
    assert said == [b""]


def test_the_deadline_is_for_the_whole_answer() -> None:
    """A server that sends a byte now and then does not win more time with each."""

    def trickle(conversation: Conversation) -> None:
        conversation.send(b"OKAY0fff")
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            conversation.send(b"x")
            time.sleep(0.01)  # the peer that never ends: the client gives up, not this

    with FakeAdb({"host:x": trickle}) as adb, pytest.raises(errors.TransportTimeoutError):
        adb.server.ask("host:x", timeout=0.1)


def test_a_request_that_does_not_fit_is_not_sent() -> None:
    """Four hexadecimal digits hold no greater length, so the request is refused here."""
    fits = "x" * MAX_REQUEST
    with FakeAdb({fits: block("taken")}) as adb:
        answer = adb.server.ask(fits)
        with pytest.raises(errors.PayloadTooLargeError) as caught:
            adb.server.ask(fits + "x")

        assert answer == b"taken"
        assert adb.requests == [fits]
        assert str(MAX_REQUEST + 1) in caught.value.message


def test_devices_are_listed_with_their_states() -> None:
    """The list is read with every kind of row that adb writes; it may be empty."""
    rows = ROWS["host:devices"]
    with FakeAdb({"host:devices": block("".join(f"{row.printed}\n" for row in rows))}) as adb:
        assert adb.server.devices() == [row.meaning for row in rows]
        adb.answers["host:devices"] = block("")
        assert adb.server.devices() == []


def test_an_old_server_has_no_features() -> None:
    """The unknown question is forgiven, not the unknown device."""
    features = f"host-serial:{SERIAL}:features"
    with FakeAdb({features: failure("unknown host service")}) as adb:
        assert adb.server.features(SERIAL) == frozenset()
        adb.answers[features] = failure(f"device '{SERIAL}' not found")
        with pytest.raises(errors.DeviceNotFoundError):
            adb.server.features(SERIAL)


@pytest.mark.skipif(os.name == "nt", reason="by design: Unix sockets")
def test_a_server_behind_a_unix_socket(tmp_path: Path) -> None:
    """The server may listen on a path instead of a port."""
    path = str(tmp_path / "adb")
    with FakeAdb({"host:version": block("0028")}, path=path) as adb:
        version = adb.server.version()

    assert version == 40
    assert str(adb.server) == path


class Device:
    """A device that answers immediately, or not at all."""

    def __init__(self) -> None:
        self.time = FakeTime()
        self.is_frozen = False
        self.asked: list[float] = []
        self.liveness = Liveness(self.ask, serial="PH1", clock=lambda: self.time.now)

    def ask(self, seconds: float) -> None:
        """Answer within so many seconds, or raise."""
        self.asked.append(seconds)
        if self.is_frozen:
            self.time.pass_by(seconds)
            raise errors.TransportTimeoutError("no answer came", serial="PH1")


def is_refused(device: Device) -> bool:
    """Whether the next command is refused because the device does not answer."""
    try:
        if device.liveness.is_in_doubt:
            device.liveness.prove()
    except errors.TransportTimeoutError:
        return True
    return False


@pytest.fixture
def device() -> Device:
    """Return a device."""
    return Device()


def test_a_device_in_doubt_is_asked_once(device: Device) -> None:
    """Without doubt there is no question, and an answer ends the doubt."""
    assert not any(is_refused(device) for _ in range(100))
    assert device.asked == []
    device.liveness.is_in_doubt = True

    assert not any(is_refused(device) for _ in range(3))
    assert device.asked == [ANSWER_WITHIN]


def test_a_frozen_device_is_waited_for_once(device: Device) -> None:
    """After that commands fail without a question; later it is asked again, briefly."""
    device.is_frozen = True
    with pytest.raises(errors.TransportTimeoutError, match="does not answer, and has not for 5 s"):
        device.liveness.prove()
    begin = device.time.now
    assert all(is_refused(device) for _ in range(100))
    assert device.asked == [ANSWER_WITHIN]
    assert device.time.now == begin

    device.time.pass_by(10)
    with pytest.raises(errors.TransportTimeoutError, match="has not for 16 s"):
        device.liveness.prove()
    device.time.pass_by(10)
    device.is_frozen = False

    assert not any(is_refused(device) for _ in range(3))
    assert device.asked == [ANSWER_WITHIN, AGAIN_WITHIN, AGAIN_WITHIN]


def test_a_service_that_could_not_be_started_counts_as_a_question(device: Device) -> None:
    """A device that was waited for elsewhere gets no more than an instant."""
    device.is_frozen = True
    device.liveness.note_silence(device.time.now - ANSWER_WITHIN)

    assert is_refused(device)
    device.time.pass_by(10)
    assert is_refused(device)
    assert device.asked == [AGAIN_WITHIN]
