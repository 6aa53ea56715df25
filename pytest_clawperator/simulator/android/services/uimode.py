"""``cmd uimode``: the dark theme."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    FAILED,
    ServiceCall,
    dispatch,
)

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
