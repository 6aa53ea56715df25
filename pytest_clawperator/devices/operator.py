"""The Operator app on a device: find it, install it, grant what it needs, restart it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.client.device_commands import (
    GUARDED_HINT,
    installed_packages,
    lacks,
    package_name,
    shell_error,
)
from pytest_clawperator.contracts.device_info import OPERATOR_DEV_PACKAGE, OPERATOR_PACKAGE
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError, ShellError, is_file
from pytest_clawperator.remedies import Hint, Remedy, RemedyKind
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.shell import quote

ACCESSIBILITY_SERVICE = "clawperator.operator.accessibilityservice.OperatorAccessibilityService"

NOTIFICATION_LISTENER = "action.notification.NotificationListenerService"

PACKAGE_VARIABLE = "CLAWPERATOR_OPERATOR_PACKAGE"


# The Operators that this package is made for agree with it up to here.
SUPPORTED_VERSION = "0.5"


_SERVICES, _SWITCH = "enabled_accessibility_services", "accessibility_enabled"

_LISTENERS = "enabled_notification_listeners"

_DEV_SUFFIX = ".dev"

_VERSION_CODE = re.compile(r"^\s*versionCode=(\d+)", re.MULTILINE)
_VERSION = re.compile(r"^\s*versionName=(.+?)\s*$", re.MULTILINE)

# A device that knows the permission otherwise, or not at all, needs no grant.
_NEEDLESS = ("unknown permission", "not a changeable permission type", "already granted")

# Android does not announce that the service has started, so it is asked after these pauses.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0

_GRANT_HINT = (
    f"{GUARDED_HINT} Else switch the service on by hand: Settings, Accessibility, Clawperator."
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


def require_variant(
    installed: frozenset[str], wanted: str, serial: str, *, user: int | None = None
) -> None:
    """Raise if the wanted variant of the Operator is not among a user's installed packages."""
    other = other_variant(wanted)
    # The first user, whom nearly every phone has alone, has the number 0.
    whom = f" for user {user}, whose screen is shown" if user else ""
    if wanted in installed:
        return
    if other in installed:
        raise OperatorNotReadyError(
            f"the Operator {wanted} is not installed{whom}, its other variant {other} is",
            code=ErrorCode.OPERATOR_VARIANT_MISMATCH,
            serial=serial,
            hint=_variant_hint(wanted, other),
            details={"wanted": wanted, "installed": other},
        )
    raise OperatorNotReadyError(
        f"the Operator app {wanted} is not installed{whom}",
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
    """Return the version of an installed app, or None if the device does not report it."""
    return parse_version(transport.shell(f"dumpsys package {package_name(package)}").stdout)


def parse_version(dump: str) -> str | None:
    """Parse the version in the output of ``dumpsys package``."""
    found = _VERSION.search(dump)
    return found[1] if found else None


def parse_version_code(dump: str) -> int | None:
    """Parse the number of the version in the output of ``dumpsys package``."""
    found = _VERSION_CODE.search(dump)
    return int(found[1]) if found else None


def is_supported(version: str) -> bool:
    """Whether this package is made for an Operator of this version."""
    return version.split(".")[:2] == SUPPORTED_VERSION.split(".")


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


@dataclass(frozen=True)
class Grant:
    """One thing that the Operator needs: whether it ``had`` it before, or why it lacks it.

    ``needless`` is the answer of a device on which it needs no grant.
    """

    had: bool = False
    needless: str = ""
    error: ShellError | None = None

    @property
    def ok(self) -> bool:
        """Whether the Operator has it now, or does not need it."""
        return self.error is None


@dataclass(frozen=True, kw_only=True)
class Grants:
    """What the Operator needs: its accessibility service, notifications, and their listener."""

    accessibility: Grant
    notification: Grant
    listener: Grant

    @property
    def error(self) -> ShellError | None:
        """The first error, if one failed."""
        errors = (self.accessibility.error, self.notification.error, self.listener.error)
        return next(filter(None, errors), None)

    @property
    def is_unchanged(self) -> bool:
        """Whether both services were on before."""
        return self.accessibility.had and self.listener.had


def grant_operator(transport: Transport, package: str) -> Grants:
    """Switch on the Operator's services and allow its notifications; other services stay on."""
    grants = grant_each(transport, package)
    if grants.error is not None:
        raise not_granted(grants.error, package) from grants.error
    return grants


def grant_each(transport: Transport, package: str) -> Grants:
    """Give the Operator each thing that it needs, whichever of them fail."""
    package_name(package)
    return Grants(
        accessibility=_enable_accessibility(transport, f"{package}/{ACCESSIBILITY_SERVICE}"),
        notification=_grant_notifications(transport, package),
        listener=_enable_listener(transport, f"{package}/{NOTIFICATION_LISTENER}"),
    )


def report_grants(grants: Grants, notify: Callable[[str], None]) -> None:
    """Report each change of what the Operator has; nothing if it had everything before."""
    if grants.accessibility.ok and not grants.accessibility.had:
        notify("switched the Operator's accessibility service on")
    if not grants.is_unchanged and grants.notification.ok and not grants.notification.needless:
        notify("made sure that the Operator may show notifications")
    if grants.listener.ok and not grants.listener.had:
        notify("switched the Operator's notification listener on")


def not_granted(
    error: ShellError, package: str, *, code: ErrorCode = ErrorCode.OPERATOR_GRANT_FAILED
) -> OperatorNotReadyError:
    """Return the error for an Operator that could not be given what it needs."""
    return OperatorNotReadyError(
        f"the Operator {package} could not be given what it needs: {error.message}",
        code=code,
        serial=error.serial,
        hint=error.advice,
        details=error.details,
    )


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


def _tried(grant: Callable[[], Grant]) -> Grant:
    try:
        return grant()
    except ShellError as error:
        return Grant(error=error)


def _enable_accessibility(transport: Transport, service: str) -> Grant:
    def enable() -> Grant:
        before = _must(transport, f"settings get secure {_SERVICES}").stdout.strip()
        if service not in components(before):
            _must(transport, f"settings put secure {_SWITCH} 1")
            _put(transport, _SERVICES, _joined(before, service))
            return Grant()
        if _must(transport, f"settings get secure {_SWITCH}").stdout.strip() == "1":
            return Grant(had=True)
        _must(transport, f"settings put secure {_SWITCH} 1")
        return Grant()

    return _tried(enable)


def _enable_listener(transport: Transport, service: str) -> Grant:
    def enable() -> Grant:
        before = _must(transport, f"settings get secure {_LISTENERS}").stdout.strip()
        if service in components(before):
            return Grant(had=True)
        _put(transport, _LISTENERS, _joined(before, service))
        return Grant()

    return _tried(enable)


def _joined(before: str, service: str) -> str:
    return service if before in ("", "null") else f"{before}:{service}"


def _put(transport: Transport, setting: str, value: str) -> None:
    _must(transport, f"settings put secure {setting} {quote(value)}")


def _grant_notifications(transport: Transport, package: str) -> Grant:
    command = f"pm grant {package} android.permission.POST_NOTIFICATIONS"
    result = transport.shell(command)
    said = f"{result.stdout}\n{result.stderr}".strip()
    if result.ok:
        return Grant()
    if any(text in said.lower() for text in _NEEDLESS):
        return Grant(needless=said.splitlines()[0])
    return Grant(error=shell_error(transport, command, result, hint=_GRANT_HINT))


def _must(transport: Transport, command: str) -> ShellResult:
    result = transport.shell(command)
    if not result.ok or lacks(result):
        raise shell_error(transport, command, result, hint=_GRANT_HINT)
    return result


def _in_full(component: str) -> str:
    package, slash, name = component.partition("/")
    return f"{package}/{package}{name}" if slash and name.startswith(".") else component


Notify = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """An Operator that was set up: its package, and what it was given."""

    package: str
    grants: Grants

    @property
    def is_unchanged(self) -> bool:
        """Whether it had what it needs before."""
        return self.grants.is_unchanged and not self.grants.notification.needless


def set_up_operator(
    transport: Transport,
    apk: str | Path,
    package: str | None = None,
    *,
    notify: Notify = lambda text: None,
) -> SetUp:
    """Install the Operator and grant what it needs; its package is found if not named.

    An error has in its details what was done before, in the form of the published program.
    """
    done: dict[str, Any] = {"operatorPackage": package or "<unknown>", "install": {"ok": False}}
    try:
        install_operator(transport, apk)
        notify(f"installed {Path(apk).name}")
        done["install"] = {"ok": True}
        found = package_name(package) if package is not None else _detect(transport)
        done["operatorPackage"] = found
        if package is not None:
            _require_package(transport, found, Path(apk).name)
        grants = grant_each(transport, found)
        done["permissions"] = permissions(grants)
        report_grants(grants, notify)
        if grants.error is not None:
            raise not_granted(grants.error, found) from grants.error
        _require_package(transport, found, Path(apk).name)
    except OperatorNotReadyError as error:
        if error.code == ErrorCode.OPERATOR_VERIFY_FAILED:
            done["verification"] = {"ok": False, "packageInstalled": False, "error": error.message}
        elif not done["install"]["ok"]:
            done["install"] = {"ok": False, "error": error.message}
        error.details = {**error.details, **done}
        raise
    return SetUp(package=found, grants=grants)


def permissions(grants: Grants) -> dict[str, Any]:
    """Return what the Operator was given, in the form of the published program."""
    return {
        "accessibility": _service(grants.accessibility),
        "notification": {
            **_outcome(grants.notification),
            "skipped": bool(grants.notification.needless),
        },
        "notificationListener": _service(grants.listener),
    }


def _outcome(grant: Grant) -> dict[str, Any]:
    if grant.error is not None:
        return {"ok": False, "error": grant.error.message}
    return {"ok": True, **({"error": grant.needless} if grant.needless else {})}


def _service(grant: Grant) -> dict[str, Any]:
    return {**_outcome(grant), "alreadyEnabled": grant.had}


def _detect(transport: Transport) -> str:
    variants = {OPERATOR_PACKAGE, OPERATOR_DEV_PACKAGE}
    found = sorted(variants & installed_packages(transport, OPERATOR_PACKAGE))
    if len(found) == 1:
        return found[0]
    if found:
        raise _not_verified(transport, f"several variants are installed: {', '.join(found)}")
    raise _not_verified(transport, "no Operator is there after the installation")


def _require_package(transport: Transport, package: str, apk: str) -> None:
    """Raise if the device lacks the package just installed, naming the variant that it has."""
    other = other_variant(package)
    installed = installed_packages(transport, min(package, other))  # which has both in it
    if package in installed:
        return
    error = _not_verified(transport, f"{package} is not there after {apk} was installed")
    if other in installed:
        error.message += f", but {other} is"
        error.advice = (Remedy(RemedyKind.USE_PACKAGE, other),)
    raise error


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


# A debug build ends in `-d`.
_RELEASE = re.compile(r"\d+\.\d+\.\d+(?:-d)?")


def version_problem(
    package: str, version: str | None, *, serial: str
) -> OperatorNotReadyError | None:
    """Return why an Operator does not fit; its major and minor number must be ours."""
    install = Remedy(RemedyKind.INSTALL_OPERATOR, package)
    if version is None:
        return OperatorNotReadyError(
            f"the device does not report the version of {package}",
            code=ErrorCode.APK_VERSION_UNREADABLE,
            serial=serial,
            hint=(f"See `adb shell dumpsys package {package}`, or ", install),
        )
    if not _RELEASE.fullmatch(version.strip()):
        return OperatorNotReadyError(
            f"the Operator {package} reports the version {version!r}, expected one such as 0.5.3",
            code=ErrorCode.APK_VERSION_INVALID,
            serial=serial,
            hint=install,
        )
    if not is_supported(version.strip()):
        return OperatorNotReadyError(
            f"the Operator {package} is of version {version}, and this package is made for"
            f" {SUPPORTED_VERSION}",
            code=ErrorCode.VERSION_INCOMPATIBLE,
            serial=serial,
            hint=install,
        )
    return None
