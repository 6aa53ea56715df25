"""``appops``: what apps are allowed to do, operation by operation."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    dispatch,
)
from pytest_clawperator.simulator.android.state.packages import Package

_OPS = frozenset(
    {
        "ACCESS_NOTIFICATIONS", "ACCESS_RESTRICTED_SETTINGS", "ACTIVITY_RECOGNITION",
        "BLUETOOTH_SCAN", "CALL_PHONE", "CAMERA", "COARSE_LOCATION", "FINE_LOCATION",
        "GET_USAGE_STATS", "MANAGE_EXTERNAL_STORAGE", "MOCK_LOCATION", "POST_NOTIFICATION",
        "PROJECT_MEDIA", "READ_CALENDAR", "READ_CLIPBOARD", "READ_CONTACTS",
        "READ_EXTERNAL_STORAGE", "READ_MEDIA_AUDIO", "READ_MEDIA_IMAGES", "READ_MEDIA_VIDEO",
        "READ_PHONE_STATE", "READ_SMS", "RECORD_AUDIO", "REQUEST_INSTALL_PACKAGES",
        "RUN_ANY_IN_BACKGROUND", "RUN_IN_BACKGROUND", "SCHEDULE_EXACT_ALARM", "SEND_SMS",
        "START_FOREGROUND", "SYSTEM_ALERT_WINDOW", "TOAST_WINDOW", "VIBRATE", "WAKE_LOCK",
        "WRITE_CALENDAR", "WRITE_CLIPBOARD", "WRITE_CONTACTS", "WRITE_EXTERNAL_STORAGE",
        "WRITE_SETTINGS",
    }
)  # fmt: skip

_MODES = ("allow", "ignore", "deny", "default", "foreground")


async def _app_ops_target(call: ServiceCall) -> tuple[Package, str | None] | None:
    """Parse the package, and the operation if one is named."""
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
    name = call.next()
    if name is None:
        await call.err("Error: Package not specified.")
        return None
    package = call.system.packages.get(name)
    if package is None:
        await call.err(f"Error: No UID for {name} in user 0")
        return None
    word = call.next()
    operation = word.removeprefix("android:").upper() if word is not None else None
    if operation is not None and operation not in _OPS:
        await call.err(f"Error: Unknown operation string: {word}")
        return None
    return package, operation


async def _app_ops_set(call: ServiceCall) -> int:
    target = await _app_ops_target(call)
    if target is None:
        return FAILED
    package, operation = target
    mode = call.next()
    if operation is None or mode is None:
        await call.err("Error: Operation or mode not specified.")
        return FAILED
    if mode not in _MODES:
        await call.err(f"Error: Mode {mode} is not valid, use one of {', '.join(_MODES)}")
        return FAILED
    call.system.app_ops.setdefault(package.name, {})[operation] = mode
    return 0


async def _app_ops_get(call: ServiceCall) -> int:
    target = await _app_ops_target(call)
    if target is None:
        return FAILED
    package, operation = target
    modes = call.system.app_ops.get(package.name, {})
    shown = {k: v for k, v in sorted(modes.items()) if operation in (None, k)}
    for name, mode in shown.items():
        await call.out(f"{name}: {mode}")
    if not shown:
        await call.out("No operations." + ("\nDefault mode: allow" if operation else ""))
    return 0


async def appops_service(call: ServiceCall) -> int:
    """Answer ``cmd appops``."""
    commands = {"get": _app_ops_get, "set": _app_ops_set}
    usage = (
        "AppOps service (appops) commands:\n  get PACKAGE [OP]\n  set PACKAGE OP MODE\n"
        f"MODE is one of {', '.join(_MODES)}\n"
    )
    return await dispatch(call, commands, usage=usage)
