"""A device behind an adb server: its shell, its files, its log."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import struct
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.transport import wire
from pytest_clawperator.transport.interface import OnOutput, ShellResult, ignored
from pytest_clawperator.transport.logcat import LogStream
from pytest_clawperator.transport.shell import WarmShell, quote
from pytest_clawperator.transport.wire import AdbServer, Connection

if TYPE_CHECKING:
    from pytest_clawperator.transport.files import FileTransfer

_PACKET = struct.Struct("<BI")
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_MAX_PACKET = 64 * 1024
_NO_INPUT = _PACKET.pack(_CLOSE_STDIN, 0)
# An old device takes no longer request, and an adb server that is made to send one dies.
_OLD_LIMIT = 4000
# Some makers ask on the phone before adb may install, and refuse if there is no answer.
_PROMPT = re.compile(r"INSTALL_FAILED_(?:USER_RESTRICTED|ABORTED: User rejected)")
_PROMPT_HINT = (
    "The phone asks before it installs: unlock it, switch on 'Install via USB' among the developer"
    " options (Xiaomi, Redmi, POCO; on others a switch of a similar name), and tap Install when it"
    " asks."
)
_INSTALL_HINT = "Search for the INSTALL_ code; often the app must be uninstalled first."
# What the linker prints on standard error before a program; an old device sends it with the rest.
_LINKER = re.compile(r"^WARNING: linker: .*\n", re.MULTILINE)
# Longer than the line of an exit code.
_TRAILER = 32

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class _Read(Protocol[_T_co]):
    def __call__(self, connection: Connection, *, deadline: float) -> _T_co: ...


class AdbTransport:
    """One device, reached through an adb server."""

    def __init__(
        self,
        server: AdbServer,
        serial: str,
        *,
        on_notice: Callable[[str], None] = lambda _: None,
        display: int | None = None,
    ) -> None:
        self.server = server
        self._serial = serial
        self._display = display
        self._liveness = wire.Liveness(self._ask, serial=serial)
        self._log = LogStream(server, serial, on_notice=on_notice, on_silence=self._liveness.prove)
        self._quick_shell = WarmShell(
            lambda: self._open("exec:sh", time.monotonic() + wire.ANSWER_DEADLINE),
            self.shell,
            self._absence,
            self._liveness.prove,
            serial=serial,
        )
        self._features: frozenset[str] = frozenset()
        self._features_of = 0
        self._process = os.getpid()
        self._closed = False

    @property
    def serial(self) -> str:
        """What the device is called."""
        return self._serial

    @property
    def display(self) -> int | None:
        """The number of the display that tests use; None for the one in use."""
        return self._display

    @property
    def connections(self) -> int:
        """How often the device was connected to: a new number means that it was away."""
        return 1 + self._log.returns

    @property
    def log(self) -> LogStream:
        """The log stream, opened at its first use."""
        self._check_process()
        return self._log

    @property
    def quick_shell(self) -> WarmShell:
        """The shell that stays open, quicker than one made for each command."""
        self._check_usable()
        return self._quick_shell

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Run a command line in the device's shell."""
        self._check_usable()
        if "shell_v2" not in self.features():
            return self._old_shell(command, timeout)
        service, typed = f"shell,v2,raw:{command}", _NO_INPUT
        if len(wire.encoded(service)) > wire.MAX_REQUEST:
            service, typed = "shell,v2,raw:sh", _as_packets(command)
        return self._converse(service, typed, command, timeout, _read_packets)

    def exec_out(
        self, command: str, *, timeout: float = 30.0, on_output: OnOutput = ignored
    ) -> bytes:
        """Run a command line and return its raw output; ``on_output`` gets each piece."""
        read = partial(wire.read_rest, on_output=on_output)
        return self._converse(f"exec:{command}", b"", command, timeout, read)

    def push(self, source: bytes | Path, path: str) -> None:
        """Write a file on the device."""
        self._check_usable()
        self._files.push(source, path)

    def pull(self, path: str) -> bytes:
        """Read a file of the device."""
        self._check_usable()
        return self._files.pull(path)

    def install(self, apk: Path, *, timeout: float = 180.0) -> None:
        """Install an app, keeping the data of an earlier version."""
        path = f"/data/local/tmp/clawperator-{secrets.token_hex(4)}.apk"
        try:
            self.push(apk, path)
            result = self.shell(f"pm install -r -t {quote(path)}", timeout=timeout)
        finally:
            # What went wrong before matters more than a file left behind.
            with contextlib.suppress(errors.ClawperatorError):
                self.shell(f"rm -f {quote(path)}")
        said = f"{result.stdout}{result.stderr}".strip()
        if "Success" not in said:
            raise errors.ShellError(
                f"the device did not install {apk.name}: {said or 'it did not say why'}",
                code=ErrorCode.ANDROID_INSTALL_FAILED,
                serial=self._serial,
                hint=_PROMPT_HINT if _PROMPT.search(said) else _INSTALL_HINT,
            )

    def features(self) -> frozenset[str]:
        """Return the device's features, asked once per connection."""
        connections = self.connections
        if self._features_of != connections:
            self._features = self.server.features(self._serial)
            self._features_of = connections
        return self._features

    def close(self) -> None:
        """End the log stream and every connection; a forked process ends nothing."""
        if self._process != os.getpid():
            return
        self._closed = True
        try:
            self._quick_shell.close()
        finally:
            self._log.close()

    @property
    def _files(self) -> FileTransfer:
        # Here, because adbutils takes 170 ms to import, and most runs move no file.
        from pytest_clawperator.transport.files import FileTransfer

        return FileTransfer(self.server, self._serial)

    def _check_usable(self) -> None:
        self._check_process()
        if self._closed:
            raise errors.TransportError(
                "the client of this device is closed",
                serial=self._serial,
                hint="Use the device before close(), inside the `with` block, or connect again.",
            )
        if self._liveness.is_in_doubt:
            self._liveness.prove()

    def _check_process(self) -> None:
        """Raise in a forked process: it shares the sockets and has no thread that reads the log."""
        if self._process != os.getpid():
            raise errors.ConfigurationError(
                f"this client belongs to process {self._process}, and a fork of it used it",
                serial=self._serial,
                hint="Connect in the child process, or start it with the method 'spawn'.",
            )

    def _old_shell(self, command: str, timeout: float) -> ShellResult:
        """Run a command on a device that sends no exit codes: the shell prints the code."""
        nonce = secrets.token_hex(8)
        # Its input is the connection; the command must not read what is typed there.
        script = f"(\n{command}\n) </dev/null\necho {nonce}$?\nexit\n"
        typed = wire.encoded(script)
        service = "exec:sh"
        if len(typed) <= _OLD_LIMIT - len("exec:"):
            service, typed = f"exec:{script}", b""
        read = partial(_read_until, nonce=nonce.encode())
        output, code = self._converse(service, typed, command, timeout, read)
        text = output.decode("utf-8", "replace")
        return ShellResult(_LINKER.sub("", text), "".join(_LINKER.findall(text)), code)

    def _converse(
        self, service: str, typed: bytes, command: str, timeout: float, read: _Read[_T]
    ) -> _T:
        """Start a service, send it some input, and read its output."""
        self._check_usable()
        if len(service) > _OLD_LIMIT // 4:
            self._check_length(service)
        deadline = time.monotonic() + timeout
        try:
            with (
                wire.mapped(serial=self._serial, doing=command, within=timeout),
                self._open(service, deadline) as connection,
            ):
                if typed is _NO_INPUT:
                    # A quick command may be over and gone already.
                    with contextlib.suppress(OSError):
                        connection.sendall(typed)
                elif typed:
                    connection.sendall(typed)
                listening = _Listening(connection, deadline, self._liveness.prove)
                return read(listening, deadline=deadline)
        except errors.TransportTimeoutError:
            self._liveness.is_in_doubt = True
            raise
        except errors.TransportError as error:
            absence = self._absence()
            if absence is None:
                raise
            raise absence from error

    def _open(self, service: str, deadline: float) -> socket.socket:
        """Start a service; a device that answers begins with it soon, however long it takes."""
        begin, timeout = time.monotonic(), min(wire.time_left(deadline), wire.ANSWER_WITHIN)
        try:
            connection = self.server.open(self._serial, service, timeout=timeout)
        except errors.TransportTimeoutError:
            if timeout >= wire.ANSWER_WITHIN:
                self._liveness.note_silence(begin)
            raise
        connection.settimeout(wire.time_left(deadline))
        return connection

    def _ask(self, timeout: float) -> None:
        """Ask the device for a sign of life."""
        deadline = time.monotonic() + timeout
        with (
            wire.mapped(serial=self._serial, within=timeout),
            self.server.open(self._serial, "exec:true", timeout=timeout) as connection,
        ):
            connection.settimeout(wire.time_left(deadline))
            wire.read_rest(connection, deadline=deadline)

    def _check_length(self, service: str) -> None:
        size = len(wire.encoded(service))
        limit = wire.MAX_REQUEST if "shell_v2" in self.features() else _OLD_LIMIT
        if size > limit:
            raise errors.PayloadTooLargeError(
                f"a command of {size} bytes does not fit: this device takes {limit}",
                serial=self._serial,
                hint="Use shell(), which has no such limit, or push a script and run that.",
            )

    def _absence(self) -> errors.ClawperatorError | None:
        """Return what adb reports about a device whose connection broke, or None."""
        try:
            state = self.server.state(self._serial)
        except errors.ClawperatorError as error:
            error.serial = error.serial or self._serial
            return error
        usual = state == "device"
        return None if usual else wire.refusal(f"device {state}", serial=self._serial, doing="")


class _Listening:
    """A connection to a command, up to a deadline; a silent device is asked for a sign of life."""

    def __init__(
        self, connection: socket.socket, deadline: float, prove_alive: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._deadline = deadline
        self._prove_alive = prove_alive

    def recv(self, size: int, /) -> bytes:
        """Return what has come; raise if the time is over or the device does not answer."""
        while True:
            self._connection.settimeout(min(wire.time_left(self._deadline), wire.QUIET))
            try:
                return self._connection.recv(size)
            except TimeoutError:
                if time.monotonic() >= self._deadline:
                    raise
                self._prove_alive()

    def settimeout(self, seconds: float | None, /) -> None:
        """Do nothing: the deadline is known."""


def _as_packets(command: str) -> bytes:
    """Return the packets that type a command into a shell and end its input."""
    # Nothing of the script may be read by the command itself.
    data = wire.encoded(f"{{\n{command}\n}} </dev/null\n")
    pieces = (data[at : at + _MAX_PACKET] for at in range(0, len(data), _MAX_PACKET))
    typed = b"".join(_PACKET.pack(_STDIN, len(piece)) + piece for piece in pieces)
    return typed + _NO_INPUT


def _read_until(connection: Connection, *, deadline: float, nonce: bytes) -> tuple[bytearray, int]:
    """Read up to the line of the exit code; a process left running may keep the connection open."""
    received = bytearray()
    while data := connection.recv(65536):
        searched = max(len(received) - _TRAILER, 0)
        received += data
        found = re.compile(nonce + rb"(\d+)\n").search(received, searched)
        if found:
            return received[: found.start()], int(found[1])
        connection.settimeout(wire.time_left(deadline))
    raise EOFError(f"the shell ended early; it said {bytes(received[-200:])!r}")


def _read_packets(connection: Connection, *, deadline: float) -> ShellResult:
    """Read a command's outputs and its exit code from packets."""
    outputs = {_STDOUT: bytearray(), _STDERR: bytearray()}
    received = bytearray()
    while data := connection.recv(65536):
        received += data
        at = 0
        while len(received) - at >= _PACKET.size:
            kind, size = _PACKET.unpack_from(received, at)
            end = at + _PACKET.size + size
            if end > len(received):
                break
            if kind == _EXIT:
                code = received[end - 1]
                return ShellResult(
                    outputs[_STDOUT].decode("utf-8", "replace"),
                    outputs[_STDERR].decode("utf-8", "replace"),
                    code,
                )
            if kind in outputs:
                outputs[kind] += received[at + _PACKET.size : end]
            at = end
        del received[:at]
        connection.settimeout(wire.time_left(deadline))
    raise EOFError("it ended before the command did")
