"""The device's shell: quoting for it, and one that stays open between commands."""

from __future__ import annotations

import re
import secrets
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pytest_clawperator import errors
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.wire import QUIET, acknowledge, encoded, mapped, time_left

ACTION = "app.clawperator.operator.ACTION_AGENT_COMMAND"

# The kernel starts no program with an argument longer than this, its final NUL included.
MAX_ARGUMENT = 128 * 1024 - 1


def quote(text: str) -> str:
    """Quote a text so that the device's shell reads it as one word, unchanged."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def broadcast_command(package: str, payload_json: str) -> str:
    """Return the command line that sends a payload to the Operator of this package."""
    payload = payload_json.replace("\n", "")
    size = len(encoded(payload))
    if size > MAX_ARGUMENT:
        raise errors.PayloadTooLargeError(
            f"the payload has {size} bytes, {len(encoded(quote(payload)))} "
            f"quoted for the shell; a device command takes {MAX_ARGUMENT}",
            hint="Split the execution into several, or shorten its texts.",
        )
    return (
        f"am broadcast -a {quote(ACTION)} -p {quote(package)} "
        f"--es 'payload' {quote(payload)} --receiver-foreground"
    )


# A value may have line breaks, so it ends only before the next key, or at the very end.
_PROPERTY = re.compile(r"^\[([^\]\n]+)\]: \[(.*?)\]\r?(?=\n\[[^\]\n]+\]: \[|\s*\Z)", re.M | re.S)


def properties(transport: Transport) -> dict[str, str]:
    """Return every system property of the device; empty if it does not answer."""
    return parse_properties(transport.shell("getprop").stdout)


def parse_properties(text: str) -> dict[str, str]:
    """Parse the output of ``getprop``."""
    return {name: value.replace("\r\n", "\n") for name, value in _PROPERTY.findall(text)}


# The device's shell reads its input byte by byte: a longer command is quicker by itself.
LONGEST = 8_000
_CHUNK = 65536
_DRAIN_DEADLINE = 30.0


class WarmShell:
    """A shell that stays open: a command costs no new stream and no new process.

    It is for one command at a time, of the device's holder; all other commands get a separate
    shell. The command must read no input and leave the shell as it is. The shell is opened at its
    first use, and again after it broke.

    ``run_alone`` runs a command that is too long in a separate shell;
    ``absence`` returns what is wrong with a device whose connection broke, or None;
    ``prove_alive`` raises if a device that is silent for a while does not answer at all.
    """

    def __init__(
        self,
        open_shell: Callable[[], socket.socket],
        run_alone: Callable[[str], ShellResult],
        absence: Callable[[], errors.ClawperatorError | None],
        prove_alive: Callable[[], None],
        *,
        serial: str,
    ) -> None:
        self._open_shell = open_shell
        self._run_alone = run_alone
        self._absence = absence
        self._prove_alive = prove_alive
        self._serial = serial
        self._done: ShellResult | None = None
        self._connection: socket.socket | None = None
        self._mark = b""
        self._received = bytearray()

    def prepare(self) -> None:
        """Ensure that a command can be sent; if this raises, nothing was sent."""
        if self._mark:
            # The result of the last command was not read; a shell that broke since is replaced.
            with suppress(errors.ClawperatorError):
                self.result(_DRAIN_DEADLINE)
        if self._connection is None or self._has_ended():
            self.close()
            self._connection = self._open_shell()

    def start(self, command: str) -> None:
        """Send a command. Waiting for its end with ``result`` is optional."""
        self._done = None
        if len(command) > LONGEST:
            self._done = self._run_alone(command)
            return
        self.prepare()
        assert self._connection is not None
        mark = secrets.token_hex(8)
        typed = encoded(f"{command} </dev/null 2>&1; echo {mark}:$?\n")
        with self._guarded():
            # Known before it is sent: after an interrupt in between, the shell is given up.
            self._mark = mark.encode()
            self._connection.sendall(typed)

    def result(self, timeout: float) -> ShellResult:
        """Wait for the end of the command sent last; its two outputs come as one."""
        if self._done is not None:
            return self._done
        with self._guarded(within=timeout):
            return self._read(time.monotonic() + timeout)

    def close(self) -> None:
        """End the shell."""
        connection, self._connection = self._connection, None
        self._mark = b""
        self._received.clear()
        if connection is not None:
            connection.close()

    @contextmanager
    def _guarded(self, *, within: float | None = None) -> Iterator[None]:
        """Close the shell after an error; raise what is wrong with the device if it is away."""
        try:
            with mapped(serial=self._serial, within=within):
                yield
        except errors.TransportError as error:
            self.close()
            absence = None if isinstance(error, errors.TransportTimeoutError) else self._absence()
            if absence is None:
                raise
            raise absence from error
        except BaseException:
            self.close()
            raise

    def _has_ended(self) -> bool:
        """Whether the idle shell is gone: only then is there something to read from it."""
        assert self._connection is not None
        readable, _, _ = select.select([self._connection], [], [], 0)
        return bool(readable)

    def _read(self, deadline: float) -> ShellResult:
        assert self._connection is not None
        received, mark = self._received, self._mark + b":"
        while (at := received.rfind(mark)) < 0 or not received.endswith(b"\n"):
            self._connection.settimeout(min(time_left(deadline), QUIET))
            try:
                data = self._connection.recv(_CHUNK)
            except TimeoutError:
                if time.monotonic() >= deadline:
                    raise
                self._prove_alive()
                continue
            if not data:
                raise EOFError(f"the shell ended early; it said {bytes(received[-200:])!r}")
            acknowledge(self._connection)
            received += data
        output, code = received[:at], int(received[at + len(mark) :])
        self._mark = b""
        received.clear()
        return ShellResult(output.decode("utf-8", "replace"), "", code)
