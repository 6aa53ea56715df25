"""The Operator app on a device: find it, install it, grant what it needs, restart it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from pytest_clawperator.client.device.commands import (
    installed_packages,
    lacks,
    package_name,
    shell_error,
)
from pytest_clawperator.contracts.device import OPERATOR_DEV_PACKAGE, OPERATOR_PACKAGE
from pytest_clawperator.errors import (
    ErrorCode,
    OperatorNotReadyError,
    ShellError,
    is_file,
)
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.quoting import quote

ACCESSIBILITY_SERVICE = "clawperator.operator.accessibilityservice.OperatorAccessibilityService"
NOTIFICATION_LISTENER = "action.notification.NotificationListenerService"
PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"

# The Operators that this package is made for agree with it up to here.
SUPPORTED_VERSION = "0.5"

_SERVICES, _SWITCH = "enabled_accessibility_services", "accessibility_enabled"
_LISTENERS = "enabled_notification_listeners"
_DEV_SUFFIX = ".dev"
_VERSION = re.compile(r"^\s*versionName=(.+?)\s*$", re.MULTILINE)
# A device that knows the permission otherwise, or not at all, needs no grant.
_NEEDLESS = ("unknown permission", "not a changeable permission type", "already granted")
# Nothing tells that the service has started; it is asked again after these pauses.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_GRANT_HINT = (
    "Some makers guard this: on Xiaomi and similar phones switch on 'USB debugging (Security"
    " settings)' among the developer options. Else switch the service on by hand: Settings,"
    " Accessibility, Clawperator."
)


def find_operator(transport: Transport, wanted: str) -> str:
    """Return the package if this variant of the Operator is installed; raise what is, if not."""
    package_name(wanted)
    require_variant(
        installed_packages(transport, wanted.removesuffix(_DEV_SUFFIX)), wanted, transport.serial
    )
    return wanted


def _variant_hint(wanted: str, other: str) -> Hint:
    install = Remedy(RemedyKind.INSTALL_OPERATOR, wanted)
    if os.environ.get(PACKAGE_VARIABLE) == wanted:
        return f"{PACKAGE_VARIABLE} asks for {wanted}: correct it to {other}; or ", install
    return Remedy(RemedyKind.USE_PACKAGE, other), "; or ", install


def require_variant(installed: frozenset[str], wanted: str, serial: str) -> None:
    """Raise if the wanted variant of the Operator is not among the installed packages."""
    other = other_variant(wanted)
    if wanted in installed:
        return
    if other in installed:
        raise OperatorNotReadyError(
            f"the Operator {wanted} is not installed, its other variant {other} is",
            code=ErrorCode.OPERATOR_VARIANT_MISMATCH,
            serial=serial,
            hint=_variant_hint(wanted, other),
            details={"wanted": wanted, "installed": other},
        )
    raise OperatorNotReadyError(
        f"the Operator app {wanted} is not installed",
        code=ErrorCode.OPERATOR_NOT_INSTALLED,
        serial=serial,
        hint=Remedy(RemedyKind.INSTALL_OPERATOR, wanted),
        details={"wanted": wanted},
    )


def other_variant(package: str) -> str:
    """Return the development variant of a release package, or the release of a development one."""
    if package.endswith(_DEV_SUFFIX):
        return package.removesuffix(_DEV_SUFFIX)
    return package + _DEV_SUFFIX


def operator_version(transport: Transport, package: str) -> str | None:
    """Return the version of an installed app, or None if the device does not tell."""
    return parse_version(transport.shell(f"dumpsys package {package_name(package)}").stdout)


def parse_version(dump: str) -> str | None:
    """Parse the version in the output of ``dumpsys package``."""
    found = _VERSION.search(dump)
    return found[1] if found else None


def is_supported(version: str) -> bool:
    """Whether this package is made for an Operator of this version."""
    return version.split(".")[:2] == SUPPORTED_VERSION.split(".")


def setup_operator(transport: Transport, apk: str | Path, package: str | None = None) -> str:
    """Install the Operator and grant what it needs; return its package, found if not named."""
    install_operator(transport, apk)
    found = package_name(package) if package is not None else _detect(transport)
    grant_operator(transport, found)
    if found not in installed_packages(transport, found):
        raise _not_verified(transport, f"{found} is not there after {Path(apk).name} was installed")
    return found


def install_operator(transport: Transport, apk: str | Path) -> None:
    """Install the Operator's APK over an earlier version, keeping its data."""
    path = Path(apk)
    if not is_file(path):
        raise OperatorNotReadyError(
            f"there is no file {str(path)!r} to install the Operator from",
            code=ErrorCode.OPERATOR_APK_NOT_FOUND,
            serial=transport.serial,
            hint=(Remedy(RemedyKind.CORRECT_APK), "; it is a path on this computer."),
        )
    try:
        transport.install(path)
    except ShellError as exc:
        raise OperatorNotReadyError(
            f"the Operator could not be installed from {path.name}: {exc.message}",
            code=ErrorCode.OPERATOR_INSTALL_FAILED,
            serial=transport.serial,
            hint=exc.advice or "See that the device has room, and that the file is whole.",
            details=exc.details,
        ) from exc


def grant_operator(transport: Transport, package: str) -> None:
    """Switch on the Operator's services and allow its notifications; other services stay on."""
    package_name(package)
    try:
        _enable_accessibility(transport, f"{package}/{ACCESSIBILITY_SERVICE}")
        _grant_notifications(transport, package)
        _enable_listener(transport, f"{package}/{NOTIFICATION_LISTENER}")
    except ShellError as exc:
        raise OperatorNotReadyError(
            f"the Operator {package} could not be given what it needs: {exc.message}",
            code=ErrorCode.OPERATOR_GRANT_FAILED,
            serial=transport.serial,
            hint=exc.advice,
            details=exc.details,
        ) from exc


def restart_service(transport: Transport, package: str) -> None:
    """Switch the accessibility service off and on: Android does not restart a crashed one."""
    service = f"{package_name(package)}/{ACCESSIBILITY_SERVICE}"
    before = _must(transport, f"settings get secure {_SERVICES}").stdout.strip()
    others = [word for word in before.split(":") if components(word) not in ([], [service])]
    if others:
        _put(transport, _SERVICES, ":".join(others))
    else:
        _must(transport, f"settings delete secure {_SERVICES}")
    _must(transport, f"settings put secure {_SWITCH} 1")
    _put(transport, _SERVICES, ":".join([*others, service]))


def components(value: str) -> list[str]:
    """Parse a setting that lists components; their names are completed."""
    words = [word for word in value.strip().split(":") if word not in ("", "null")]
    return [_in_full(word) for word in words]


def wait_for_ping(
    ping: Callable[[float], bool],
    *,
    serial: str,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Ping the Operator until it answers: a service that was just switched on needs a moment.

    ``ping`` takes the seconds that are left and returns whether the Operator answered.
    """
    deadline = clock() + timeout
    wait = _FIRST_PAUSE
    while True:
        left = deadline - clock()
        if left > 0 and ping(left):
            return
        left = deadline - clock()
        if left <= 0:
            break
        pause(min(wait, left))
        wait = min(wait * 2, _LONGEST_PAUSE)
    raise OperatorNotReadyError(
        f"the Operator did not answer within {timeout:g} s of being switched on",
        code=ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING,
        serial=serial,
        hint="Switch its accessibility service off and on by hand (Settings, Accessibility,"
        " Clawperator), or restart the device.",
    )


def _detect(transport: Transport) -> str:
    variants = {OPERATOR_PACKAGE, OPERATOR_DEV_PACKAGE}
    found = sorted(variants & installed_packages(transport, OPERATOR_PACKAGE))
    if len(found) == 1:
        return found[0]
    if found:
        raise _not_verified(transport, f"several variants are installed: {', '.join(found)}")
    raise _not_verified(transport, "no Operator is there after the installation")


def _not_verified(transport: Transport, message: str) -> OperatorNotReadyError:
    return OperatorNotReadyError(
        message,
        code=ErrorCode.OPERATOR_VERIFY_FAILED,
        serial=transport.serial,
        hint=(
            Remedy(RemedyKind.NAME_PACKAGE),
            "; and see that the file is the Operator's APK.",
        ),
    )


def _enable_accessibility(transport: Transport, service: str) -> None:
    before = _must(transport, f"settings get secure {_SERVICES}").stdout.strip()
    if service in components(before):
        if _must(transport, f"settings get secure {_SWITCH}").stdout.strip() != "1":
            _must(transport, f"settings put secure {_SWITCH} 1")
        return
    _must(transport, f"settings put secure {_SWITCH} 1")
    _put(transport, _SERVICES, _joined(before, service))


def _enable_listener(transport: Transport, service: str) -> None:
    before = _must(transport, f"settings get secure {_LISTENERS}").stdout.strip()
    if service not in components(before):
        _put(transport, _LISTENERS, _joined(before, service))


def _joined(before: str, service: str) -> str:
    return service if before in ("", "null") else f"{before}:{service}"


def _put(transport: Transport, setting: str, value: str) -> None:
    _must(transport, f"settings put secure {setting} {quote(value)}")


def _grant_notifications(transport: Transport, package: str) -> None:
    command = f"pm grant {package} android.permission.POST_NOTIFICATIONS"
    result = transport.shell(command)
    said = f"{result.stdout}\n{result.stderr}".lower()
    if not result.ok and not any(text in said for text in _NEEDLESS):
        raise shell_error(transport, command, result, hint=_GRANT_HINT)


def _must(transport: Transport, command: str) -> ShellResult:
    result = transport.shell(command)
    if not result.ok or lacks(result):
        raise shell_error(transport, command, result, hint=_GRANT_HINT)
    return result


def _in_full(component: str) -> str:
    package, slash, name = component.partition("/")
    return f"{package}/{package}{name}" if slash and name.startswith(".") else component
