"""``cmd connectivity``: aeroplane mode."""

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
