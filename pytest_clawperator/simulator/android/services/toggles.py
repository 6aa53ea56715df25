"""The smaller services behind ``cmd``: locale, uimode, statusbar, connectivity, appops, ime."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    ServiceHandler,
    dispatch,
)
from pytest_clawperator.simulator.android.state.packages import Package

_LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
_VOICE = (
    "com.google.android.tts/com.google.android.apps.speech.tts.googletts.settings.asr.voiceime"
    ".VoiceInputMethodService"
)
INPUT_METHODS = (_LATIN, _VOICE)
"""The keyboards that are installed."""


async def _set_locales(call: ServiceCall) -> int:
    package = await _locale_package(call)
    if package is None:
        return FAILED
    while (option := call.option()) is not None:
        value = call.next() or ""
        if option == "--locales":
            call.system.locales[package.name] = value
    return 0


async def _get_locales(call: ServiceCall) -> int:
    package = await _locale_package(call)
    if package is None:
        return FAILED
    call.rest()
    locales = call.system.locales.get(package.name, "")
    await call.out(f"Locales for {package.name} for user 0 are [{locales}]")
    return 0


async def _locale_package(call: ServiceCall) -> Package | None:
    name = call.next()
    package = call.system.packages.get(name or "")
    if name is None:
        await call.err("Error: no package specified")
    elif package is None:
        await call.err(f"Unknown package {name} for userId 0")
    return package


async def locale_service(call: ServiceCall) -> int:
    """Answer ``cmd locale``."""
    commands = {"set-app-locales": _set_locales, "get-app-locales": _get_locales}
    usage = "Locale manager (locale) shell commands:\n  set-app-locales PACKAGE --locales LOCALES\n"
    return await dispatch(call, commands, usage=usage + "  get-app-locales PACKAGE\n")


_NIGHT = {"no": ("1", False), "yes": ("2", True), "auto": ("0", False)}


async def _night(call: ServiceCall) -> int:
    mode = call.next()
    if mode is not None:
        if mode not in _NIGHT:
            await call.err(
                "Error: mode must be 'yes', 'no', or 'auto', or 'custom_schedule', or"
                " 'custom_bedtime'"
            )
            return FAILED
        value, call.system.ui.dark = _NIGHT[mode]
        call.system.settings.put("secure", "ui_night_mode", value)
    stored = call.system.settings.get("secure", "ui_night_mode")
    shown = next((name for name, (value, _) in _NIGHT.items() if value == stored), "no")
    await call.out(f"Night mode: {shown}")
    return 0


async def uimode_service(call: ServiceCall) -> int:
    """Answer ``cmd uimode``."""
    usage = "UiModeManager service (uimode) commands:\n  night [yes|no|auto]\n"
    return await dispatch(call, {"night": _night}, usage=usage)


async def _notifications(call: ServiceCall) -> int:
    call.system.shade = "notifications"
    return 0


async def _quick_settings(call: ServiceCall) -> int:
    call.system.shade = "settings"
    return 0


async def _collapse(call: ServiceCall) -> int:
    call.system.shade = ""
    return 0


async def statusbar_service(call: ServiceCall) -> int:
    """Answer ``cmd statusbar``."""
    commands = {
        "collapse": _collapse,
        "expand-notifications": _notifications,
        "expand-settings": _quick_settings,
    }
    usage = "Status bar commands:\n" + "".join(f"  {name}\n" for name in sorted(commands))
    return await dispatch(call, commands, usage=usage)


async def _airplane(call: ServiceCall) -> int:
    word = call.next()
    if word is None:
        on = call.system.settings.get("global", "airplane_mode_on") == "1"
        await call.out("enabled" if on else "disabled")
        return 0
    if word not in ("enable", "disable"):
        await call.err(f"Unknown airplane-mode argument: {word}; use enable or disable")
        return FAILED
    call.system.settings.put("global", "airplane_mode_on", str(int(word == "enable")))
    return 0


async def connectivity_service(call: ServiceCall) -> int:
    """Answer ``cmd connectivity``."""
    usage = "Connectivity service commands:\n  airplane-mode [enable|disable]\n"
    return await dispatch(call, {"airplane-mode": _airplane}, usage=usage)


async def _wifi_status(call: ServiceCall) -> int:
    on = call.system.settings.get("global", "wifi_on") == "1"
    await call.out(f"Wifi is {'enabled' if on else 'disabled'}")
    if on:
        await call.out('Wifi is connected to "SimulatedWifi"')
    return 0


async def _set_wifi(call: ServiceCall) -> int:
    word = call.required()
    if word not in ("enabled", "disabled"):
        await call.out("Invalid args to set-wifi-enabled command")
        return FAILED
    call.system.settings.put("global", "wifi_on", str(int(word == "enabled")))
    return 0


async def wifi_service(call: ServiceCall) -> int:
    """Answer ``cmd wifi``."""
    commands = {"status": _wifi_status, "set-wifi-enabled": _set_wifi}
    usage = "Wi-Fi (wifi) commands:\n  status\n  set-wifi-enabled enabled|disabled\n"
    return await dispatch(call, commands, usage=usage)


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
    """Read the package, and the operation if one is named."""
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


async def _app_ops_reset(call: ServiceCall) -> int:
    name = call.next()
    if name is None:
        call.system.app_ops.clear()
        await call.out("Reset all modes for: all users, all packages")
    else:
        call.system.app_ops.pop(name, None)
        await call.out(f"Reset all modes for: user 0, package {name}")
    return 0


async def appops_service(call: ServiceCall) -> int:
    """Answer ``cmd appops``, which is what ``appops`` is."""
    commands = {"get": _app_ops_get, "reset": _app_ops_reset, "set": _app_ops_set}
    usage = (
        "AppOps service (appops) commands:\n  get PACKAGE [OP]\n  set PACKAGE OP MODE\n"
        f"  reset [PACKAGE]\nMODE is one of {', '.join(_MODES)}\n"
    )
    return await dispatch(call, commands, usage=usage)


async def _ime_list(call: ServiceCall) -> int:
    words = call.rest()
    enabled = (call.system.settings.get("secure", "enabled_input_methods") or "").split(":")
    for name in INPUT_METHODS:
        if "-a" in words or name in enabled:
            shown = name if "-s" in words else f"{name}:\n  mId={name}"
            await call.out(shown)
    return 0


def _ime_change(verb: str) -> ServiceHandler:
    async def change(call: ServiceCall) -> int:
        while (option := call.option()) is not None:
            if option == "--user":
                call.required()
        name = call.required()
        if name not in INPUT_METHODS:
            word = {"enable": "enabled", "disable": "disabled", "set": "selected"}[verb]
            await call.err(f"Unknown input method {name} cannot be {word} for user #0")
            return FAILED
        await call.out(_apply_ime(call, verb, name))
        return 0

    return change


def _apply_ime(call: ServiceCall, verb: str, name: str) -> str:
    settings = call.system.settings
    enabled = [n for n in (settings.get("secure", "enabled_input_methods") or "").split(":") if n]
    if verb == "set":
        settings.put("secure", "default_input_method", name)
        return f"Input method {name} selected for user #0"
    already = (name in enabled) == (verb == "enable")
    if verb == "enable" and not already:
        enabled.append(name)
    elif verb == "disable" and not already:
        enabled.remove(name)
    settings.put("secure", "enabled_input_methods", ":".join(enabled))
    return f"Input method {name}: {'already' if already else 'now'} {verb}d for user #0"


async def _ime_reset(call: ServiceCall) -> int:
    call.system.settings.put("secure", "enabled_input_methods", _LATIN)
    call.system.settings.put("secure", "default_input_method", _LATIN)
    await call.out("Reset current and enabled IMEs for user #0")
    await call.out(f"  Selected: {_LATIN}")
    await call.out(f"   Enabled: {_LATIN}")
    return 0


async def ime_service(call: ServiceCall) -> int:
    """Answer ``cmd input_method``, which is what ``ime`` is."""
    word = call.peek()
    if word == "ime":
        call.next()
    commands: Mapping[str, ServiceHandler] = {
        "disable": _ime_change("disable"),
        "enable": _ime_change("enable"),
        "list": _ime_list,
        "reset": _ime_reset,
        "set": _ime_change("set"),
    }
    usage = "ime <command>:\n  list [-a] [-s]\n  enable ID\n  disable ID\n  set ID\n  reset\n"
    return await dispatch(call, commands, usage=usage)
