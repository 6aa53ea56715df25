"""Commands that change settings: ``settings``, ``setprop``, ``ime``, ``wm``, parts of ``cmd``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_clawperator.simulator.android.packages import Package
from pytest_clawperator.simulator.android.service_call import (
    Refused,
    ServiceCall,
    ServiceHandler,
    java_int,
)
from pytest_clawperator.simulator.android.settings_store import NAMESPACES
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

# How many words each command takes, itself and the namespace included.
_SETTINGS_WORDS = {"get": (3, 3), "delete": (3, 3), "put": (4, 6), "list": (2, 2)}
_KEYBOARDS = (
    "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME",
    "com.google.android.tts/com.google.android.apps.speech.tts.googletts.settings.asr.voiceime"
    ".VoiceInputMethodService",
)

# What is stored for each mode, and whether the theme is dark then.
_NIGHT = {"no": ("1", False), "yes": ("2", True), "auto": ("0", False)}
_OPS = frozenset(
    {"CAMERA", "POST_NOTIFICATION", "RUN_ANY_IN_BACKGROUND", "RUN_IN_BACKGROUND"}
    | {"SYSTEM_ALERT_WINDOW", "WRITE_SETTINGS"}
)
_MODES = ("allow", "ignore", "deny", "default", "foreground")


# -- settings, getprop and setprop ---------------------------------------------------------------


async def settings_service(call: ServiceCall) -> None:
    """Answer ``cmd settings``, which ``settings`` also is."""
    words = call.rest(without=("--user",))
    if not words or words[0] in ("help", "-h"):
        raise Refused(f"Commands: {', '.join(_SETTINGS_WORDS)}", on_stdout=True)
    verb = words[0].lower()
    if verb not in _SETTINGS_WORDS:
        raise Refused(f"Invalid command: {verb}")
    fewest, most = _SETTINGS_WORDS[verb]
    if len(words) > 1 and words[1].lower() not in NAMESPACES:
        raise Refused(f"Invalid namespace '{words[1]}'")
    if not fewest <= len(words) <= most:
        raise Refused("Bad arguments" if len(words) < fewest else "Too many arguments")
    settings, namespace = call.system.settings, words[1].lower()
    if verb == "get":
        value = settings.get(namespace, words[2])
        await call.out("null" if value is None else value)
    elif verb == "put":
        settings.put(namespace, words[2], words[3])
    elif verb == "delete":
        await call.out(f"Deleted {int(settings.delete(namespace, words[2]))} rows")
    else:
        lines = sorted(f"{key}={value}\n" for key, value in settings.items(namespace))
        await call.invocation.out("".join(lines))


async def getprop(system: AndroidSystem, invocation: Invocation) -> int:
    """Print one property, or all of them."""
    words = invocation.args[1:]
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


# -- ime -----------------------------------------------------------------------------------------


def _enabled_keyboards(system: AndroidSystem) -> list[str]:
    listed = system.settings.get("secure", "enabled_input_methods") or ""
    return [name for name in listed.split(":") if name]


async def _list_keyboards(call: ServiceCall) -> None:
    words = call.rest()
    for name in _KEYBOARDS:
        if "-a" in words or name in _enabled_keyboards(call.system):
            await call.out(name if "-s" in words else f"{name}:\n  mId={name}")


def _keyboard(call: ServiceCall, change: str) -> str:
    call.options()
    name = call.required()
    if name not in _KEYBOARDS:
        raise Refused(f"Unknown input method {name} cannot be {change} for user #0")
    return name


async def _enable_keyboard(call: ServiceCall) -> None:
    name = _keyboard(call, "enabled")
    enabled = _enabled_keyboards(call.system)
    already = name in enabled
    if not already:
        call.system.settings.put("secure", "enabled_input_methods", ":".join([*enabled, name]))
    await call.out(f"Input method {name}: {'already' if already else 'now'} enabled for user #0")


async def _select_keyboard(call: ServiceCall) -> None:
    name = _keyboard(call, "selected")
    call.system.settings.put("secure", "default_input_method", name)
    await call.out(f"Input method {name} selected for user #0")


# -- cmd locale, uimode, connectivity and appops -------------------------------------------------


def _locale_package(call: ServiceCall) -> Package:
    name = call.next()
    if name is None:
        raise Refused("Error: no package specified")
    package = call.system.packages.get(name)
    if package is None:
        raise Refused(f"Unknown package {name} for userId 0")
    return package


async def _set_locales(call: ServiceCall) -> None:
    package = _locale_package(call)
    while (option := call.option()) is not None:
        value = call.next() or ""
        if option == "--locales":
            call.system.locales[package.name] = value


async def _get_locales(call: ServiceCall) -> None:
    package = _locale_package(call)
    locales = call.system.locales.get(package.name, "")
    await call.out(f"Locales for {package.name} for user 0 are [{locales}]")


async def _night(call: ServiceCall) -> None:
    mode = call.next()
    if mode is not None:
        if mode not in _NIGHT:
            raise Refused("Error: mode must be 'yes', 'no', or 'auto'")
        value, call.system.ui.display.dark = _NIGHT[mode]
        call.system.settings.put("secure", "ui_night_mode", value)
    stored = call.system.settings.get("secure", "ui_night_mode")
    shown = next((name for name, (value, _) in _NIGHT.items() if value == stored), "no")
    await call.out(f"Night mode: {shown}")


async def _airplane_mode(call: ServiceCall) -> None:
    word = call.next()
    if word is None:
        on = call.system.settings.get("global", "airplane_mode_on") == "1"
        await call.out("enabled" if on else "disabled")
    elif word in ("enable", "disable"):
        call.system.settings.put("global", "airplane_mode_on", str(int(word == "enable")))
    else:
        raise Refused(f"Unknown airplane-mode argument: {word}; use enable or disable")


def _app_op(call: ServiceCall) -> tuple[Package, str | None]:
    """Parse the package, and the operation if one is named."""
    call.options()
    name = call.next()
    if name is None:
        raise Refused("Error: Package not specified.")
    package = call.system.packages.get(name)
    if package is None:
        raise Refused(f"Error: No UID for {name} in user 0")
    word = call.next()
    if word is not None and word not in _OPS:
        raise Refused(f"Error: Unknown operation string: {word}")
    return package, word


async def _get_app_op(call: ServiceCall) -> None:
    package, operation = _app_op(call)
    modes = call.system.app_ops.get(package.name, {})
    shown = {name: mode for name, mode in sorted(modes.items()) if operation in (None, name)}
    for name, mode in shown.items():
        await call.out(f"{name}: {mode}")
    if not shown:
        await call.out("No operations." + ("\nDefault mode: allow" if operation else ""))


async def _set_app_op(call: ServiceCall) -> None:
    package, operation = _app_op(call)
    mode = call.next()
    if operation is None or mode is None:
        raise Refused("Error: Operation or mode not specified.")
    if mode not in _MODES:
        raise Refused(f"Error: Mode {mode} is not valid, use one of {', '.join(_MODES)}")
    call.system.app_ops.setdefault(package.name, {})[operation] = mode


_LEAST_DENSITY, _MOST_DENSITY = 72, 2000
_LEAST_SIDE = 200
_ON_DISPLAY = ("-d",)


async def _size(call: ServiceCall) -> None:
    display = call.system.display
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        await call.out("Physical size: {}x{}".format(*display.size))
        if display.forced_size is not None:
            await call.out("Override size: {}x{}".format(*display.forced_size))
        return
    size = display.size if words[0] == "reset" else _wanted_size(call, words[0])
    display.forced_size = size if size != display.size else None
    call.system.ui.display.resize(size)


def _wanted_size(call: ServiceCall, word: str) -> tuple[int, int]:
    display = call.system.display
    found = re.fullmatch("([0-9]{1,6})x([0-9]{1,6})", word)
    if found is None:
        raise Refused(f"Error: bad size {word}")
    # Android holds an override between 200 pixels and twice the panel's own size.
    width, height = (
        min(max(int(text), _LEAST_SIDE), 2 * side)
        for text, side in zip(found.groups(), display.size, strict=True)
    )
    return width, height


async def _density(call: ServiceCall) -> None:
    display = call.system.display
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        await call.out(f"Physical density: {display.density}")
        if display.forced_density is not None:
            await call.out(f"Override density: {display.forced_density}")
        return
    density = display.density if words[0] == "reset" else java_int(words[0])
    if density < _LEAST_DENSITY:
        raise Refused(f"Error: density must be >= {_LEAST_DENSITY}")
    density = min(density, _MOST_DENSITY)
    display.forced_density = density if density != display.density else None
    call.system.ui.display.density = density


async def _user_rotation(call: ServiceCall) -> None:
    settings = call.system.settings
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        free = settings.get("system", "accelerometer_rotation") == "1"
        rotation = settings.get("system", "user_rotation") or "0"
        await call.out("free" if free else f"lock {rotation}")
        return
    if words[0] not in ("free", "lock"):
        raise Refused("Error: argument needs to be either -d, free or lock.")
    if len(words) > 1 and words[1] not in ("0", "1", "2", "3"):
        raise Refused("Error: rotation value should be between 0 and 3.")
    settings.put("system", "accelerometer_rotation", "1" if words[0] == "free" else "0")
    if words[0] == "lock" and len(words) > 1:
        settings.put("system", "user_rotation", words[1])


async def _dismiss_keyguard(call: ServiceCall) -> None:
    locked = call.system.faults.active("locked")
    if locked is not None and locked.options["code"] == "0":
        call.system.faults.clear("locked")


SERVICES: Mapping[str, Mapping[str, ServiceHandler]] = {
    "appops": {"get": _get_app_op, "set": _set_app_op},
    "connectivity": {"airplane-mode": _airplane_mode},
    "input_method": {"enable": _enable_keyboard, "list": _list_keyboards, "set": _select_keyboard},
    "locale": {"get-app-locales": _get_locales, "set-app-locales": _set_locales},
    "uimode": {"night": _night},
    "window": {
        "density": _density,
        "dismiss-keyguard": _dismiss_keyguard,
        "size": _size,
        "user-rotation": _user_rotation,
    },
}
"""The commands of each service here, by name."""
