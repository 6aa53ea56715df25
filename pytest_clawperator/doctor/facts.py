"""What the doctor reads: about this computer, its adb servers, and a device with its Operator."""

from __future__ import annotations

import platform
import re
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path, PurePath

from pytest_clawperator.client.device_commands import is_guarded, lacks
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.health import Readiness, ScreenState, read_readiness, screen_state
from pytest_clawperator.devices.holder import Holder
from pytest_clawperator.devices.inventory import ask_all, number, read_device
from pytest_clawperator.devices.operator import parse_version_code
from pytest_clawperator.errors import (
    AdbUnavailableError,
    ClawperatorError,
    DeviceError,
    TransportError,
)
from pytest_clawperator.transport.adb_program import find_user_adb
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.server import DEFAULT_PORT, ensure_server
from pytest_clawperator.transport.wire import AdbServer

_PROCESSES = Path("/proc")

_LISTED_WITHIN = 5.0

_PROGRAMS = ("adb", "adb.exe")

_PORT = re.compile(r"(?:\w+:)*(\d{1,5})")


@dataclass(frozen=True)
class RunningServer:
    """A process that is an adb server; ``takes_usb`` unless it is limited to one device."""

    pid: int
    port: int | None
    takes_usb: bool


def running_servers() -> list[RunningServer]:
    """List the adb servers of this computer; none where processes cannot be listed."""
    found = (as_server(pid, words) for pid, words in _processes())
    return [server for server in found if server is not None]


def as_server(pid: int, words: Sequence[str]) -> RunningServer | None:
    """Return the server that a command line starts; None if it starts none."""
    if not words or PurePath(words[0]).name not in _PROGRAMS:
        return None
    if not {"server", "fork-server"} & set(words[1:]):
        return None
    return RunningServer(pid, _port(words), takes_usb="--one-device" not in words)


def _port(words: Sequence[str]) -> int | None:
    for option, value in pairwise(words[1:]):
        if option in ("-P", "-L"):
            found = _PORT.fullmatch(value)
            # `acceptfd:3` names an open file, and no port.
            return int(found[1]) if found and not value.startswith("acceptfd:") else None
    return DEFAULT_PORT


def _processes() -> Iterator[tuple[int, list[str]]]:
    if (_PROCESSES / "self" / "cmdline").exists():
        for folder in _PROCESSES.glob("[0-9]*"):
            with suppress(OSError):  # it may end in between
                text = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
                yield int(folder.name), text.rstrip("\0").split("\0")
        return
    try:
        listed = subprocess.run(
            ["ps", "-axo", "pid=,args="],  # noqa: S607 - wherever the system has it
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LISTED_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in listed.stdout.decode("utf-8", "replace").splitlines():
        pid, _, command = line.strip().partition(" ")
        if pid.isdecimal():
            yield int(pid), command.split()


_VERSION_WITHIN = 5.0

_NUMBER = re.compile(r"Android Debug Bridge version 1\.0\.(\d+)")


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """What this computer has; ``..._problem`` is why something is missing.

    ``adb_number`` and ``server_number`` are the versions of the protocol that program and
    server speak. ``server_started`` is set if the server was started for this check.
    """

    python: str
    package_version: str
    server: AdbServer
    adb: Path | None = None
    adb_version: str = ""
    adb_number: int | None = None
    adb_problem: ClawperatorError | None = None
    server_number: int | None = None
    server_problem: ClawperatorError | None = None
    server_started: str = ""
    servers: tuple[RunningServer, ...] = ()


def package_version() -> str:
    """Return the version of this package."""
    try:
        return version("pytest-clawperator")
    except PackageNotFoundError:  # it is used from its sources
        return "0"


def gather_host(server: AdbServer) -> HostFacts:
    """Find out what this computer has; an adb server is started where none runs, as always."""
    adb, adb_problem = _find_adb()
    said = _ask_version(adb) if adb is not None else ""
    number = _NUMBER.search(said)
    started: list[str] = []
    server_number, server_problem = None, None
    try:
        ensure_server(server, notify=started.append)
        server_number = server.version()
    except ClawperatorError as error:
        server_problem = error
    return HostFacts(
        python=platform.python_version(),
        package_version=package_version(),
        server=server,
        adb=adb,
        adb_version=said.partition("\n")[0].strip(),
        adb_number=int(number[1]) if number else None,
        adb_problem=adb_problem,
        server_number=server_number,
        server_problem=server_problem,
        server_started="".join(started),
        servers=tuple(running_servers()),
    )


def _find_adb() -> tuple[Path | None, ClawperatorError | None]:
    try:
        return find_user_adb(), None
    except AdbUnavailableError as error:
        return None, error


def _ask_version(adb: Path) -> str:
    """Return what the program says about itself; nothing if it cannot be run."""
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own adb
            [adb, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode("utf-8", "replace")


LOG_TAG = "ClawperatorDoctor"


_FREE = re.compile(r"^\S+ +\d+ +\d+ +(\d+) +\d+% ", re.MULTILINE)

_BUFFER = re.compile(r"\bmain: ring buffer is (\d+) ?([KMG]?)i?b", re.IGNORECASE)

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}

_BOUND = re.compile(r"Bound services:\{(.*?)\}\s*$", re.MULTILINE | re.DOTALL)

# A level is a letter or a word; a warning of the linker is more than that.
_LEVEL = re.compile(r"^\s*([VDIWEFAS])[A-Z]*\s*$", re.MULTILINE | re.IGNORECASE)

# The servers of other test tools, which use Android's UiAutomation.
_AUTOMATION = re.compile(r"uiautomator|appium|maestro|wetest|\batx\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Automation:
    """Whether a UiAutomation session holds a device, whose it may be, and what it switched off."""

    is_held: bool
    apps: tuple[str, ...] = ()
    services_bound: bool | None = None


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """What is known about a device; None where it does not report it.

    ``silence`` is why its shell did not answer, ``handshake`` why the Operator did not, and
    ``is_pinged`` whether that was asked. ``logged`` are the priorities of test lines that came
    into the log, ``skew`` is how far the device's clock is ahead, in seconds.
    """

    serial: str
    package: str
    info: DeviceInfo | None = None
    silence: ClawperatorError | None = None
    holder: Holder | None = None
    lease_problem: ClawperatorError | None = None
    readiness: Readiness = field(default_factory=Readiness)
    version_code: int | None = None
    settings: Mapping[str, str] | None = None
    screen: ScreenState = field(default_factory=ScreenState)
    automation: Automation | None = None
    log_level: str | None = None
    logged: frozenset[str] | None = None
    log_buffer: int | None = None
    standby_bucket: int | None = None
    background: str | None = None
    free_kib: int | None = None
    skew: float | None = None
    is_guarded: bool | None = None
    is_pinged: bool = False
    handshake: ClawperatorError | None = None
    smoke: ClawperatorError | None = None
    is_smoke_run: bool = False


def gather_device(
    transport: Transport,
    package: str,
    *,
    server: AdbServer,
    left: Callable[[], float],
    clock: Callable[[], float] = time.time,
) -> DeviceFacts:
    """Read a device; ``left`` are the seconds that it may still take."""
    facts = DeviceFacts(serial=transport.serial, package=package)
    try:
        facts = replace(facts, info=read_device(transport, server=server, timeout=left()))
        facts = replace(facts, readiness=read_readiness(transport, package, timeout=left()))
        facts = replace(facts, screen=screen_state(transport, timeout=left()))
        return _with_conditions(facts, transport, left(), clock)
    except (DeviceError, TransportError) as error:
        return replace(facts, silence=error)


def _with_conditions(
    facts: DeviceFacts, transport: Transport, timeout: float, clock: Callable[[], float]
) -> DeviceFacts:
    nonce = secrets.token_hex(8)
    package = facts.package
    begin = clock()
    answers = ask_all(
        transport,
        {
            "clock": "date +%s",
            # Written first and read last, so that the log has time to take them.
            "log": "; ".join(f"log -p {level} -t {LOG_TAG} {nonce}" for level in "die"),
            "levels": "getprop log.tag; getprop persist.log.tag",
            "settings": "settings list global",
            "dump": f"dumpsys package {package}",
            "accessibility": "dumpsys accessibility",
            "names": "ps -A -o NAME",
            "bucket": f"am get-standby-bucket {package}",
            "background": f"cmd appops get {package} RUN_ANY_IN_BACKGROUND",
            "storage": "df -k /data",
            "buffer": "logcat -g",
            # A key that means nothing, and does nothing where it may be pressed.
            "key": "input keyevent 0",
            "logged": f"logcat -d -v brief -s {LOG_TAG}:V",
        },
        timeout=timeout,
    )
    return replace(
        facts,
        version_code=parse_version_code(answers["dump"].stdout),
        settings=_settings(answers["settings"]),
        automation=_automation(answers["accessibility"], answers["names"]),
        log_level=_level(answers["levels"].stdout),
        logged=_logged(answers["log"], answers["logged"], nonce),
        log_buffer=_buffer(answers["buffer"].stdout),
        standby_bucket=number(answers["bucket"]),
        background=_background(answers["background"].stdout),
        free_kib=_free(answers["storage"].stdout),
        skew=_skew(answers["clock"], begin, clock()),
        is_guarded=is_guarded(answers["key"]),
    )


def _settings(answer: ShellResult) -> dict[str, str] | None:
    if not answer.ok or lacks(answer):
        return None
    rows = (line.partition("=") for line in answer.stdout.splitlines())
    return {key: value.strip() for key, equals, value in rows if equals}


def _automation(dump: ShellResult, names: ShellResult) -> Automation | None:
    if not dump.ok or lacks(dump) or "ACCESSIBILITY MANAGER" not in dump.stdout:
        return None
    bound = _BOUND.search(dump.stdout)
    apps = {name.strip() for name in names.stdout.splitlines() if _AUTOMATION.search(name)}
    return Automation(
        is_held="Ui Automation[" in dump.stdout,
        apps=tuple(sorted(apps)),
        services_bound=bool(bound[1].strip()) if bound else None,
    )


def _level(output: str) -> str | None:
    """Return the first letter of the level that the properties set, if they do."""
    found = _LEVEL.search(output)
    return found[1].upper() if found else None


def _logged(written: ShellResult, read: ShellResult, nonce: str) -> frozenset[str] | None:
    if not written.ok or not read.ok:
        return None
    return frozenset(line[0] for line in read.stdout.splitlines() if line.endswith(f": {nonce}"))


def _buffer(output: str) -> int | None:
    found = _BUFFER.search(output)
    return int(found[1]) * _UNITS[found[2].upper()] if found else None


def _background(output: str) -> str | None:
    found = re.search(r"RUN_ANY_IN_BACKGROUND: (\w+)", output)
    return found[1] if found else None


def _free(output: str) -> int | None:
    found = _FREE.search(output)
    return int(found[1]) if found else None


def _skew(answer: ShellResult, begin: float, end: float) -> float | None:
    """Return how far the device's clock is ahead; within the time of the question it is right."""
    reported = number(answer)
    if reported is None:
        return None
    # The device reports whole seconds, read between the question and the answer.
    if begin - 1 <= reported <= end + 1:
        return 0.0
    return reported - begin if reported < begin else reported - end
