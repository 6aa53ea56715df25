"""The checks of what state a device is in: whose it is, its screen, power, storage, clock."""

from __future__ import annotations

from dataclasses import asdict

from pytest_clawperator.client.device_commands import GUARDED_HINT
from pytest_clawperator.devices.doctor.device_facts import DeviceFacts
from pytest_clawperator.devices.doctor.report import (
    ByHand,
    DeviceCommand,
    Finding,
    Fix,
    Step,
    failed,
    passed,
    warned,
)
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.remedies import Remedy, RemedyKind

#: Less free storage than this disturbs tests, and with less than the second they fail.
LITTLE_STORAGE_KIB, NO_STORAGE_KIB = 200 * 1024, 20 * 1024
#: How far the clocks may be apart, in seconds.
LARGEST_SKEW = 60.0
#: Android holds back apps in this standby bucket ("rare") and those above.
RARE_BUCKET = 40

_SCALES = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")
_STAY_AWAKE = ByHand("Developer options, 'Stay awake', keeps it on while it is charging.")


def check_lease(facts: DeviceFacts) -> Finding | None:
    """Check that nobody holds the device; what somebody holds is only looked at."""
    check = "device.lease"
    if facts.info is None:
        return None
    if facts.lease_problem is not None:
        return failed(
            check,
            facts.lease_problem.code,
            "Who holds the device cannot be found out.",
            detail=facts.lease_problem.message,
            fix=Fix("Reach the leases", (ByHand(facts.lease_problem.advice or ""),)),
        )
    if facts.holder is None:
        return passed(check, "Nobody holds the device.")
    return warned(
        check,
        ErrorCode.DEVICE_LEASED,
        f"The device is held by {facts.holder}.",
        detail="So the Operator is not asked for an answer, and nothing is mended.",
        fix=Fix("Wait for the holder", (ByHand(Remedy(RemedyKind.WAIT_FOR_DEVICE)),)),
        holder={k: v for k, v in asdict(facts.holder).items() if k != "token"},
    )


def check_screen(facts: DeviceFacts) -> Finding | None:
    """Check that the screen is on and unlocked."""
    check = "device.screen"
    if facts.screen.on is None and facts.screen.locked is None:
        return None
    wake = DeviceCommand("input keyevent KEYCODE_WAKEUP")
    unlock = DeviceCommand("wm dismiss-keyguard")
    if facts.screen.on is False:
        return warned(
            check,
            ErrorCode.DEVICE_SCREEN_OFF,
            "The screen is off.",
            fix=Fix("Wake it", (wake, unlock, _STAY_AWAKE)),
        )
    if facts.screen.locked:
        return warned(
            check,
            ErrorCode.DEVICE_SCREEN_LOCKED,
            "The screen is locked.",
            fix=Fix(
                "Unlock it",
                (unlock, ByHand("Settings, Security, Screen lock: None or Swipe.")),
            ),
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
        fix=Fix("Allow them", (ByHand(GUARDED_HINT),)),
    )


def check_animations(facts: DeviceFacts) -> Finding | None:
    """Check that animations are off, which make tests slow and their screens differ."""
    check = "device.animations"
    if facts.settings is None:
        return None
    scales = {name: facts.settings.get(name, "1") for name in _SCALES}
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
            tuple(DeviceCommand(f"settings put global {name} 0") for name in moving),
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
            (
                DeviceCommand("settings put global low_power 0"),
                ByHand("Charge the device: a low battery switches it on again."),
            ),
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
    steps.append(ByHand("Settings, Apps, Clawperator, Battery: Unrestricted."))
    return warned(
        check,
        ErrorCode.OPERATOR_RESTRICTED,
        "Android restricts the Operator.",
        detail="It may stop it in the background.",
        fix=Fix("Let it run", tuple(steps)),
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
    tell = failed if facts.free_kib < NO_STORAGE_KIB else warned
    return tell(
        check,
        ErrorCode.DEVICE_STORAGE_LOW,
        f"Only {free} of storage are free.",
        detail="Apps cannot be installed, and screenshots and videos may be lost.",
        fix=Fix("Make room", (ByHand("Remove apps and files: Settings, Storage."),)),
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
            (
                DeviceCommand("settings put global auto_time 1"),
                ByHand("Settings, System, Date and time: set it, or connect the device."),
            ),
        ),
        skewSeconds=round(facts.skew),
    )
