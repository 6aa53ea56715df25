"""Whether a device and its Operator are ready, in one round trip."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_clawperator.client.device_commands import lacks, package_name, parse_packages
from pytest_clawperator.devices.operator import (
    ACCESSIBILITY_SERVICE,
    components,
    other_variant,
    parse_version,
    require_variant,
)
from pytest_clawperator.devices.round_trip import ask_all, last_line, number
from pytest_clawperator.errors import DeviceUnavailableError, ErrorCode, OperatorNotReadyError
from pytest_clawperator.execution.processes import (
    PROCESSES_COMMAND,
    Processes,
    parse_processes,
)
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.interface import ShellResult, Transport

_USER = re.compile(
    r"^\s*User (\d+):.*\binstalled=(true|false)\b.*\bstopped=(true|false)", re.MULTILINE
)
_NO_SERVICE = "Can't find service"


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """What a device says about itself and its Operator; None where it does not tell.

    ``installed`` are the variants of the Operator that are there, ``service_on`` whether its
    accessibility service is switched on, ``stopped`` whether it was force-stopped,
    ``processes`` which processes run. All of it is of the ``user`` whose screen is shown.
    """

    booted: bool | None = None
    installed: frozenset[str] | None = None
    service_on: bool | None = None
    stopped: bool | None = None
    version: str | None = None
    processes: Processes | None = None
    user: int | None = None


def read_readiness(transport: Transport, package: str, *, timeout: float = 30.0) -> Readiness:
    """Read the state of a device and of its Operator."""
    answers = ask_all(
        transport,
        {
            "booted": "getprop sys.boot_completed",
            "packages": f"pm list packages {package_name(package).removesuffix('.dev')}",
            "services": "settings get secure enabled_accessibility_services",
            "switch": "settings get secure accessibility_enabled",
            "dump": f"dumpsys package {package}",
            "processes": PROCESSES_COMMAND,
            "user": "am get-current-user",
        },
        timeout=timeout,
    )
    user = number(answers["user"])
    installed, stopped = _of_user(answers["dump"].stdout, package, user)
    return Readiness(
        booted=_booted(answers["booted"], answers["packages"]),
        installed=_variants(answers["packages"], package, is_missing=installed is False),
        service_on=_service_on(answers["services"], answers["switch"], package),
        stopped=stopped,
        version=parse_version(answers["dump"].stdout),
        processes=parse_processes(answers["processes"].stdout, answers["dump"].stdout, package),
        user=user,
    )


def check_ready(transport: Transport, package: str) -> Readiness:
    """Read the state of a device; raise what keeps the Operator from working on it."""
    return judge(read_readiness(transport, package), package, serial=transport.serial)


def judge(found: Readiness, package: str, *, serial: str) -> Readiness:
    """Raise what keeps the Operator from working; what is unknown counts as fine."""
    if found.booted is False:
        raise DeviceUnavailableError(
            "the device has not finished starting",
            serial=serial,
            hint="Wait until `adb shell getprop sys.boot_completed` prints 1.",
        )
    if found.installed is not None:
        require_variant(found.installed, package, serial, user=found.user)
    if found.service_on is False or found.stopped:
        raise _service_off(serial, package, stopped=bool(found.stopped))
    return found


def _booted(told: ShellResult, packages: ShellResult) -> bool | None:
    is_booted = {"1": True, "0": False}.get(last_line(told))
    if told.ok and is_booted is None and _NO_SERVICE in packages.stdout:
        return False  # nothing is said before the start is over, and no service answers yet
    return is_booted


def _of_user(dump: str, package: str, user: int | None) -> tuple[bool | None, bool | None]:
    """Return whether an app is installed and stopped for a user, as ``dumpsys package`` says.

    Where nothing tells which user is there, one for whom the app works is enough.
    """
    start = max(dump.find(f"Package [{package}]"), 0)
    rows = [found.groups() for found in _USER.finditer(dump, start)]
    if user is not None:
        rows = [row for row in rows if int(row[0]) == user]
    states = [stopped for _, installed, stopped in rows if installed == "true"]
    is_installed = bool(states) if user is not None and rows else None
    return is_installed, ("false" not in states if states else None)


def _variants(answer: ShellResult, package: str, *, is_missing: bool) -> frozenset[str] | None:
    if not answer.ok:
        return None
    found = parse_packages(answer.stdout) & {package, other_variant(package)}
    return found - {package} if is_missing else found


def _service_on(services: ShellResult, switch: ShellResult, package: str) -> bool | None:
    if not services.ok or lacks(services):
        return None
    # A device that does not tell about the switch is judged by the list alone.
    off = switch.ok and last_line(switch) in ("0", "null")
    return not off and f"{package}/{ACCESSIBILITY_SERVICE}" in components(last_line(services))


def _service_off(serial: str, package: str, *, stopped: bool) -> OperatorNotReadyError:
    service = f"{package}/{ACCESSIBILITY_SERVICE}"
    what = "was force-stopped" if stopped else "has its accessibility service switched off"
    return OperatorNotReadyError(
        f"the Operator {package} {what}",
        code=ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
        serial=serial,
        hint=Remedy(RemedyKind.SWITCH_SERVICE_ON),
        details={"service": service, "stopped": stopped},
    )
