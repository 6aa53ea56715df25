"""Starting an emulator, waiting until Android has booted, and asking the running ones."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_clawperator.emulators.avd import Avd, EmulatorProfile
from pytest_clawperator.emulators.diagnosis import diagnose, last_lines, read_end
from pytest_clawperator.emulators.sdk import PidFile, SdkTools, Tool, end_tool
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceError,
    EmulatorError,
    ErrorCode,
    TransportError,
)
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.server import ensure_server
from pytest_clawperator.transport.wire import AdbServer

REGISTRATION_TIMEOUT = 60.0

BOOT_TIMEOUT = 180.0

# Android does not announce that it has booted, so it is asked this often.
POLL = 2.0

# How long adb may take to reconnect to an emulator that has booted.
_BACK_WITHIN = 20.0

# What the published program calls the settings that it makes after a boot.
_SETTINGS = {"development_settings_enabled": "Developer Options", "adb_enabled": "adb"}

_ANIMATIONS = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")

USABLE = "device"

_BOOT_SIGNS = ("sys.boot_completed", "dev.bootcomplete")

HOST = "127.0.0.1"

_TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - its name, not its content

_LARGEST_ANSWER = 1024 * 1024

BootKind = Literal["cold", "snapshot"]

Notify = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """How an emulator is started; the defaults are the documented command line."""

    port: int | None = None
    boot: BootKind = "cold"
    headless: bool = False
    temporary: bool = False
    ram: int | None = None
    gpu: str | None = None

    def arguments(self, name: str) -> tuple[str, ...]:
        """Return the arguments of the ``emulator`` command for a virtual device."""
        cold = ("-no-snapshot-load",) if self.boot == "cold" else ()
        unsaved = ("-no-snapshot-save",) if self.temporary and self.boot == "cold" else ()
        window = ("-no-window", "-no-audio") if self.headless else ()
        gpu = self.gpu or ("swiftshader_indirect" if self.headless else None)
        values = (("-port", self.port), ("-memory", self.ram), ("-gpu", gpu))
        extra = [text for flag, value in values if value for text in (flag, str(value))]
        return (f"@{name}", *cold, "-no-boot-anim", *unsaved, *window, *extra)


@dataclass(frozen=True, kw_only=True)
class BootLimits:
    """How long to wait for what, in seconds."""

    registration: float = REGISTRATION_TIMEOUT
    boot: float = BOOT_TIMEOUT
    poll: float = POLL


class Boot:
    """One start of a virtual device."""

    def __init__(
        self,
        host: AdbHost,
        tools: SdkTools,
        name: str,
        *,
        output: Path,
        limits: BootLimits | None = None,
        notify: Notify = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._host = host
        self._tools = tools
        self._name = name
        self._output = output
        self._limits = limits or BootLimits()
        self._notify = notify
        self._clock = clock
        self._pause = pause
        self._process: subprocess.Popen[bytes] | None = None
        self._serial: str | None = None
        self._began = clock()

    def start(self, options: StartOptions, *, pid_file: PidFile | None = None) -> None:
        """Start the process; it goes on when this one ends."""
        self._output.parent.mkdir(parents=True, exist_ok=True)
        self._output.write_bytes(b"")
        self._began = self._clock()
        arguments = options.arguments(self._name)
        self._serial = f"emulator-{options.port}" if options.port else None
        self._process = self._tools.spawn(
            Tool.EMULATOR, *arguments, output=self._output, pid_file=pid_file
        )
        self._report("started")

    def end(self) -> None:
        """End the process, if it was started here."""
        if self._process is not None:
            end_tool(self._process)

    def await_ready(self) -> RunningEmulator:
        """Wait until adb knows the emulator and Android runs on it, and make its settings."""
        found = self._await_registration()
        self._report(f"known to adb as {found}")
        self.await_boot(found)
        self.make_settings(found)
        self._report("ready")
        return RunningEmulator(found, self._name, booted=True)

    def await_boot(self, serial: str) -> None:
        """Wait until Android has started."""
        limit = self._limits.boot
        if not self._await(lambda: has_booted(self._host, serial), limit):
            raise self._failed(
                f"timed out waiting for emulator {serial} to finish booting: {limit:g} s",
                code=ErrorCode.EMULATOR_BOOT_TIMEOUT,
                details={"serial": serial, "timeoutMs": round(limit * 1000)},
            )
        self._report("booted")

    def make_settings(self, serial: str) -> None:
        """Make the settings that automation needs.

        adb may lose an emulator for a moment after Android has booted: it reconnects when adbd
        restarts. So one that is offline is asked again.
        """
        problem: ClawperatorError | None = None

        def are_made() -> bool:
            nonlocal problem
            try:
                make_settings(self._host, serial)
            except EmulatorError:
                raise
            except (DeviceError, TransportError) as error:
                problem = error
                return False
            return True

        if not self._await(are_made, _BACK_WITHIN):
            assert problem is not None
            raise self._failed(
                f"emulator {serial} booted and does not answer any more: {problem.message}",
                code=ErrorCode.EMULATOR_START_FAILED,
                details={"serial": serial},
            ) from problem

    def _await_registration(self) -> str:
        limit, found = self._limits.registration, ""

        def is_registered() -> bool:
            nonlocal found
            running = list_running(self._host, strict=False, serial=self._serial)
            found = next((one.serial for one in running if one.avd_name == self._name), "")
            return bool(found)

        if not self._await(is_registered, limit):
            raise self._failed(
                f"timed out waiting for emulator {self._name} to appear in adb: {limit:g} s",
                details={"name": self._name, "timeoutMs": round(limit * 1000)},
            )
        return found

    def _await(self, is_so: Callable[[], bool], limit: float) -> bool:
        """Wait until the condition holds; raise if the process ends meanwhile."""
        deadline = self._clock() + limit
        while not is_so():
            self._check_process()
            left = deadline - self._clock()
            if left <= 0:
                return False
            self._pause(min(self._limits.poll, left))
        return True

    def _check_process(self) -> None:
        code = self._process.poll() if self._process is not None else None
        if code is None:
            return
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise self._failed(
            f"emulator {self._name} ended while it started ({how})",
            details={"name": self._name, "exitCode": code},
        )

    def _failed(
        self,
        problem: str,
        *,
        code: ErrorCode = ErrorCode.EMULATOR_START_FAILED,
        details: dict[str, object],
    ) -> EmulatorError:
        printed = read_end(self._output)
        ended = self._process.poll() if self._process is not None else None
        said, cause = last_lines(printed), diagnose(printed, code=ended)
        shown = f"\n  the end of its output:\n{_indented(said)}" if said else ""
        return EmulatorError(
            f"{problem}; {cause.problem}{shown}",
            code=code,
            hint=cause.hint,
            details={**details, "output": said},
        )

    def _report(self, stage: str) -> None:
        self._notify(f"emulator {self._name}: {stage} after {self._clock() - self._began:.0f} s")


def make_settings(host: AdbHost, serial: str) -> None:
    """Make the settings that automation needs: developer options, adb, no animations."""
    for name, called in _SETTINGS.items():
        answer = host.shell(serial, f"settings put global {name} 1")
        if not answer.ok:
            said = answer.stderr.strip() or answer.stdout.strip()
            raise EmulatorError(
                f"failed to enable {called} on emulator {serial}: {said or 'it gave no reason'}",
                hint="Restart the emulator; should it fail again, delete the virtual device so"
                " that it is made again.",
                details={"serial": serial, "stderr": said},
            )
    host.shell(serial, "; ".join(f"settings put global {name} 0" for name in _ANIMATIONS))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


@dataclass(frozen=True)
class RunningEmulator:
    """An emulator that adb knows."""

    serial: str
    avd_name: str
    booted: bool

    def to_dict(self, avd: Avd, profile: EmulatorProfile) -> dict[str, Any]:
        """Return it in the form of the published program; ``avd`` is read from its files."""
        reasons = avd.unsupported_reasons(profile)
        return {
            "type": "emulator",
            "avdName": self.avd_name,
            "serial": self.serial,
            "booted": self.booted,
            "supported": not reasons,
            "unsupportedReasons": list(reasons),
        }


class AdbHost:
    """The emulators of this machine that an adb server knows."""

    def __init__(
        self, server: AdbServer, *, notify: Callable[[str], None] = lambda _: None
    ) -> None:
        self.server = server
        self._notify = notify

    def devices(self) -> list[tuple[str, str]]:
        """Return the serials and states of all devices."""
        ensure_server(self.server, notify=self._notify)
        return self.server.devices()

    def shell(self, serial: str, command: str) -> ShellResult:
        """Run a command on a device."""
        transport = AdbTransport(self.server, serial)
        try:
            return transport.shell(command)
        finally:
            transport.close()

    def console(self, serial: str, command: str) -> str:
        """Send a command to the console of an emulator."""
        return ask_console(serial, command)


def list_running(
    host: AdbHost, *, strict: bool = True, serial: str | None = None
) -> list[RunningEmulator]:
    """Return the emulators that run, or the one with this serial, in adb's order.

    One that does not answer is an error, or is left out where that is not ``strict``: it may
    just have ended.
    """
    serials = [
        known
        for known, state in host.devices()
        if state == USABLE and console_port(known) is not None and serial in (None, known)
    ]
    if not serials:
        return []
    with ThreadPoolExecutor(len(serials)) as threads:
        found = list(threads.map(lambda serial: _look(host, serial, strict=strict), serials))
    return [one for one in found if one is not None]


def has_booted(host: AdbHost, serial: str) -> bool:
    """Whether Android has started on an emulator; not yet, if it does not answer."""
    try:
        values = [host.shell(serial, f"getprop {sign}").stdout.strip() for sign in _BOOT_SIGNS]
    except ClawperatorError:
        return False
    return all(value == "1" for value in values)


def _look(host: AdbHost, serial: str, *, strict: bool) -> RunningEmulator | None:
    try:
        name = _name(host, serial)
    except ClawperatorError:
        if strict:
            raise
        return None
    return RunningEmulator(serial, name, has_booted(host, serial))


def _name(host: AdbHost, serial: str) -> str:
    lines = [line.strip() for line in host.console(serial, "avd name").splitlines()]
    name = next((line for line in lines if line and line != "OK"), "")
    if not name:
        raise EmulatorError(
            "the emulator does not report which virtual device it is",
            code=ErrorCode.UNKNOWN,
            serial=serial,
            hint="Restart it, or end it with `adb emu kill`.",
        )
    return name


def console_port(serial: str) -> int | None:
    """Return the console's port of an emulator's serial; None for another device."""
    name, _, port = serial.rpartition("-")
    return int(port) if name == "emulator" and port.isdecimal() else None


def ask_console(serial: str, command: str, *, timeout: float = 30.0) -> str:
    """Send one command and return its answer; raise if the emulator refuses it."""
    port, deadline = console_port(serial), time.monotonic() + timeout
    if port is None:
        raise _failed(serial, "it has no console: it is not an emulator")
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as connection:
            session = _Session(connection, deadline)
            if "Authentication required" in session.answer():
                session.send(f"auth {_token()}")
                session.answer()
            session.send(f"{command}\nquit")
            return session.rest()
    except _Refused as exc:
        raise _failed(serial, f"{command}: {exc}") from exc
    except OSError as exc:
        raise _failed(serial, f"its console does not answer: {exc.strerror or exc}") from exc


class _Refused(Exception):
    """The console answered KO."""


class _Session:
    """One conversation with a console."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._unread = b""

    def send(self, command: str) -> None:
        """Send a command."""
        self._connection.sendall(f"{command}\n".encode())

    def answer(self) -> str:
        """Read up to the line that ends an answer: OK, or KO with a reason."""
        lines: list[str] = []
        while (line := self._line()) != "OK":
            if line is None:
                raise ConnectionError("it closed the connection")
            lines.append(line)
        return "\n".join(lines)

    def rest(self) -> str:
        """Read to the end of the conversation; some consoles send one OK more than others."""
        lines: list[str] = []
        while (line := self._line()) is not None:
            lines.append(line)
        return "\n".join(line for line in lines if line != "OK")

    def _line(self) -> str | None:
        """Read a line; None at the end. Raise if it reports that a command was refused."""
        while b"\n" not in self._unread:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("it took too long")
            self._connection.settimeout(left)
            chunk = self._connection.recv(4096)
            if not chunk:
                return None
            if len(self._unread) > _LARGEST_ANSWER:
                raise ConnectionError("its answer has no end")
            self._unread += chunk
        read, _, self._unread = self._unread.partition(b"\n")
        line = read.decode("utf-8", "replace").strip()
        if line == "KO" or line.startswith("KO:"):
            raise _Refused(line.removeprefix("KO").lstrip(": ") or "it was refused")
        return line


def _token() -> str:
    try:
        return (Path.home() / _TOKEN_FILE).read_text("utf-8", "replace").strip()
    except (OSError, RuntimeError):
        return ""


def _failed(serial: str, why: str) -> EmulatorError:
    return EmulatorError(
        f"the emulator's console did not do as asked: {why}",
        code=ErrorCode.UNKNOWN,
        serial=serial,
        hint="Check that the emulator still runs (`adb devices`), and that ~/"
        f"{_TOKEN_FILE} belongs to this user.",
    )
