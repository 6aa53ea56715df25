"""``pm resolve-activity``: which component takes an intent."""

from __future__ import annotations

from pytest_clawperator.simulator.android.managers.activity_manager import resolve_activity
from pytest_clawperator.simulator.android.managers.intent import Intent
from pytest_clawperator.simulator.android.services.intent_options import parse_intent
from pytest_clawperator.simulator.android.services.service_call import (
    ServiceCall,
)
from pytest_clawperator.simulator.android.state.packages import component


def _resolution(call: ServiceCall) -> tuple[Intent, bool]:
    short = False

    def own(option: str) -> bool:
        nonlocal short
        short = short or option in ("--brief", "--components")
        if option in ("--user", "--query-flags"):
            call.required()
            return True
        return option in ("--brief", "--components")

    return parse_intent(call, other_option=own), short


_PRIORITY = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def _link_taker(call: ServiceCall, intent: Intent) -> tuple[str, str] | None:
    """Return the activity that opens a link; the chooser where several do."""
    if intent.data is None or intent.component is not None:
        return None
    takers = call.system.ui.links.handlers(intent.data, package=intent.package)
    if len(takers) != 1:
        return ("android", "com.android.internal.app.ResolverActivity") if takers else None
    package = call.system.packages.get(takers[0])
    return None if package is None else (package.name, package.launcher or ".Main")


async def resolve_activity_command(call: ServiceCall) -> int:
    """Print the activity that an intent starts."""
    intent, short = _resolution(call)
    found = resolve_activity(call.system, intent) or _link_taker(call, intent)
    if found is None:
        await call.out("No activity found")
        return 0
    await call.out(_PRIORITY)
    if short:
        await call.out(component(*found))
        return 0
    await call.out("  ActivityInfo:")
    await call.out(f"    name={found[1]}")
    await call.out(f"    packageName={found[0]}")
    return 0
