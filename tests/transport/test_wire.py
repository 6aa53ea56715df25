"""The adb server's protocol: whole requests, answers in any pieces, refusals as our errors."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    PayloadTooLargeError,
    TransportError,
    TransportTimeoutError,
)
from pytest_clawperator.transport.wire import (
    AGAIN_WITHIN,
    ANSWER_WITHIN,
    MAX_REQUEST,
    AdbServer,
    Liveness,
)
from tests.doubles.adb_server import DEADLINE, SERIAL, Answer, Conversation, FakeAdb, block, failure
from tests.doubles.clock import FakeTime


def in_pieces(data: bytes) -> Answer:
    """Answer byte by byte, so that the client's reads come back short."""

    def answer(conversation: Conversation) -> None:
        for value in data:
            conversation.send(bytes([value]))
            time.sleep(0.0005)  # else the network joins them again
        conversation.close()

    return answer


def dead_address() -> AdbServer:
    """Return an address at which nobody listens."""
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
        version = adb.server.version()
        answer = adb.server.ask("host:long")

    assert version == 41
    assert answer == long.encode()


@pytest.mark.parametrize(
    ("reason", "kind", "code"),
    [
        ("device 'PH1' not found", DeviceNotFoundError, ErrorCode.DEVICE_NOT_FOUND),
        ("no devices/emulators found", DeviceNotFoundError, ErrorCode.DEVICE_NOT_FOUND),
        ("device offline", DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        ("device still connecting", DeviceUnavailableError, ErrorCode.DEVICE_OFFLINE),
        (
            "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set",
            DeviceUnavailableError,
            ErrorCode.DEVICE_UNAUTHORIZED,
        ),
        ("device still authorizing", DeviceUnavailableError, ErrorCode.DEVICE_UNAUTHORIZED),
        (
            "insufficient permissions for device: no permissions; see [http://x]",
            DeviceUnavailableError,
            ErrorCode.ADB_NO_USB_PERMISSIONS,
        ),
        ("closed", TransportError, ErrorCode.DEVICE_SHELL_UNAVAILABLE),
        ("", TransportError, ErrorCode.DEVICE_SHELL_UNAVAILABLE),
    ],
)
def test_refusals_are_told_apart(
    reason: str, kind: type[ClawperatorError], code: ErrorCode
) -> None:
    """Each refusal of adb becomes the error that names the device, its state and the way out."""
    with (
        FakeAdb({"host:transport:": failure(reason)}) as adb,
        pytest.raises(kind) as caught,
    ):
        adb.server.open(SERIAL, "exec:ls")

    assert caught.value.code == code
    assert caught.value.serial == SERIAL
    assert caught.value.hint
    assert reason.split("\n")[0] in caught.value.message


def test_an_unauthorized_device_tells_what_to_do() -> None:
    """The hint names the dialog that has to be accepted."""
    with (
        FakeAdb({"host:transport:": failure("device unauthorized.")}) as adb,
        pytest.raises(DeviceUnavailableError) as caught,
    ):
        adb.server.open(SERIAL, "exec:ls")

    assert caught.value.hint is not None
    assert "Accept the dialog" in caught.value.hint


def test_a_refused_service_is_told() -> None:
    """A device that does not know a service is not a missing device."""
    with (
        FakeAdb({"nonsense:": failure("closed")}) as adb,
        pytest.raises(TransportError, match="adb refused `nonsense:`: closed"),
    ):
        adb.server.open(SERIAL, "nonsense:")


def test_a_refused_connection_names_the_server() -> None:
    """A refused connection says which server was asked and how one is started."""
    server = dead_address()

    with pytest.raises(AdbUnavailableError) as caught:
        server.version()

    assert caught.value.code == ErrorCode.ADB_SERVER_FAILED
    assert str(server) in caught.value.message
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", block("nonsense")])
def test_something_else_listens(answer: bytes) -> None:
    """What does not speak the protocol is called no adb server."""
    with (
        FakeAdb({"host:version": answer}) as adb,
        pytest.raises(AdbUnavailableError, match="not an adb server"),
    ):
        adb.server.version()


@pytest.mark.parametrize("answer", [b"", b"OK", b"OKAY", b"OKAY00", b"OKAY0004ab", b"OKAYzzzz"])
def test_a_connection_that_breaks_is_told(answer: bytes) -> None:
    """However far an answer got, its sudden end is our error and not a strange one."""
    with FakeAdb({"host:x": answer}) as adb, pytest.raises(TransportError) as caught:
        adb.server.ask("host:x")

    assert "broke" in caught.value.message
    assert caught.value.code == ErrorCode.ADB_SERVER_FAILED


@pytest.mark.parametrize("begun", [b"", b"OK", b"OKAY0010abc"])
def test_silence_ends_at_the_deadline(begun: bytes) -> None:
    """A server that stops in the middle is given up, and the connection closed."""
    said = []

    def stop_talking(conversation: Conversation) -> None:
        conversation.send(begun)
        said.append(conversation.wait_for_close())

    with FakeAdb({"host:x": stop_talking}) as adb, pytest.raises(TransportTimeoutError) as caught:
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

    with FakeAdb({"host:x": trickle}) as adb, pytest.raises(TransportTimeoutError):
        adb.server.ask("host:x", timeout=0.1)


def test_a_request_that_does_not_fit_is_not_sent() -> None:
    """Four hexadecimal digits hold no greater length, so the request is refused here."""
    fits = "x" * MAX_REQUEST
    with FakeAdb({fits: block("taken")}) as adb:
        answer = adb.server.ask(fits)
        with pytest.raises(PayloadTooLargeError) as caught:
            adb.server.ask(fits + "x")

        assert answer == b"taken"
        assert adb.requests == [fits]
        assert str(MAX_REQUEST + 1) in caught.value.message


#: Rows as adb writes them, each with its serial and its state.
DEVICE_ROWS = [
    ("PH1\tdevice", ("PH1", "device")),
    ("emulator-5554\toffline", ("emulator-5554", "offline")),
    ("192.168.1.5:5555\tunauthorized", ("192.168.1.5:5555", "unauthorized")),
    ("[fe80::1%en0]:5555\tconnecting", ("[fe80::1%en0]:5555", "connecting")),
    # Wireless debugging, Android 11 and newer.
    ("adb-PH1-aBcDeF._adb-tls-connect._tcp\tdevice",
     ("adb-PH1-aBcDeF._adb-tls-connect._tcp", "device")),
    # The same, after Wi-Fi was off and on: flutter/flutter#187092, defold/defold#12723.
    ("adb-PH1-aBcDeF (2)._adb-tls-connect._tcp\tdevice",
     ("adb-PH1-aBcDeF (2)._adb-tls-connect._tcp", "device")),
    ("My device Phone\toffline", ("My device Phone", "offline")),
    # Linux without udev rules.
    ("(no serial number)\tno permissions (missing udev rules? user is in the plugdev group);"
     " see [http://developer.android.com/tools/device.html]",
     ("(no serial number)", "no permissions (missing udev rules? user is in the plugdev group);"
      " see [http://developer.android.com/tools/device.html]")),
    ("????????????\tno permissions", ("????????????", "no permissions")),
    ("PH1\t", ("PH1", "")),
]  # fmt: skip


def test_devices_are_listed_with_their_states() -> None:
    """The list is read with every kind of row that adb writes."""
    rows = "".join(f"{row}\n" for row, _ in DEVICE_ROWS)
    with FakeAdb({"host:devices": block(rows)}) as adb:
        devices = adb.server.devices()

    assert devices == [expected for _, expected in DEVICE_ROWS]


def test_no_devices_is_an_empty_list() -> None:
    """A server without devices answers with nothing."""
    with FakeAdb({"host:devices": block("")}) as adb:
        devices = adb.server.devices()

    assert devices == []


def test_an_old_server_knows_no_features() -> None:
    """A server from before features is one without any, and no error."""
    answers = {f"host-serial:{SERIAL}:features": failure("unknown host service")}
    with FakeAdb(answers) as adb:
        features = adb.server.features(SERIAL)

    assert features == frozenset()


def test_features_of_an_absent_device_are_an_error() -> None:
    """Only the unknown question is forgiven, not the unknown device."""
    answers = {f"host-serial:{SERIAL}:features": failure(f"device '{SERIAL}' not found")}
    with FakeAdb(answers) as adb, pytest.raises(DeviceNotFoundError):
        adb.server.features(SERIAL)


@pytest.mark.skipif(os.name == "nt", reason="by design: Unix sockets")
def test_a_server_behind_a_unix_socket(tmp_path: Path) -> None:
    """The server may listen on a path instead of a port."""
    path = str(tmp_path / "adb")
    with FakeAdb({"host:version": block("0028")}, path=path) as adb:
        version = adb.server.version()

    assert version == 40
    assert str(adb.server) == path


@pytest.mark.skipif(os.name == "nt", reason="by design: Unix sockets")
def test_a_missing_unix_socket_is_told(tmp_path: Path) -> None:
    """A path at which there is no socket names itself."""
    server = AdbServer(path=str(tmp_path / "nothing"))

    with pytest.raises(AdbUnavailableError, match="nothing"):
        server.version()


def test_a_host_that_does_not_resolve_is_told() -> None:
    """A name that no one knows is an unavailable server."""
    server = AdbServer("no such host", 5037)

    with pytest.raises(AdbUnavailableError, match="no such host"):
        server.version()


class Device:
    """A device that answers at once, or keeps everybody waiting."""

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
            raise TransportTimeoutError("no answer came", serial="PH1")


def is_refused(device: Device) -> bool:
    """Whether the next command is refused because the device does not answer."""
    try:
        if device.liveness.is_in_doubt:
            device.liveness.prove()
    except TransportTimeoutError:
        return True
    return False


@pytest.fixture
def device() -> Device:
    """Return a device."""
    return Device()


def test_a_device_that_answers_is_not_asked(device: Device) -> None:
    """Commands to a device that is not in doubt cost no question."""
    refused = [is_refused(device) for _ in range(100)]

    assert not any(refused)
    assert device.asked == []


def test_a_command_that_took_too_long_costs_one_question(device: Device) -> None:
    """A device that answers the question is not in doubt any more."""
    device.liveness.is_in_doubt = True

    refused = [is_refused(device) for _ in range(3)]

    assert not any(refused)
    assert device.asked == [ANSWER_WITHIN]


def test_a_frozen_device_is_waited_for_once(device: Device) -> None:
    """A hundred commands in a row after that cost no time and no question."""
    device.is_frozen = True
    with pytest.raises(TransportTimeoutError, match="does not answer, and has not for 5 s"):
        device.liveness.prove()
    begin = device.time.now

    refused = [is_refused(device) for _ in range(100)]

    assert all(refused)
    assert device.asked == [ANSWER_WITHIN]
    assert device.time.now == begin


def test_a_frozen_device_is_asked_again_for_an_instant(device: Device) -> None:
    """Some time later it is asked once more, briefly, and one that is back is used."""
    device.is_frozen = True
    with pytest.raises(TransportTimeoutError):
        device.liveness.prove()

    device.time.pass_by(10)
    with pytest.raises(TransportTimeoutError, match="has not for 16 s"):
        device.liveness.prove()
    device.time.pass_by(10)
    device.is_frozen = False
    refused = [is_refused(device) for _ in range(3)]

    assert not any(refused)
    assert device.asked == [ANSWER_WITHIN, AGAIN_WITHIN, AGAIN_WITHIN]


def test_a_service_that_could_not_be_started_is_a_question_too(device: Device) -> None:
    """A device that was waited for by somebody else gets no more than an instant."""
    device.is_frozen = True
    device.liveness.note_silence(device.time.now - ANSWER_WITHIN)

    at_once = is_refused(device)
    device.time.pass_by(10)
    later = is_refused(device)

    assert (at_once, later) == (True, True)
    assert device.asked == [AGAIN_WITHIN]
