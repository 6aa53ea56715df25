"""The adb server's protocol on plain sockets, and whether a device still answers.

adbutils' shell takes 21 ms, this takes 1.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport.interface import OnOutput, ignored

# The length of a request is four hexadecimal digits.
MAX_REQUEST = 0xFFFF
ANSWER_DEADLINE = 10.0
#: What the keys of devices behind services begin with.
SERVICE_PREFIX = "service+"

_CONNECT_DEADLINE = 5.0
# Linux alone has it; elsewhere confirmations are delayed less.
_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)
# Sockets take no infinity.
_LONGEST_WAIT = 1e6
_SHOWN = 200


@dataclass(frozen=True)
class AdbServer:
    """Where an adb server listens; ``path`` is a Unix socket and replaces host and port.

    ``startable``: one may be started there if none answers.
    """

    host: str = "127.0.0.1"
    port: int = 5037
    path: str | None = None
    startable: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"

    def device_key(self, serial: str) -> str | None:
        """Return the key of a device, if the server itself has keys for its devices."""
        return None

    def open(self, serial: str, service: str, *, timeout: float = ANSWER_DEADLINE) -> socket.socket:
        """Start a service of a device and return the connection to it."""
        deadline = time.monotonic() + timeout
        connection = self.open_transport(serial, timeout=timeout)
        return _requested(connection, service, deadline, serial, acknowledge)

    def open_transport(self, serial: str, *, timeout: float = ANSWER_DEADLINE) -> socket.socket:
        """Return a connection whose next request goes to the device."""
        connection, deadline = self._connect(timeout), time.monotonic() + timeout
        return _requested(connection, f"host:transport:{serial}", deadline, serial)

    def start(self, question: str, *, timeout: float = ANSWER_DEADLINE) -> socket.socket:
        """Send a request to the server itself and return the connection once it was accepted."""
        connection, deadline = self._connect(timeout), time.monotonic() + timeout
        return _requested(connection, question, deadline, _serial_in(question))

    def ask(self, question: str, *, timeout: float = ANSWER_DEADLINE) -> bytes:
        """Send a request to the server itself and return its answer."""
        deadline = time.monotonic() + timeout
        with self.start(question, timeout=timeout) as connection:
            return read_block(connection, deadline=deadline)

    def version(self) -> int:
        """Return the number of the server's protocol, 41 for example."""
        answer = self.ask("host:version")
        try:
            return int(answer, 16)
        except ValueError as error:
            raise self._nonsense(answer) from error

    def devices(self) -> list[tuple[str, str]]:
        """Return each serial and its state, such as ``device`` or ``unauthorized``."""
        # The long list separates with blanks, which serials of Wi-Fi and states may contain.
        text = self.ask("host:devices").decode("utf-8", "replace")
        return [parse_device_row(line) for line in text.split("\n") if line.strip()]

    def state(self, serial: str) -> str:
        """Return a device's state."""
        return self.ask(f"host-serial:{serial}:get-state").decode("utf-8", "replace")

    def features(self, serial: str) -> frozenset[str]:
        """Return the features that the server and the device share, such as ``shell_v2``."""
        try:
            answer = self.ask(f"host-serial:{serial}:features").decode("utf-8", "replace")
        except errors.TransportError as error:
            if "unknown host service" in error.message:
                return frozenset()
            raise
        return frozenset(answer.split(","))

    def _connect(self, timeout: float) -> socket.socket:
        wait = min(max(timeout, 1e-6), _CONNECT_DEADLINE)
        connection = None
        try:
            if self.path is None:
                connection = socket.create_connection(self._address, wait)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(wait)
            connection.connect(self.path)
        except (OSError, ValueError) as error:  # the latter for what no address can hold
            if connection is not None:
                connection.close()
            raise errors.AdbUnavailableError(
                f"no adb server answers at {self} ({error})",
                code=ErrorCode.ADB_SERVER_FAILED,
                hint="Start it with `adb start-server`, or correct the server's address.",
            ) from error
        return connection

    @property
    def _address(self) -> tuple[str, int]:
        # Text goes through a codec in Python code, and an interrupt there is raised garbled.
        host = self.host.encode() if self.host.isascii() else self.host
        return cast(str, host), self.port  # bytes work, although the annotations forbid them

    def _nonsense(self, answer: bytes) -> errors.AdbUnavailableError:
        return errors.AdbUnavailableError(
            f"what answers at {self} is not an adb server: it said {answer[:_SHOWN]!r}",
            code=ErrorCode.ADB_SERVER_FAILED,
            hint="Correct the address of the adb server.",
        )


def encoded(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates, which JSON may hold, are let through."""
    return text.encode("utf-8", "surrogatepass")


def _requested(
    connection: socket.socket,
    text: str,
    deadline: float,
    serial: str | None,
    then: Callable[[socket.socket], None] = lambda connection: None,
) -> socket.socket:
    """Return the connection after a request; it is closed if that fails."""
    try:
        request(connection, text, deadline=deadline, serial=serial)
        then(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def request(
    connection: socket.socket, text: str, *, deadline: float, serial: str | None = None
) -> None:
    """Send one request of the protocol and check that the server accepts it."""
    data = encoded(text)
    if len(data) > MAX_REQUEST:
        raise errors.PayloadTooLargeError(
            f"adb's protocol takes requests of {MAX_REQUEST} bytes, and this one has {len(data)}",
            serial=serial,
            hint="Write the data to a file with push() and run a command that reads it.",
        )
    with mapped(serial=serial, doing=text, within=deadline - time.monotonic()):
        connection.settimeout(time_left(deadline))
        connection.sendall(b"%04x%b" % (len(data), data))
        status = read_exactly(connection, 4, deadline=deadline)
        if status == b"OKAY":
            return
        if status != b"FAIL":
            raise errors.AdbUnavailableError(
                f"what answers is not an adb server: it said {status!r} to {text[:_SHOWN]!r}",
                code=ErrorCode.ADB_SERVER_FAILED,
                serial=serial,
                hint="Correct the address of the adb server.",
            )
        reason = read_block(connection, deadline=deadline).decode("utf-8", "replace")
    raise refusal(reason, serial=serial, doing=text)


def read_exactly(connection: socket.socket, size: int, *, deadline: float) -> bytes:
    """Read exactly so many bytes."""
    data = connection.recv(size)
    if len(data) == size:
        return data
    pieces = bytearray(data)
    while len(pieces) < size:
        if not data:
            raise EOFError(f"the connection ended after {len(pieces)} of {size} bytes")
        connection.settimeout(time_left(deadline))
        data = connection.recv(size - len(pieces))
        pieces += data
    return bytes(pieces)


class Connection(Protocol):
    """What an answer is read from."""

    def recv(self, size: int, /) -> bytes:
        """Return what has come; nothing at its end."""

    def settimeout(self, seconds: float | None, /) -> None:
        """Set how long ``recv`` waits."""


def read_rest(connection: Connection, *, deadline: float, on_output: OnOutput = ignored) -> bytes:
    """Read to the end of the connection."""
    pieces = []
    while data := connection.recv(65536):
        pieces.append(data)
        on_output(data)
        connection.settimeout(time_left(deadline))
    return b"".join(pieces)


def read_block(connection: socket.socket, *, deadline: float) -> bytes:
    """Read an answer that begins with its length."""
    with mapped():
        digits = read_exactly(connection, 4, deadline=deadline)
        try:
            size = int(digits, 16)
        except ValueError as error:
            raise EOFError(f"{digits!r} is not the length of an answer") from error
        return read_exactly(connection, size, deadline=deadline)


def acknowledge(connection: socket.socket) -> None:
    """Confirm now what was received: adb holds small pieces back until then, else for 40 ms."""
    if _QUICKACK is not None and connection.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)


class mapped(contextlib.AbstractContextManager["mapped"]):  # noqa: N801 - used like a function
    """Turn errors of a socket into errors of this package."""

    __slots__ = ("_doing", "_serial", "_within")

    def __init__(
        self, *, serial: str | None = None, doing: str = "", within: float | None = None
    ) -> None:
        self._serial = serial
        self._doing = doing
        self._within = within

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError | EOFError):
            return
        who = "the device" if self._serial else "the adb server"
        asked = _short(_asked(self._doing))
        said = f"no answer to `{asked}` came" if asked else f"{who} did not answer"
        if isinstance(error, TimeoutError):
            within = " in time" if self._within is None else f" within {_rounded(self._within)} s"
            raise errors.TransportTimeoutError(
                f"{said}{within}",
                serial=self._serial,
                hint="See that the device is awake and responsive, or give it a longer timeout.",
            ) from error
        raise errors.TransportError(
            f"{said}, because the connection broke: {error}",
            code=ErrorCode.DEVICE_SHELL_UNAVAILABLE
            if self._serial
            else ErrorCode.ADB_SERVER_FAILED,
            serial=self._serial,
            hint="See with `adb devices` whether the device is still there.",
        ) from error


def refusal(reason: str, *, serial: str | None, doing: str) -> errors.ClawperatorError:
    """Return the error for an adb server's refusal."""
    first = reason.strip().split("\n")[0]
    if _ABSENT.search(first):
        return errors.DeviceNotFoundError(
            f"adb says: {first}",
            serial=serial,
            hint="See with `adb devices` which devices are there.",
        )
    for word, code, hint in _STATES:
        if word in first:
            return errors.DeviceUnavailableError(
                f"adb says: {first}", code=code, serial=serial, hint=hint
            )
    return errors.TransportError(
        f"adb refused `{_short(_asked(doing) or doing)}`: {first or 'without a reason'}",
        serial=serial,
        hint="See with `adb devices` whether the device is usable, and try again.",
    )


# What stands before the command in the name of a service.
_COMMAND = re.compile(r"^(?:shell(?:,\w+)*|exec):")
_ABSENT = re.compile(r"device\b.* not found|no devices|no emulators")
_ACCEPT = "Accept the dialog about USB debugging on the device's screen."
_STATES = (
    ("unauthorized", ErrorCode.DEVICE_UNAUTHORIZED, _ACCEPT),
    ("still authorizing", ErrorCode.DEVICE_UNAUTHORIZED, _ACCEPT),
    (
        "no permissions",
        ErrorCode.ADB_NO_USB_PERMISSIONS,
        "Give your user access to the USB device (udev rules, the group plugdev).",
    ),
    ("offline", ErrorCode.DEVICE_OFFLINE, "Reconnect the device, or run `adb reconnect`."),
    ("still connecting", ErrorCode.DEVICE_OFFLINE, "Wait until `adb devices` calls it `device`."),
)


def parse_device_row(line: str) -> tuple[str, str]:
    """Return the serial and the state in a row of ``host:devices``: a tab is between them.

    A serial may have spaces, also at its beginning.
    """
    serial, _, state = line.partition("\t")
    return serial, state.strip()


def _serial_in(question: str) -> str | None:
    if not question.startswith("host-serial:"):
        return None
    return question.removeprefix("host-serial:").rpartition(":")[0]


def time_left(deadline: float) -> float:
    """Return the seconds until a monotonic deadline, within what sockets accept."""
    # A timeout of 0 would mean "do not block"; the least that is one still fails immediately.
    return min(max(deadline - time.monotonic(), 1e-6), _LONGEST_WAIT)


def _asked(request: str) -> str:
    """Return the command of a request; "" if the request only tries the connection."""
    command = _COMMAND.sub("", request)
    return "" if command in ("true", "sh") or command.startswith("host:transport:") else command


def _rounded(seconds: float) -> str:
    return f"{round(seconds, 1):g}" if seconds >= 1 else f"{max(seconds, 0):.2g}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


#: After so many seconds without a sign of life a device is asked whether it is there.
QUIET = 2.0
#: How long a healthy device may take to answer that, or to begin with a command.
ANSWER_WITHIN = 5.0
#: How long one that did not answer before may take, and how long until it is asked again.
AGAIN_WITHIN = 1.0


class Liveness:
    """Whether a device answers, asked with a short question and remembered.

    A device may freeze at any moment. A call that waits for a log line or the end of a command
    does not wait to the end then: after some silence the device is asked a short question. One
    that did not answer gets only an instant to answer before its next use.

    ``ask`` asks it a short question, and raises ``TransportTimeoutError`` if no answer comes
    within the seconds it is given. A device ``is_in_doubt`` when something did not end in time,
    which may be the fault of a command or of the device: it is to be asked before its next use.
    """

    def __init__(
        self,
        ask: Callable[[float], None],
        *,
        serial: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._serial = serial
        self._clock = clock
        self.is_in_doubt = False
        self._silent_since: float | None = None
        self._asked_at = 0.0

    def prove(self) -> None:
        """Ask the device now; raise ``TransportTimeoutError`` if it does not answer."""
        begin, silent_since = self._clock(), self._silent_since
        if silent_since is not None and begin < self._asked_at + AGAIN_WITHIN:
            raise self._silent(begin - silent_since)
        try:
            self._ask(ANSWER_WITHIN if silent_since is None else AGAIN_WITHIN)
        except errors.TransportTimeoutError as error:
            raise self._silent(self.note_silence(begin)) from error
        self.is_in_doubt, self._silent_since = False, None

    def note_silence(self, since: float) -> float:
        """Record that the device has not answered since then; return for how many seconds."""
        self.is_in_doubt, self._asked_at = True, self._clock()
        if self._silent_since is None:
            self._silent_since = since
        return self._asked_at - self._silent_since

    def _silent(self, seconds: float) -> errors.TransportTimeoutError:
        return errors.TransportTimeoutError(
            f"the device does not answer, and has not for {seconds:.0f} s",
            serial=self._serial,
            hint="See that the device is awake and responsive; reconnect it, or restart it.",
        )
