"""``cmd connectivity``, ``wifi``, ``phone``, ``bluetooth_manager`` and ``location``: switches."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    dispatch,
)


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


async def _set_mobile_data(call: ServiceCall) -> int:
    word = call.required()
    if word not in ("enable", "disable"):
        await call.err(f"Unknown data argument: {word}; use enable or disable")
        return FAILED
    call.system.settings.put("global", "mobile_data", str(int(word == "enable")))
    return 0


async def phone_service(call: ServiceCall) -> int:
    """Answer ``cmd phone``."""
    usage = "Telephony Commands:\n  data [enable|disable]\n"
    return await dispatch(call, {"data": _set_mobile_data}, usage=usage)


async def bluetooth_service(call: ServiceCall) -> int:
    """Answer ``cmd bluetooth_manager``."""
    word = call.next()
    if word not in ("enable", "disable"):
        await call.out("Bluetooth Manager Commands:\n  enable\n  disable")
        return FAILED
    call.system.settings.put("global", "bluetooth_on", str(int(word == "enable")))
    await call.out(f"{word}: Success")
    return 0


async def _is_location_on(call: ServiceCall) -> int:
    on = call.system.settings.get("secure", "location_mode") != "0"
    await call.out(str(on).lower())
    return 0


async def _set_location(call: ServiceCall) -> int:
    call.system.settings.put("secure", "location_mode", "3" if call.required() == "true" else "0")
    return 0


async def location_service(call: ServiceCall) -> int:
    """Answer ``cmd location``."""
    commands = {"is-location-enabled": _is_location_on, "set-location-enabled": _set_location}
    usage = "Location service commands:\n  is-location-enabled\n  set-location-enabled true|false\n"
    return await dispatch(call, commands, usage=usage)
