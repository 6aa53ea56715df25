"""``dumpsys accessibility``: the services that are enabled and bound."""

from __future__ import annotations

from pytest_clawperator.simulator.android.state import accessibility
from pytest_clawperator.simulator.android.system import AndroidSystem


def dump_accessibility(system: AndroidSystem, words: list[str]) -> str:
    """Print the accessibility services that are enabled and bound."""
    on = accessibility.is_on(system.settings)
    enabled = accessibility.enabled_services(system.settings)
    bound = [
        name
        for name in enabled
        if on
        and system.operators.pid_of(name.partition("/")[0]) is not None
        and system.faults.active("service_off") is None
        and system.faults.active("ui_automation") is None
    ]
    holder = "Ui Automation[eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n"
    services = ", ".join(f"Service[label=Clawperator Operator, {name}]" for name in bound)
    names = ", ".join(f"{{{name}}}" for name in enabled)
    return (
        "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n"
        f"currentUserId=0\n"
        f"User state[\n     attributes:{{id=0, touchExplorationEnabled=false}}\n"
        f"     Bound services:{{{services}}}\n"
        f"     Enabled services:{{{names}}}\n"
        "     Binding services:{}\n"
        "     Crashed services:{}]\n"
        f"{holder if system.faults.active('ui_automation') else ''}"
    )
