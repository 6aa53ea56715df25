"""Commands that read and change settings: ``settings``, ``getprop``, ``ime``, parts of ``cmd``."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.packages import Package
from pytest_clawperator.simulator.android.service_call import (
    FAILED,
    ServiceCall,
    ServiceHandler,
    dispatch,
)
from pytest_clawperator.simulator.android.settings_store import NAMESPACES
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

_SETTINGS_USAGE = """Settings provider (settings) commands:
  get [--user <USER_ID> | current] NAMESPACE KEY
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
  delete NAMESPACE KEY
  list NAMESPACE
  NAMESPACE is one of {system, secure, global}, case-insensitive
"""


async def settings_service(call: ServiceCall) -> int:
    """Answer ``cmd settings``, which is what ``settings`` is."""
    words = call.rest()
    if not words or words[0] in ("help", "-h"):
        await call.invocation.out(_SETTINGS_USAGE)
        return FAILED
    if "--user" in words[:2]:
        at = words.index("--user")
        del words[at : at + 2]
    verb = words[0].lower() if words else ""
    if verb not in ("get", "put", "delete", "list"):
        await call.err(f"Invalid command: {verb}")
        return FAILED
    if len(words) > 1 and words[1].lower() not in NAMESPACES:
        await call.err(f"Invalid namespace '{words[1]}'")
        return FAILED
    fewest, most = {"get": (3, 3), "delete": (3, 3), "put": (4, 6), "list": (2, 99)}[verb]
    if not fewest <= len(words) <= most:
        await call.err("Bad arguments" if len(words) < fewest else "Too many arguments")
        return FAILED
    await _act(call, verb, words[1].lower(), words[2:])
    return 0


async def _act(call: ServiceCall, verb: str, namespace: str, words: list[str]) -> None:
    settings = call.system.settings
    if verb == "get":
        value = settings.get(namespace, words[0])
        await call.out("null" if value is None else value)
    elif verb == "put":
        settings.put(namespace, words[0], words[1])
    elif verb == "delete":
        await call.out(f"Deleted {int(settings.delete(namespace, words[0]))} rows")
    else:
        lines = sorted(f"{key}={value}\n" for key, value in settings.items(namespace))
        await call.invocation.out("".join(lines))


async def getprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Print one property, or all of them."""
    words = [word for word in invocation.args[1:] if not word.startswith("-")]
    if not words:
        lines = (f"[{key}]: [{value}]\n" for key, value in system.properties.items())
        await invocation.out("".join(lines))
        return 0
    if len(words) > 2:
        await invocation.err('getprop: Max 2 arguments (see "getprop --help")\n')
        return 1
    default = words[1] if len(words) == 2 else ""
    await invocation.out(f"{system.properties.get(words[0]) or default}\n")
    return 0


async def setprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Set a property."""
    words = invocation.args[1:]
    if len(words) != 2:
        problem = "Need 2 arguments" if len(words) < 2 else "Max 2 arguments"
        await invocation.err(f'setprop: {problem} (see "setprop --help")\n')
        return 1
    refused = system.properties.set(words[0], words[1])
    if refused is not None:
        await invocation.err(f"setprop: {refused}\n")
        return 1
    return 0


_LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"

_VOICE = (
    "com.google.android.tts/com.google.android.apps.speech.tts.googletts.settings.asr.voiceime"
    ".VoiceInputMethodService"
)

INPUT_METHODS = (_LATIN, _VOICE)
"""The keyboards that are installed."""


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
            word = {"enable": "enabled", "set": "selected"}[verb]
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
    if name in enabled:
        return f"Input method {name}: already enabled for user #0"
    settings.put("secure", "enabled_input_methods", ":".join([*enabled, name]))
    return f"Input method {name}: now enabled for user #0"


async def ime_service(call: ServiceCall) -> int:
    """Answer ``cmd input_method``, which is what ``ime`` is."""
    word = call.peek()
    if word == "ime":
        call.next()
    commands: Mapping[str, ServiceHandler] = {
        "enable": _ime_change("enable"),
        "list": _ime_list,
        "set": _ime_change("set"),
    }
    usage = "ime <command>:\n  list [-a] [-s]\n  enable ID\n  set ID\n"
    return await dispatch(call, commands, usage=usage)


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
        value, call.system.ui.display.dark = _NIGHT[mode]
        call.system.settings.put("secure", "ui_night_mode", value)
    stored = call.system.settings.get("secure", "ui_night_mode")
    shown = next((name for name, (value, _) in _NIGHT.items() if value == stored), "no")
    await call.out(f"Night mode: {shown}")
    return 0


async def uimode_service(call: ServiceCall) -> int:
    """Answer ``cmd uimode``."""
    usage = "UiModeManager service (uimode) commands:\n  night [yes|no|auto]\n"
    return await dispatch(call, {"night": _night}, usage=usage)


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
