"""The checks: each a pure function from facts to a finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pytest_clawperator.client.device_commands import GUARDED_HINT, is_package
from pytest_clawperator.devices.health import UNLOCK, WAKE
from pytest_clawperator.devices.operator import (
    SUPPORTED_VERSION,
    other_variant,
    version_problem,
)
from pytest_clawperator.doctor.facts import DeviceFacts, HostFacts
from pytest_clawperator.doctor.report import (
    DeviceCommand,
    Finding,
    Fix,
    Regrant,
    Step,
    failed,
    passed,
    warned,
)
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind

_INSTALL_ADB = Fix(
    "Install Android's platform tools",
    "macOS: brew install --cask android-platform-tools",
    "Linux: sudo apt-get install adb",
    "Or set ADB_PATH to an adb program.",
)


def check_python(facts: HostFacts) -> Finding:
    """Name the versions of Python and of this package; older Pythons cannot import it."""
    return passed(
        "host.python.version",
        f"Python {facts.python}, pytest-clawperator {facts.package_version}.",
        python=facts.python,
        package=facts.package_version,
    )


def check_adb_presence(facts: HostFacts) -> Finding:
    """Check that there is an adb program that runs."""
    check = "host.adb.presence"
    if facts.adb is None:
        detail = facts.adb_problem.message if facts.adb_problem else ""
        outcome = failed if facts.server_number is None else warned
        return outcome(
            check,
            ErrorCode.ADB_NOT_FOUND,
            "No adb program was found.",
            detail=detail,
            fix=_INSTALL_ADB,
        )
    if not facts.adb_version:
        return failed(
            check,
            ErrorCode.ADB_NOT_FOUND,
            f"{facts.adb} cannot be run as adb.",
            fix=_INSTALL_ADB,
            path=str(facts.adb),
        )
    return passed(check, "adb is installed.", version=facts.adb_version, path=str(facts.adb))


def check_adb_server(facts: HostFacts) -> Finding:
    """Check that the adb server answers."""
    check = "host.adb.server"
    problem = facts.server_problem
    if problem is not None:
        return failed(
            check,
            problem.code,
            f"No adb server can be used at {facts.server}.",
            detail=problem.message,
            fix=Fix("Restart the adb server", problem.advice or ""),
        )
    started = " It was started for this check." if facts.server_started else ""
    return passed(check, f"The adb server at {facts.server} answers.{started}")


def check_adb_version(facts: HostFacts) -> Finding | None:
    """Check that program and server are of one version: else one ends the other."""
    check = "host.adb.version"
    if facts.adb_number is None or facts.server_number is None:
        return None
    if facts.adb_number != facts.server_number:
        return warned(
            check,
            ErrorCode.ADB_VERSION_MISMATCH,
            f"The adb program is of version 1.0.{facts.adb_number}, the server of version"
            f" 1.0.{facts.server_number}.",
            detail=f"The next command of {facts.adb} ends the server, and with it what runs on it.",
            fix=Fix(
                "Use one adb",
                "Have PATH or ADB_PATH name the adb that all your tools use.",
                "Then run `adb kill-server` and `adb start-server`.",
            ),
            program=facts.adb_number,
            server=facts.server_number,
        )
    return passed(check, f"Program and server are of version 1.0.{facts.adb_number}.")


def check_adb_servers(facts: HostFacts) -> Finding | None:
    """Check that no other adb server takes the USB devices of the one in use."""
    check = "host.adb.servers"
    takers = [server for server in facts.servers if server.takes_usb]
    used = [server for server in takers if server.port == facts.server.port]
    others = [server for server in takers if server.port != facts.server.port]
    if not used or not others:
        return passed(check, "No other adb server takes its devices.") if facts.servers else None
    reported = ", ".join(f"process {one.pid} (port {one.port or 'unknown'})" for one in others)
    return warned(
        check,
        ErrorCode.ADB_SEVERAL_SERVERS,
        f"{len(takers)} adb servers run; USB devices belong to whichever takes them first.",
        detail=f"Beside the one at {facts.server}: {reported}.",
        fix=Fix(
            "End the other servers",
            *(
                f"adb -P {one.port} kill-server" if one.port else f"kill {one.pid}"
                for one in others
            ),
        ),
        pids=[one.pid for one in others],
    )


HOST_CHECKS: tuple[Callable[[HostFacts], Finding | None], ...] = (
    check_python,
    check_adb_presence,
    check_adb_server,
    check_adb_version,
    check_adb_servers,
)


_NO_SHELL = Fix(
    "Have the device answer",
    "Unlock the device, and check whether a dialog is open on its screen.",
    "Unplug it and plug it in again, or restart it.",
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
            detail=silence.message if silence else "It does not report its version of Android.",
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
            fix=Fix("Wait for it", "Wait until `adb shell getprop sys.boot_completed` prints 1."),
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
    install = Remedy(RemedyKind.INSTALL_OPERATOR, package)
    other = other_variant(package)
    if other in installed:
        return warned(
            check,
            ErrorCode.OPERATOR_VARIANT_MISMATCH,
            "The other variant of the Operator is installed.",
            detail=f"Expected {package}, found {other}.",
            fix=Fix("Use one variant", Remedy(RemedyKind.USE_PACKAGE, other), install),
            operatorPackage=package,
            installed=other,
        )
    return failed(
        check,
        ErrorCode.OPERATOR_NOT_INSTALLED,
        "The Operator is not installed.",
        detail=f"The package {package} is not on the device.",
        fix=Fix("Install the Operator", install),
        operatorPackage=package,
    )


def check_version(facts: DeviceFacts) -> Finding | None:
    """Check that the Operator is of a version that this package is made for."""
    check = "readiness.version.compatibility"
    if not _is_installed(facts):
        return None
    version = facts.readiness.version
    problem = version_problem(facts.package, version, serial=facts.serial)
    evidence: dict[str, Any] = {
        "operatorPackage": facts.package,
        "supported": SUPPORTED_VERSION,
        "apkVersion": version,
        "apkVersionCode": facts.version_code,
    }
    if problem is None:
        fits = f"Operator {version} fits: made for {SUPPORTED_VERSION}."
        return passed(check, fits, **evidence)
    install = Remedy(RemedyKind.INSTALL_OPERATOR, facts.package)
    return failed(
        check,
        problem.code,
        "The Operator is of another version.",
        detail=problem.message,
        fix=Fix("Install another Operator", install),
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
    steps = (DeviceCommand(f"settings put global {setting} 1"), by_hand)
    return warned(
        check, code, f"{name} {is_or_are} disabled.", fix=Fix(f"Enable {name.lower()}", *steps)
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
    outcome = warned if facts.automation.services_bound else failed
    return outcome(
        check,
        ErrorCode.DEVICE_UI_AUTOMATION_BUSY,
        "Another test tool holds the device.",
        detail=(f"It may be {who}. " if who else "")
        + "Android switches accessibility services off, the Operator's too, while a tool"
        " uses UiAutomation.",
        fix=Fix(
            "End the other tool",
            *(DeviceCommand(f"am force-stop {name}") for name in apps),
            "End Appium, uiautomator2, Maestro or what else uses the device.",
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
            Regrant(),
            "By hand: Settings, Accessibility, Clawperator; or restart the device.",
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


#: Less free storage than this disturbs tests, and with less than the second they fail.
LITTLE_STORAGE_KIB, NO_STORAGE_KIB = 200 * 1024, 20 * 1024

#: How far the clocks may be apart, in seconds.
LARGEST_SKEW = 60.0

#: Android holds back apps in this standby bucket ("rare") and those above.
RARE_BUCKET = 40


_SCALES = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")

_STAY_AWAKE = "Developer options, 'Stay awake', keeps it on while it is charging."


def check_lease(facts: DeviceFacts) -> Finding | None:
    """Check that the device is not leased; a leased device is only read, never changed."""
    check = "device.lease"
    if facts.info is None:
        return None
    if facts.lease_problem is not None:
        return failed(
            check,
            facts.lease_problem.code,
            "Who holds the device cannot be found out.",
            detail=facts.lease_problem.message,
            fix=Fix("Reach the leases", facts.lease_problem.advice or ""),
        )
    if facts.holder is None:
        return passed(check, "The device is not leased.")
    return warned(
        check,
        ErrorCode.DEVICE_LEASED,
        f"The device is held by {facts.holder}.",
        detail="So the Operator is not asked for an answer, and nothing is fixed.",
        fix=Fix("Wait for the holder", Remedy(RemedyKind.WAIT_FOR_DEVICE)),
        holder={k: v for k, v in asdict(facts.holder).items() if k != "token"},
    )


def check_screen(facts: DeviceFacts) -> Finding | None:
    """Check that the screen is on and unlocked."""
    check = "device.screen"
    if facts.screen.on is None and facts.screen.locked is None:
        return None
    wake, unlock = DeviceCommand(WAKE), DeviceCommand(UNLOCK)
    if facts.screen.on is False:
        return warned(
            check,
            ErrorCode.DEVICE_SCREEN_OFF,
            "The screen is off.",
            fix=Fix("Wake it", wake, unlock, _STAY_AWAKE),
        )
    if facts.screen.locked:
        return warned(
            check,
            ErrorCode.DEVICE_SCREEN_LOCKED,
            "The screen is locked.",
            fix=Fix("Unlock it", unlock, "Settings, Security, Screen lock: None or Swipe."),
        )
    return passed(check, "The screen is on and unlocked.")


def check_input(facts: DeviceFacts) -> Finding | None:
    """Check that the maker lets adb press keys."""
    check = "device.input"
    if facts.is_guarded is None:
        return None
    if not facts.is_guarded:
        return passed(check, "adb may press keys.")
    return warned(
        check,
        ErrorCode.DEVICE_INPUT_GUARDED,
        "The maker keeps adb from keys, gestures, grants and settings.",
        detail="Clicks of the Operator work; what claw.device does by adb fails.",
        fix=Fix("Allow them", GUARDED_HINT),
    )


def check_animations(facts: DeviceFacts) -> Finding | None:
    """Check that animations are off, which make tests slow and their screens differ."""
    check = "device.animations"
    if facts.settings is None:
        return None
    scales: dict[str, Any] = {name: facts.settings.get(name, "1") for name in _SCALES}
    moving = [name for name, value in scales.items() if not _is_zero(value)]
    if not moving:
        return passed(check, "Animations are off.")
    return warned(
        check,
        ErrorCode.DEVICE_ANIMATIONS_ON,
        "Animations are on.",
        detail="Tests take longer, and pictures of screens differ.",
        fix=Fix(
            "Switch animations off",
            *(DeviceCommand(f"settings put global {name} 0") for name in moving),
        ),
        **scales,
    )


def _is_zero(value: str) -> bool:
    try:
        return float(value) == 0
    except ValueError:
        return False


def check_battery_saver(facts: DeviceFacts) -> Finding | None:
    """Check that the battery saver is off, which slows apps down."""
    check = "device.battery_saver"
    if facts.settings is None:
        return None
    if facts.settings.get("low_power") != "1":
        return passed(check, "The battery saver is off.")
    return warned(
        check,
        ErrorCode.DEVICE_BATTERY_SAVER_ON,
        "The battery saver is on; apps are slow.",
        fix=Fix(
            "Switch it off",
            DeviceCommand("settings put global low_power 0"),
            "Charge the device: a low battery switches it on again.",
        ),
    )


def check_background(facts: DeviceFacts) -> Finding | None:
    """Check that Android lets the Operator run in the background."""
    check = "readiness.standby"
    bucket, mode, package = facts.standby_bucket, facts.background, facts.package
    if facts.readiness.installed is None or package not in facts.readiness.installed:
        return None
    steps: list[Step] = []
    if bucket is not None and bucket >= RARE_BUCKET:
        steps.append(DeviceCommand(f"am set-standby-bucket {package} active"))
    if mode in ("ignore", "deny"):
        steps.append(DeviceCommand(f"cmd appops set {package} RUN_ANY_IN_BACKGROUND allow"))
    if not steps:
        return passed(check, "The Operator may run in the background.", bucket=bucket)
    steps.append("Settings, Apps, Clawperator, Battery: Unrestricted.")
    return warned(
        check,
        ErrorCode.OPERATOR_RESTRICTED,
        "Android restricts the Operator.",
        detail="It may stop it in the background.",
        fix=Fix("Let it run", *(steps)),
        bucket=bucket,
        background=mode,
    )


def check_storage(facts: DeviceFacts) -> Finding | None:
    """Check that there is room for apps, screenshots and videos."""
    check = "device.storage"
    if facts.free_kib is None:
        return None
    free = f"{facts.free_kib // 1024} MiB"
    if facts.free_kib >= LITTLE_STORAGE_KIB:
        return passed(check, f"{free} of storage are free.", freeKiB=facts.free_kib)
    outcome = failed if facts.free_kib < NO_STORAGE_KIB else warned
    return outcome(
        check,
        ErrorCode.DEVICE_STORAGE_LOW,
        f"Only {free} of storage are free.",
        detail="Apps cannot be installed, and screenshots and videos may be lost.",
        fix=Fix("Make room", "Remove apps and files: Settings, Storage."),
        freeKiB=facts.free_kib,
    )


def check_clock(facts: DeviceFacts) -> Finding | None:
    """Check that the device's clock is right: certificates and logs depend on it."""
    check = "device.clock"
    if facts.skew is None:
        return None
    if abs(facts.skew) <= LARGEST_SKEW:
        return passed(check, "The device's clock is right.")
    side = "ahead of" if facts.skew > 0 else "behind"
    return warned(
        check,
        ErrorCode.DEVICE_CLOCK_WRONG,
        f"The device's clock is {abs(facts.skew):.0f} s {side} this computer's.",
        detail="Certificates may count as expired, and times in logs do not fit.",
        fix=Fix(
            "Set the clock",
            DeviceCommand("settings put global auto_time 1"),
            "Settings, System, Date and time: set it, or connect the device.",
        ),
        skewSeconds=round(facts.skew),
    )


#: A hierarchy of a large screen takes 200 KiB, and other apps write meanwhile.
SMALLEST_BUFFER = 1024 * 1024


# The Operator answers at level D.
_TOO_COARSE = "IWEFAS"

_SWITCH_LOG_ON = {
    "huawei": "Dial *#*#2846579#*#* and choose ProjectMenu, Background settings, Log settings,"
    " AP Log.",
    "honor": "Dial *#*#2846579#*#* and choose ProjectMenu, Background settings, Log settings,"
    " AP Log.",
    "vivo": "Dial *#*#112#*#* and switch the log on.",
    "oppo": "Dial *#800# and switch the log on.",
    "realme": "Dial *#800# and switch the log on.",
    "meizu": "Settings, Accessibility, Developer options, Performance, Advanced logging: all.",
}

_SWITCH_ANY_LOG_ON = (
    "Look in the developer options, and in the maker's own menu, for a setting of the log."
)


def check_log_level(facts: DeviceFacts) -> Finding | None:
    """Check that the properties do not keep the Operator's lines from the log."""
    check = "readiness.log.level"
    if facts.silence is not None:
        return None
    level = facts.log_level or "V"
    if level in _TOO_COARSE:
        return failed(
            check,
            ErrorCode.DEVICE_LOG_LEVEL,
            f"The log has no lines below level {level}.",
            detail="The Operator answers at level D. The property log.tag, or persist.log.tag,"
            " says so.",
            fix=Fix(
                "Log everything",
                DeviceCommand("setprop log.tag V"),
                "That lasts until a restart; for good clear persist.log.tag as root.",
            ),
            level=level,
        )
    return passed(check, "Lines of all levels are logged.")


def check_log_delivery(facts: DeviceFacts) -> Finding | None:
    """Check that lines that are written come into the log; some makers keep them out."""
    check = "readiness.log.delivery"
    if facts.logged is None or (facts.log_level or "V") in _TOO_COARSE:
        return None
    if "D" in facts.logged:
        return passed(check, "Lines come into the log.")
    maker = (facts.info.manufacturer if facts.info else None) or ""
    found = ", ".join(sorted(facts.logged)) or "none"
    return failed(
        check,
        ErrorCode.DEVICE_LOG_SUPPRESSED,
        "Lines of the Operator are kept out of the log.",
        detail="So it cannot answer. Of lines at the levels D, I and E these came into the log:"
        f" {found}.",
        fix=Fix("Switch the log on", _SWITCH_LOG_ON.get(maker.lower(), _SWITCH_ANY_LOG_ON)),
        manufacturer=maker or None,
        arrived=sorted(facts.logged),
    )


def check_log_buffer(facts: DeviceFacts) -> Finding | None:
    """Check that the log is large enough for the dump of a large screen."""
    check = "readiness.log.buffer"
    size = facts.log_buffer
    if size is None:
        return None
    if size < SMALLEST_BUFFER:
        return warned(
            check,
            ErrorCode.DEVICE_LOG_BUFFER_SMALL,
            f"The log has only {size // 1024} KiB.",
            detail="Dumps of large screens may be lost.",
            fix=Fix(
                "Make the log larger",
                DeviceCommand("logcat -G 4M"),
                "That lasts until a restart; for good: Developer options, Logger buffer sizes.",
            ),
            bytes=size,
        )
    return passed(check, f"The log has {size // 1024} KiB.", bytes=size)


#: The checks of a device, in the order of the report.
DEVICE_CHECKS: tuple[Callable[[DeviceFacts], Finding | None], ...] = (
    check_capability,
    check_lease,
    check_boot,
    check_storage,
    check_clock,
    check_battery_saver,
    check_screen,
    check_input,
    check_animations,
    check_presence,
    check_version,
    check_developer_options,
    check_usb_debugging,
    check_background,
    check_automation,
    check_log_level,
    check_log_delivery,
    check_log_buffer,
    check_handshake,
    check_smoke,
)
