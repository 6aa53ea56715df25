"""Device commands with their arguments checked and their failures explained."""

from __future__ import annotations

import difflib
import re

from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ShellError
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.shell import quote

_PACKAGE = re.compile(r"(?=.{1,223}\Z)(?:[A-Za-z]\w*(?:\.[A-Za-z]\w*)+|android)", re.ASCII)
_PERMISSION = re.compile(r"\w+(?:\.\w+)+", re.ASCII)
_SHOWN = 300
# `cmd` says so of a service, a service of a command, and Binder of a service without any.
_LACKING = re.compile("Can't find service|Unknown command|No shell command implementation")
GUARDED_HINT = (
    "Some makers guard this: on Xiaomi, Redmi and POCO phones switch on 'USB debugging (Security"
    " settings)' among the developer options, on OPPO, OnePlus and realme phones 'Disable"
    " permission monitoring', and restart the phone."
)
# The permissions that adb has elsewhere.
_GUARDED = re.compile("INJECT_EVENTS|GRANT_RUNTIME_PERMISSIONS|WRITE_SECURE_SETTINGS")
_REASON = re.compile(r"Exception: |^(?:Error|Failure|Failed|Security exception)\b", re.MULTILINE)


def is_package(name: str) -> bool:
    """Whether an app can have this name."""
    return _fits(name, _PACKAGE)


def package_name(name: str) -> str:
    """Return the name of an app, checked."""
    if is_package(name):
        return name
    raise ConfigurationError(
        f"{shown(name)} is not the name of an Android package",
        hint="It is letters, digits and underscores in parts joined by dots: com.example.shop.",
    )


def _fits(name: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None


def permission_name(name: str) -> str:
    """Return the name of a permission, checked."""
    if _fits(name, _PERMISSION):
        return name
    raise ConfigurationError(
        f"{shown(name)} is not the name of a permission",
        hint="It is written in full: android.permission.CAMERA.",
    )


def lacks(result: ShellResult) -> bool:
    """Whether the device has no such command, or its service does not know it."""
    said = f"{result.stdout}\n{result.stderr}"
    # A service without commands says so and calls it a success.
    return result.missing or (len(said) < _SHOWN and bool(_LACKING.search(said)))


def is_guarded(result: ShellResult) -> bool:
    """Whether the maker keeps adb from what a command does."""
    return _GUARDED.search(f"{result.stdout}\n{result.stderr}") is not None


def shell_error(
    transport: Transport, command: str, result: ShellResult, *, hint: str
) -> ShellError:
    """Return the error for a command that failed, or that the device lacks."""
    output = "\n".join(filter(None, (result.stdout.strip(), result.stderr.strip())))
    if lacks(result):
        name = " ".join(command.split()[: 2 if command.startswith("cmd ") else 1])
        message = f"this device has no `{name}`"
    else:
        message = f"`{command}` failed with exit code {result.exit_code}"
    return ShellError(
        f"{message}: {_reason(output)}",
        code=ErrorCode.DEVICE_COMMAND_FAILED,
        serial=transport.serial,
        hint=GUARDED_HINT if is_guarded(result) and GUARDED_HINT not in hint else hint,
        details={"command": command, "exitCode": result.exit_code, "output": output},
    )


def run(transport: Transport, command: str, *, hint: str, timeout: float = 30.0) -> ShellResult:
    """Run a command that must succeed, and that prints no errors when it does."""
    result = transport.shell(command, timeout=timeout)
    said = f"{result.stdout}\n{result.stderr}"
    # Before Android 7 many commands fail with an exit code of 0.
    if not result.ok or lacks(result) or _REASON.search(said):
        raise shell_error(transport, command, result, hint=hint)
    return result


def run_for_app(
    transport: Transport, package: str, command: str, *, hint: str, success: str = ""
) -> None:
    """Run a command about an app; if it fails, the error says whether the app is missing.

    ``success`` is what the command prints when it succeeded.
    """
    try:
        result = run(transport, command, hint=hint, timeout=60.0)
        if success in result.stdout:
            return
        failure = shell_error(transport, command, result, hint=hint)
    except ShellError as exc:
        failure = exc
    raise missing_app(transport, package, failure) or failure


def missing_app(transport: Transport, package: str, failure: ShellError) -> ShellError | None:
    """Return the error for an app that is not installed, if that is why a command failed."""
    installed = parse_packages(transport.shell("pm list packages").stdout)
    if not installed or package in installed:
        return None
    near = difflib.get_close_matches(package, sorted(installed), n=1)
    meant = f"Did you mean {near[0]!r}? Else install" if near else "Install"
    return ShellError(
        f"the app {package} is not installed",
        code=ErrorCode.APP_NOT_FOUND,
        serial=transport.serial,
        hint=f"{meant} it with device.install(apk).",
        details=failure.details,
    )


def installed_packages(transport: Transport, containing: str) -> frozenset[str]:
    """List the installed packages whose name contains a text."""
    command = f"pm list packages {quote(containing)}"
    result = transport.shell(command)
    if not result.ok:
        raise shell_error(
            transport,
            command,
            result,
            hint="A device that is still starting has no package manager yet: wait until "
            "`adb shell getprop sys.boot_completed` prints 1.",
        )
    return parse_packages(result.stdout)


def parse_packages(output: str) -> frozenset[str]:
    """Return the names that ``pm list packages`` printed."""
    lines = (line.strip() for line in output.splitlines())
    return frozenset(line.removeprefix("package:") for line in lines if line.startswith("package:"))


def _reason(output: str) -> str:
    """Return the line of a stack trace that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _REASON.search(line)]
    return (telling or lines or ["it said nothing"])[0][:_SHOWN]
