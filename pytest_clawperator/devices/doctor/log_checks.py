"""The checks of the device's log, through which the Operator answers."""

from __future__ import annotations

from pytest_clawperator.devices.doctor.device_facts import DeviceFacts
from pytest_clawperator.devices.doctor.report import (
    ByHand,
    DeviceCommand,
    Finding,
    Fix,
    failed,
    passed,
    warned,
)
from pytest_clawperator.errors import ErrorCode

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
                (
                    DeviceCommand("setprop log.tag V"),
                    ByHand("That lasts until a restart; for good clear persist.log.tag as root."),
                ),
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
        fix=Fix(
            "Switch the log on",
            (ByHand(_SWITCH_LOG_ON.get(maker.lower(), _SWITCH_ANY_LOG_ON)),),
        ),
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
                (
                    DeviceCommand("logcat -G 4M"),
                    ByHand(
                        "That lasts until a restart; for good: Developer options, Logger"
                        " buffer sizes."
                    ),
                ),
            ),
            bytes=size,
        )
    return passed(check, f"The log has {size // 1024} KiB.", bytes=size)
