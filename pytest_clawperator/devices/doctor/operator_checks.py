"""The checks of the device's shell and of the Operator on it."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.client.device.commands import is_package
from pytest_clawperator.devices.doctor.device_facts import DeviceFacts
from pytest_clawperator.devices.doctor.report import (
    ByHand,
    DeviceCommand,
    Finding,
    Fix,
    Regrant,
    failed,
    passed,
    warned,
)
from pytest_clawperator.devices.operator import judge_version, other_variant
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind

_NO_SHELL = Fix(
    "Have the device answer",
    (
        ByHand("Unlock the device, and look whether a dialog waits on its screen."),
        ByHand("Unplug it and plug it in again, or restart it."),
    ),
)


def check_capability(facts: DeviceFacts) -> Finding:
    """Check that the device's shell answers."""
    check = "device.capability"
    info = facts.info
    if info is None or info.api_level is None:
        silence = facts.silence
        return failed(
            check,
            silence.code if silence else ErrorCode.DEVICE_SHELL_UNAVAILABLE,
            "The device's shell does not answer.",
            detail=silence.message if silence else "It does not tell its version of Android.",
            fix=_NO_SHELL,
        )
    size = f"{info.size[0]}x{info.size[1]}" if info.size else None
    return passed(
        check,
        f"Its shell answers: {info.model or 'unknown model'}, API {info.api_level}.",
        model=info.model,
        manufacturer=info.manufacturer,
        sdk=info.api_level,
        size=size,
        density=info.density,
    )


def check_boot(facts: DeviceFacts) -> Finding | None:
    """Check that Android has finished starting."""
    check = "device.boot"
    if facts.readiness.booted is None:
        return None
    if not facts.readiness.booted:
        return failed(
            check,
            ErrorCode.DEVICE_OFFLINE,
            "Android has not finished starting.",
            fix=Fix(
                "Wait for it",
                (ByHand("Wait until `adb shell getprop sys.boot_completed` prints 1."),),
            ),
        )
    return passed(check, "Android has finished starting.")


def check_presence(facts: DeviceFacts) -> Finding:
    """Check that the wanted variant of the Operator is installed."""
    check = "readiness.apk.presence"
    installed, package = facts.readiness.installed, facts.package
    if installed is None:
        return failed(
            check,
            ErrorCode.DEVICE_SHELL_UNAVAILABLE,
            "The installed packages could not be listed.",
            detail=facts.silence.message if facts.silence else "",
            operatorPackage=package,
        )
    if package in installed:
        return passed(check, f"{package} is installed.")
    install = ByHand(Remedy(RemedyKind.INSTALL_OPERATOR, package))
    other = other_variant(package)
    if other in installed:
        return warned(
            check,
            ErrorCode.OPERATOR_VARIANT_MISMATCH,
            "The other variant of the Operator is installed.",
            detail=f"Expected {package}, found {other}.",
            fix=Fix("Use one variant", (ByHand(Remedy(RemedyKind.USE_PACKAGE, other)), install)),
            operatorPackage=package,
            installed=other,
        )
    return failed(
        check,
        ErrorCode.OPERATOR_NOT_INSTALLED,
        "The Operator is not installed.",
        detail=f"The package {package} is not on the device.",
        fix=Fix("Install the Operator", (install,)),
        operatorPackage=package,
    )


def check_version(facts: DeviceFacts) -> Finding | None:
    """Check that the Operator is of a version that this package is made for."""
    check = "readiness.version.compatibility"
    if not _is_installed(facts):
        return None
    found = judge_version(
        facts.package, facts.readiness.version, facts.version_code, serial=facts.serial
    )
    evidence: dict[str, Any] = {
        "operatorPackage": facts.package,
        "supported": found.supported,
        "apkVersion": found.version,
        "apkVersionCode": found.version_code,
    }
    if found.problem is None:
        told = f"Operator {found.version} fits: made for {found.supported}."
        return passed(check, told, **evidence)
    install = ByHand(Remedy(RemedyKind.INSTALL_OPERATOR, facts.package))
    return failed(
        check,
        found.problem.code,
        "The Operator is of another version.",
        detail=found.problem.message,
        fix=Fix("Install another Operator", (install,)),
        **evidence,
    )


def check_developer_options(facts: DeviceFacts) -> Finding | None:
    """Check that the developer options are on."""
    return _switch(
        facts,
        "readiness.settings.dev_options",
        ErrorCode.DEVICE_DEV_OPTIONS_DISABLED,
        "Developer options",
        "development_settings_enabled",
        "On the device: Settings, About phone, tap the build number seven times.",
    )


def check_usb_debugging(facts: DeviceFacts) -> Finding | None:
    """Check that USB debugging is on: else the device is lost when it is next plugged in."""
    return _switch(
        facts,
        "readiness.settings.usb_debugging",
        ErrorCode.DEVICE_USB_DEBUGGING_DISABLED,
        "USB debugging",
        "adb_enabled",
        "On the device: Settings, System, Developer options, USB debugging.",
    )


def _switch(
    facts: DeviceFacts, check: str, code: ErrorCode, name: str, setting: str, by_hand: str
) -> Finding | None:
    if facts.settings is None:
        return None
    is_or_are = "are" if name.endswith("s") else "is"
    if facts.settings.get(setting) == "1":
        return passed(check, f"{name} {is_or_are} enabled.")
    steps = (DeviceCommand(f"settings put global {setting} 1"), ByHand(by_hand))
    return warned(
        check, code, f"{name} {is_or_are} disabled.", fix=Fix(f"Enable {name.lower()}", steps)
    )


def check_automation(facts: DeviceFacts) -> Finding | None:
    """Check that no other test tool holds the device: Android lets only one be there."""
    check = "readiness.uiautomation"
    if facts.automation is None:
        return None
    if not facts.automation.is_held:
        return passed(check, "No other test tool holds the device.")
    who = ", ".join(facts.automation.apps)
    apps = [name for name in facts.automation.apps if is_package(name)]
    tell = warned if facts.automation.services_bound else failed
    return tell(
        check,
        ErrorCode.DEVICE_UI_AUTOMATION_BUSY,
        "Another test tool holds the device.",
        detail=(f"It may be {who}. " if who else "")
        + "Android switches accessibility services off, the Operator's too, while a tool"
        " uses UiAutomation.",
        fix=Fix(
            "End the other tool",
            (
                *(DeviceCommand(f"am force-stop {name}") for name in apps),
                ByHand("End Appium, uiautomator2, Maestro or what else uses the device."),
            ),
        ),
        processes=list(facts.automation.apps),
    )


def check_handshake(facts: DeviceFacts) -> Finding | None:
    """Check that the Operator answers."""
    check = "readiness.handshake"
    if not facts.is_pinged:
        return None
    problem = facts.handshake
    if problem is None:
        return passed(check, "The Operator answers.", operatorPackage=facts.package)
    return failed(
        check,
        _handshake_code(problem),
        "The Operator does not answer.",
        detail=problem.message.partition("\n")[0],
        fix=Fix(
            "Switch its service on again",
            (
                Regrant(),
                ByHand("By hand: Settings, Accessibility, Clawperator; or restart the device."),
            ),
        ),
        operatorPackage=facts.package,
        cause=str(problem.code),
        serviceEnabled=facts.readiness.service_on,
        forceStopped=facts.readiness.stopped,
        **_log_of(problem),
    )


def _log_of(problem: ClawperatorError) -> dict[str, Any]:
    """Return the last lines of the Operator's log, if the problem came with them."""
    lines = problem.details.get("lastCorrelatedEvents")
    return {"log": list(lines)} if lines else {}


def _handshake_code(problem: ClawperatorError) -> ErrorCode | str:
    """Return the code that the published doctor has for it."""
    if problem.code == ErrorCode.SERVICE_UNAVAILABLE:
        return ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING
    return problem.code


def check_smoke(facts: DeviceFacts) -> Finding | None:
    """Check that Settings can be opened and seen, if that was asked for."""
    check = "readiness.smoke"
    if not facts.is_smoke_run:
        return None
    if facts.smoke is None:
        return passed(check, "Settings was opened and seen.")
    return failed(
        check,
        ErrorCode.SMOKE_OPEN_SETTINGS_FAILED,
        "Settings could not be opened and seen.",
        detail=f"{facts.smoke.code}: {facts.smoke.message}",
    )


def _is_installed(facts: DeviceFacts) -> bool:
    return facts.readiness.installed is not None and facts.package in facts.readiness.installed
