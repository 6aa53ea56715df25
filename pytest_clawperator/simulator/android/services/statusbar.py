"""``cmd statusbar``: the notification shade."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import (
    ServiceCall,
    dispatch,
)


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
