"""The emulators that run now, what they are called, and whether they have booted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_clawperator.emulators.avd import Avd
from pytest_clawperator.emulators.console import ask_console, console_port
from pytest_clawperator.emulators.profile import EmulatorProfile
from pytest_clawperator.errors import ClawperatorError, EmulatorError, ErrorCode
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.server import ensure_server
from pytest_clawperator.transport.wire import AdbServer

USABLE = "device"
_BOOT_SIGNS = ("sys.boot_completed", "dev.bootcomplete")


@dataclass(frozen=True)
class RunningEmulator:
    """An emulator that adb knows."""

    serial: str
    avd_name: str
    booted: bool

    def to_dict(self, avd: Avd, profile: EmulatorProfile) -> dict[str, Any]:
        """Return it in the form of the published program; ``avd`` is what its files say."""
        reasons = avd.unsupported_reasons(profile)
        return {
            "type": "emulator",
            "avdName": self.avd_name,
            "serial": self.serial,
            "booted": self.booted,
            "supported": not reasons,
            "unsupportedReasons": list(reasons),
        }


class Host(Protocol):
    """What is asked of adb and of consoles."""

    def devices(self) -> list[tuple[str, str]]:
        """Return the serials and states of all devices."""

    def shell(self, serial: str, command: str) -> ShellResult:
        """Run a command on a device."""

    def console(self, serial: str, command: str) -> str:
        """Send a command to the console of an emulator."""


class AdbHost:
    """The emulators of this machine that an adb server knows."""

    def __init__(self, server: AdbServer, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.server = server
        self._say = say

    def devices(self) -> list[tuple[str, str]]:
        """Return the serials and states of all devices."""
        ensure_server(self.server, say=self._say)
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
    host: Host, *, strict: bool = True, serial: str | None = None
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


def has_booted(host: Host, serial: str) -> bool:
    """Whether Android has started on an emulator; not yet, if it does not answer."""
    try:
        values = [host.shell(serial, f"getprop {sign}").stdout.strip() for sign in _BOOT_SIGNS]
    except ClawperatorError:
        return False
    return all(value == "1" for value in values)


def _look(host: Host, serial: str, *, strict: bool) -> RunningEmulator | None:
    try:
        name = _name(host, serial)
    except ClawperatorError:
        if strict:
            raise
        return None
    return RunningEmulator(serial, name, has_booted(host, serial))


def _name(host: Host, serial: str) -> str:
    lines = [line.strip() for line in host.console(serial, "avd name").splitlines()]
    name = next((line for line in lines if line and line != "OK"), "")
    if not name:
        raise EmulatorError(
            "the emulator does not say which virtual device it is",
            code=ErrorCode.UNKNOWN,
            serial=serial,
            hint="Restart it, or end it with `adb emu kill`.",
        )
    return name
